"""A tree difference as plain lines, made fit to be shown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lionplug.text import argv_json, exact, quote
from lionplug.trust.layout import Line, plural, size_text, wrap_all

if TYPE_CHECKING:
    from lionplug.trust.diff import CapabilityChange, FileChange, Side, TreeDiff

_SIGNS = {"added": "+", "removed": "-", "changed": "~"}


def tree_diff_lines(diff: TreeDiff, width: int, show: str) -> list[str]:
    """Return the lines of a difference: capabilities, the list of files, their text.

    :param diff: What to show.
    :param width: Columns of a line.
    :param show: The command that prints a file, without the file.
    """
    return wrap_all(_lines(diff, show), width)


def _lines(diff: TreeDiff, show: str) -> Iterator[str | Line]:
    if diff.empty:
        yield "Nothing differs from the approved tree"
        return
    yield f"Capabilities: {_summary(diff.capabilities)}"
    for capability in diff.capabilities:
        yield from _capability(capability)
    yield ""
    if diff.old_missing:
        yield "Files: not compared, because the approved tree is missing from the store."
        yield "Read the whole disclosure as if it were a first approval."
        return
    yield f"Files: {_summary(diff.files)}"
    for file in diff.files:
        yield from _file(file)
    for file in sorted(diff.files, key=lambda file: not file.is_code):
        yield from _text(file, show)


def _summary(changes: tuple[FileChange, ...] | tuple[CapabilityChange, ...]) -> str:
    if not changes:
        return "no change"
    counts = dict.fromkeys(_SIGNS, 0)
    for item in changes:
        counts[item.change] += 1
    return ", ".join(f"{count:,} {change}" for change, count in counts.items() if count)


def _capability(item: CapabilityChange) -> Iterator[str]:
    yield f"  {_SIGNS[item.change]} {exact(item.surface)} {exact(item.name)}"
    before, after = item.before or {}, item.after or {}
    for key in {**before, **after}:
        if key in ("surface", "name") or before.get(key) == after.get(key):
            continue
        if key == "detail":
            yield from _details(before.get(key, {}), after.get(key, {}))
        else:
            yield from _value(key, before, after)


def _details(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for key in {**before, **after}:
        if before.get(key) != after.get(key):
            yield from _value(key, before, after)


def _value(key: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for sign, side in (("-", before), ("+", after)):
        if key in side:
            first, *rest = _json_lines(key, side[key])
            yield f"      {sign} {exact(key)}: {first}"
            for line in rest:
                yield f"      {sign}   {line}"


def _json_lines(key: str, value: object) -> list[str]:
    if key == "argv" and isinstance(value, (list, tuple)):
        return argv_json([str(element) for element in value])
    # DEL is the one control character that JSON lets stand.
    return [json.dumps(value).replace("\x7f", "\\u007f")]


def _file(item: FileChange) -> Iterator[str | Line]:
    start = f"  {_SIGNS[item.change]} {_kind(item)}  "
    yield Line(start + exact(item.path), len(start))
    before, after = item.before, item.after
    if before and after and (before.target or after.target):
        yield f"      - {_side(before)}"
        yield f"      + {_side(after)}"
    elif after and after.target:
        yield f"      + {_side(after)}"
    elif item.text and item.text.note:
        for sign, side in (("-", before), ("+", after)):
            if side:
                yield f"      {sign} {_side(side)}"
                yield f"        sha256 {side.sha256}"


def _kind(item: FileChange) -> str:
    kinds = [side.kind for side in (item.before, item.after) if side]
    return kinds[0] if len(set(kinds)) == 1 else " became ".join(kinds)


def _side(side: Side) -> str:
    if side.target:
        return f"link to {exact(side.target)}"
    if side.kind == "directory":
        return side.kind
    return f"{side.kind}, {size_text(side.size)}"


def _text(item: FileChange, show: str) -> Iterator[str | Line]:
    text = item.text
    if text is None:
        return
    if text.lines:
        yield ""
        yield f"{_SIGNS[item.change]} {exact(item.path)}"
        for line in text.lines:
            # No line of a text has a bar in the column before its sign.
            yield Line(f"  {line}", 3)
    if text.is_complete:
        return
    missing = [text.note] if text.note else []
    if text.left_out:
        missing.append(f"{plural(text.left_out, 'further line')} left out")
    if text.shortened:
        missing.append(f"{plural(text.shortened, 'line')} shown in part")
    yield f"  ({exact(item.path)}: {'; '.join(missing)})"
    yield f"  all of it: {show} {quote(item.path)}"
    if item.before:
        yield f"  as approved: {show} {quote(item.path)} --approved"
