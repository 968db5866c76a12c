"""The complete table of a tree's files: what each is, what declares it, what is odd about it.

What a manifest declares is not all that can run: a declared file can start or import any
other, so every entry of the tree is a row (security rule S25).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from lionplug.files.entry import Entry
from lionplug.files.links import resolve
from lionplug.manifest.parse import MANIFEST_FILE
from lionplug.trust.filetypes import is_code, is_instruction, is_python_name
from lionplug.trust.flags import Flag, flags_of, unexamined

if TYPE_CHECKING:
    from lionplug.files.trees import Tree
    from lionplug.manifest.capability import Capability
    from lionplug.trust.staging import StagedTree

#: A larger file is not looked into at all.
LARGEST_EXAMINED = 32 * 2**20

_ORDER = ("code", "manifest", "instructions", "binary", "data", "link", "directory")


@frozen(kw_only=True)
class FileRow:
    """One entry of a tree.

    :param path: Path in the bundle.
    :param kind: ``"code"``, ``"manifest"``, ``"instructions"``, ``"binary"``, ``"data"``,
        ``"link"`` or ``"directory"``.
    :param size: Bytes; 0 for links and directories.
    :param runs: Whether it has a run bit.
    :param sha256: Pin of a file, ``""`` for links and directories.
    :param target: Target of a link, else ``""``.
    :param declared_by: The capabilities that name it, such as ``tools web_search``.
    :param flags: What is odd about it.
    """

    path: str
    kind: str
    size: int = 0
    runs: bool = False
    sha256: str = ""
    target: str = ""
    declared_by: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()

    @property
    def is_undeclared_code(self) -> bool:
        """Whether it is code that no capability names."""
        return self.kind == "code" and not self.declared_by

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready data."""
        return {
            "path": self.path,
            "kind": self.kind,
            "size": self.size,
            "runs": self.runs,
            "sha256": self.sha256,
            "target": self.target,
            "declared_by": list(self.declared_by),
            "flags": [flag.to_dict() for flag in self.flags],
        }


def file_table(staged: StagedTree) -> tuple[FileRow, ...]:
    """Return a row for every entry, executables and undeclared code first.

    :param staged: The private copy; nothing else is looked at (security rule S3).
    """
    return rows_of(staged, staged.manifest.capabilities)


def rows_of(tree: Tree, capabilities: tuple[Capability, ...]) -> tuple[FileRow, ...]:
    """Return a row for every entry of any pinned tree, as :func:`file_table` does.

    :param tree: The tree.
    :param capabilities: What its manifest declares.
    """
    declared = _declared_paths(tree.entries, capabilities)
    linked = _linked_as_python(tree.entries)
    rows = [
        _row(tree, entry, declared, linked.get(entry.path, entry.path))
        for entry in tree.entries.values()
    ]
    return tuple(sorted(rows, key=_rank))


def _rank(row: FileRow) -> tuple[bool, int, str]:
    return not (row.runs or row.is_undeclared_code), _ORDER.index(row.kind), row.path


def _linked_as_python(entries: Mapping[str, Entry]) -> dict[str, str]:
    """Return by path the name of a link under which Python would import the file there."""
    links = [entry.path for entry in entries.values() if entry.target]
    ends = ((resolve(entries, path), path) for path in links if is_python_name(path))
    return {entry.path: path for entry, path in ends if entry is not None}


def _row(tree: Tree, entry: Entry, declared: Mapping[str, list[str]], name: str) -> FileRow:
    """Return the row of an entry.

    :param name: The name under which its content is used: its path, or that of a link.
    """
    row = FileRow(
        path=entry.path,
        kind={"d": "directory", "l": "link"}.get(entry.kind, "data"),
        sha256=entry.sha256,
        target=entry.target,
        declared_by=tuple(declared.get(entry.path, ())),
    )
    if entry.kind not in ("f", "x"):
        return row
    data = tree.read(entry.path) if entry.size <= LARGEST_EXAMINED else None
    row = evolve(row, size=entry.size, runs=entry.kind == "x")
    return _with_flags(evolve(row, kind=_kind(row, name, data or b"")), name, data)


def _kind(row: FileRow, name: str, data: bytes) -> str:
    if row.path == MANIFEST_FILE:
        return "manifest"
    if is_code(row.path, data, row.runs) or is_python_name(name):
        return "code"
    instructs = any(label.startswith(_INSTRUCTING) for label in row.declared_by)
    return "instructions" if instructs or is_instruction(row.path) else "data"


_INSTRUCTING = ("agents ", "playbooks ", "skills ", "prompts ")


def _with_flags(row: FileRow, name: str, data: bytes | None) -> FileRow:
    flags = list(_flags_of_place(row))
    if data is None:
        severity = "refuse" if is_python_name(name) else "warn"
        return evolve(row, flags=(*flags, unexamined(0, row.size, severity)))
    manifest = row.kind == "manifest"
    found = flags_of(name, data, code=row.kind == "code", manifest=manifest)
    if row.kind == "data" and any(flag.code == "binary" for flag in found):
        row = evolve(row, kind="binary")
    return evolve(row, flags=(*flags, *found))


def _flags_of_place(row: FileRow) -> Iterator[Flag]:
    if row.runs:
        yield Flag(code="executable", message="can be started as a program")
    if row.is_undeclared_code:
        yield Flag(
            code="undeclared-code",
            message="code that no capability names; declared code can start or import it",
        )


def _declared_paths(
    entries: Mapping[str, Entry], capabilities: tuple[Capability, ...]
) -> dict[str, list[str]]:
    """Return by path what declares it, links followed and directories with their contents."""
    found: dict[str, list[str]] = {}
    folders: dict[str, list[str]] = {}
    for capability in capabilities:
        label = f"{capability.surface} {capability.name}"
        for path in _named_paths(capability):
            for entry in (entries.get(path), resolve(entries, path)):
                if entry is not None:
                    _add(folders if entry.kind == "d" else found, entry.path, label)
    if folders:
        _spread(entries, folders, found)
    return found


def _named_paths(capability: Capability) -> Iterator[str]:
    yield from capability.files
    if capability.target:
        yield capability.target.partition(":")[0]
    for element in capability.argv:
        yield element.removeprefix("./")


def _spread(
    entries: Mapping[str, Entry], folders: Mapping[str, list[str]], found: dict[str, list[str]]
) -> None:
    """Let a declared directory declare what lies in it."""
    for path in entries:
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            for label in folders.get("/".join(parts[:depth]), ()):
                _add(found, path, label)


def _add(places: dict[str, list[str]], path: str, label: str) -> None:
    labels = places.setdefault(path, [])
    if label not in labels:
        labels.append(label)
