"""Rules about the content of files: hidden text, scripts, what can be run (S25)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lionplug.errors import Problem
from lionplug.files.trees import Tree, resolve
from lionplug.manifest.capability import label
from lionplug.manifest.model import Manifest
from lionplug.text import exact
from lionplug.trust.file_table import LARGEST_EXAMINED, FileRow
from lionplug.trust.filetypes import ending
from lionplug.trust.flags import Flag

_SHELLS = frozenset(("sh", "bash", "zsh", "ksh", "fish", "csh"))

# Told by rules of their own, which know more.
_OWN_RULES = frozenset(("executable", "undeclared-code"))

_HINTS = {
    "bidi": "remove it, or write it as an escape",
    "invisible": "remove it, or write it as an escape",
    "control": "remove it, or write it as an escape",
    "lone-cr": "end lines with LF or CRLF",
    "separator": "remove it, or write it as an escape",
    "long-line": "ship the source and not a minified form",
    "binary": "leave it out, or say in the README how it was built",
    "unexamined": "make it smaller",
}


def content_problems(
    rows: Sequence[FileRow], tree: Tree, manifest: Manifest | None
) -> Iterator[Problem]:
    """Yield what is wrong with the files of a tree.

    :param rows: The table of its files.
    :param tree: The tree.
    :param manifest: The manifest, if it could be read: without it nothing is undeclared.
    """
    programs = _programs(tree, manifest)
    for row in rows:
        yield from _flag_problems(row)
        if row.kind in ("directory", "link"):
            continue
        yield from _script_problems(row, tree, programs)
        if manifest and row.runs and not row.declared_by:
            yield Problem(
                "undeclared-executable",
                "has a run bit, and no capability names it; name it, run 'chmod -x' on it, or "
                "leave it out with 'exclude'.",
                file=exact(row.path),
            )


def _flag_problems(row: FileRow) -> Iterator[Problem]:
    for flag in row.flags:
        # Hidden text in a manifest is told with line and column by its reader.
        is_told = row.kind == "manifest" and flag.severity == "refuse"
        is_data = flag.code == "binary" and row.kind != "code"
        if not (flag.code in _OWN_RULES or is_told or is_data):
            yield _flag_problem(row.path, flag)


def _flag_problem(path: str, flag: Flag) -> Problem:
    line, column = flag.positions[0] if flag.positions else (0, 0)
    code = f"text-{flag.code}"
    if flag.severity == "refuse" and flag.code == "unexamined":
        code = "source-too-large"
    hint = _HINTS.get(flag.code)
    message = f"{flag}; {hint}." if hint and flag.severity != "refuse" else f"{flag}."
    return Problem(code, message, file=exact(path), line=line, column=column)


def _programs(tree: Tree, manifest: Manifest | None) -> dict[str, str]:
    """Return the files that the manifest runs, with what runs each."""
    found: dict[str, str] = {}
    for capability in manifest.capabilities if manifest else ():
        for program in capability.argv[:1]:
            entry = resolve(tree.entries, program) if "/" in program else None
            if entry is not None:
                found.setdefault(entry.path, label(capability.surface, capability.name))
    return found


def _script_problems(row: FileRow, tree: Tree, programs: dict[str, str]) -> Iterator[Problem]:
    runner = programs.get(row.path)
    if runner and not row.runs:
        yield Problem(
            "command-not-executable",
            f"has no run bit, and {runner} runs it; run 'chmod +x' on it.",
            file=exact(row.path),
        )
    size = tree.entries[row.path].size
    if row.kind != "code" or size > LARGEST_EXAMINED:
        return
    data = tree.read(row.path)
    is_script = data.startswith(b"#!")
    first = data.split(b"\n", 1)[0]
    if (is_script and first.endswith(b"\r")) or (ending(row.path) in _SHELLS and b"\r\n" in data):
        line = data.count(b"\n", 0, data.find(b"\r\n")) + 1
        yield Problem(
            "script-crlf",
            "has CRLF line ends, with which it does not run; save it with LF.",
            file=exact(row.path),
            line=line,
            column=1,
        )
    if is_script and not row.runs and not runner:
        yield Problem(
            "script-without-run-bit",
            "begins with #! and has no run bit; run 'chmod +x' on it, or remove the line.",
            file=exact(row.path),
            line=1,
            column=1,
        )
