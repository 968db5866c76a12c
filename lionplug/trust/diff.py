"""What changed since an approval: files, their text, and capabilities.

Compared are the approved tree in the store and a staged copy, never the live directory
(security rule S3). The list of changed files and of changed capabilities is complete;
the text of changed files is bounded, code first, and says what it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from lionplug.files.entry import Entry
from lionplug.trust.diff_lines import tree_diff_lines
from lionplug.trust.filetypes import is_code
from lionplug.trust.text_diff import TextDiff, text_diff

if TYPE_CHECKING:
    from lionplug.files.trees import Tree

#: Lines of text differences that are kept in all.
MOST_LINES = 4_000
#: Bytes above which a file is not compared as text.
LARGEST_COMPARED = 2**20


@frozen(kw_only=True)
class Side:
    """One side of a changed entry.

    :param kind: ``"directory"``, ``"file"``, ``"executable"`` or ``"link"``.
    :param size: Bytes of a file, else 0.
    :param sha256: SHA-256 of a file in hex, else ``""``.
    :param target: Target of a link, else ``""``.
    """

    kind: str
    size: int = 0
    sha256: str = ""
    target: str = ""

    @classmethod
    def of(cls, entry: Entry) -> Side:
        """Return what is compared of an entry: what the tree digest covers."""
        kinds = {"d": "directory", "f": "file", "x": "executable", "l": "link"}
        size = entry.size if entry.is_file else 0
        return cls(kind=kinds[entry.kind], size=size, sha256=entry.sha256, target=entry.target)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {
            "kind": self.kind,
            "size": self.size,
            "sha256": self.sha256,
            "target": self.target,
        }


@frozen(kw_only=True)
class FileChange:
    """One entry that was added, removed or changed.

    :param path: Path in the bundle.
    :param before: The approved side, ``None`` if it was added.
    :param after: The new side, ``None`` if it was removed.
    :param text: How its text changed; ``None`` where no content was compared.
    """

    path: str
    before: Side | None
    after: Side | None
    text: TextDiff | None = None

    @property
    def change(self) -> str:
        """``"added"``, ``"removed"`` or ``"changed"``."""
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    @property
    def is_code(self) -> bool:
        """Whether it can run, as far as path and run bit tell."""
        runs = any(side and side.kind == "executable" for side in (self.before, self.after))
        return is_code(self.path, b"", runs)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {
            "path": self.path,
            "change": self.change,
            "before": self.before.to_dict() if self.before else None,
            "after": self.after.to_dict() if self.after else None,
            "text": self.text.to_dict() if self.text else None,
        }


@frozen(kw_only=True)
class CapabilityChange:
    """One capability that was added, removed or declared differently.

    :param surface: Its surface.
    :param name: Its name.
    :param before: The approved declaration in normal form, ``None`` if it was added.
    :param after: The new declaration in normal form, ``None`` if it was removed.
    """

    surface: str
    name: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None

    @property
    def change(self) -> str:
        """``"added"``, ``"removed"`` or ``"changed"``."""
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {
            "surface": self.surface,
            "name": self.name,
            "change": self.change,
            "before": dict(self.before) if self.before is not None else None,
            "after": dict(self.after) if self.after is not None else None,
        }


@frozen(kw_only=True)
class TreeDiff:
    """The difference between an approved tree and another.

    :param files: Every entry that differs, in the order of their paths.
    :param capabilities: Every capability that differs.
    :param old_missing: Whether the approved tree is not in the store, so that no files
        could be compared.
    """

    files: tuple[FileChange, ...]
    capabilities: tuple[CapabilityChange, ...]
    old_missing: bool = False

    @property
    def added(self) -> tuple[FileChange, ...]:
        """Entries that are new."""
        return self._of("added")

    @property
    def removed(self) -> tuple[FileChange, ...]:
        """Entries that are gone."""
        return self._of("removed")

    @property
    def changed(self) -> tuple[FileChange, ...]:
        """Entries with other content, run bit, kind or target."""
        return self._of("changed")

    @property
    def empty(self) -> bool:
        """Whether it is known that nothing differs."""
        return not (self.files or self.capabilities or self.old_missing)

    def _of(self, change: str) -> tuple[FileChange, ...]:
        return tuple(item for item in self.files if item.change == change)

    def lines(self, width: int = 80, show: str = "show NAME") -> list[str]:
        """Return the difference as lines of printable characters without markup.

        :param width: Columns; a line that does not fit goes on below, marked, uncut.
        :param show: The command that prints a file, without the file: named where text
            is left out. The approved side has ``--approved`` behind it.
        """
        return tree_diff_lines(self, width, show)

    def to_dict(self) -> dict[str, Any]:
        """Return the whole difference as JSON-ready data."""
        return {
            "empty": self.empty,
            "approved_tree_missing": self.old_missing,
            "files": [item.to_dict() for item in self.files],
            "capabilities": [item.to_dict() for item in self.capabilities],
        }


def diff_trees(
    old: Tree | None,
    new: Tree,
    old_capabilities: Sequence[Mapping[str, Any]],
    new_capabilities: Sequence[Mapping[str, Any]],
) -> TreeDiff:
    """Compare a staged copy with what was approved.

    :param old: The approved tree, ``None`` if the store has lost it.
    :param new: The staged copy.
    :param old_capabilities: The approved capabilities in normal form.
    :param new_capabilities: The new capabilities in normal form.
    :raises StoreError: The bytes of a tree are not what its entries say.
    """
    files = () if old is None else _with_texts(_file_changes(old, new), old, new)
    return TreeDiff(
        files=tuple(files),
        capabilities=tuple(_capability_changes(old_capabilities, new_capabilities)),
        old_missing=old is None,
    )


def _file_changes(old: Tree, new: Tree) -> list[FileChange]:
    changes = []
    for path in sorted(old.entries.keys() | new.entries.keys()):
        before, after = (
            Side.of(tree.entries[path]) if path in tree.entries else None for tree in (old, new)
        )
        if before != after:
            changes.append(FileChange(path=path, before=before, after=after))
    return changes


def _with_texts(changes: Sequence[FileChange], old: Tree, new: Tree) -> list[FileChange]:
    """Compare contents, what can run first, until the lines in all are used up."""
    texts: dict[str, TextDiff] = {}
    left = MOST_LINES
    for change in sorted(changes, key=lambda change: not change.is_code):
        before, after = _pinned(change.before), _pinned(change.after)
        # What is gone has no text that could surprise; the same bytes have none to compare.
        if after is None or (before is not None and before.sha256 == after.sha256):
            continue
        if max(after.size, before.size if before else 0) > LARGEST_COMPARED:
            text = TextDiff(note=f"larger than {LARGEST_COMPARED:,} bytes, so not compared as text")
        else:
            text = text_diff(
                old.read(change.path) if before else None,
                new.read(change.path),
                code=change.is_code,
                most=left,
            )
        left -= len(text.lines)
        texts[change.path] = text
    return [evolve(change, text=texts.get(change.path)) for change in changes]


def _pinned(side: Side | None) -> Side | None:
    """Return a side that has content: a file, executable or not."""
    return side if side is not None and side.sha256 else None


def _capability_changes(
    old: Iterable[Mapping[str, Any]], new: Iterable[Mapping[str, Any]]
) -> list[CapabilityChange]:
    before = {(str(item["surface"]), str(item["name"])): item for item in old}
    after = {(str(item["surface"]), str(item["name"])): item for item in new}
    return [
        CapabilityChange(surface=key[0], name=key[1], before=before.get(key), after=after.get(key))
        for key in {**before, **after}
        if before.get(key) != after.get(key)
    ]
