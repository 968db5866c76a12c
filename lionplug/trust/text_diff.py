"""How the text of one file changed, bounded, and with nothing in it that does not show."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

from attrs import frozen

from lionplug.text import exact, readable
from lionplug.trust.line_diff import unified

#: Lines of difference that are kept of one file, and characters of one line.
MOST_LINES_OF_FILE = 400
LONGEST_LINE = 1_000

_NO_NEWLINE = "\\ No newline at end of file"


@frozen(kw_only=True)
class TextDiff:
    """A unified diff of one file, made fit to be shown.

    :param lines: Lines that begin with ``@``, a space, ``-``, ``+`` or a backslash.
    :param left_out: How many further lines there are.
    :param shortened: How many lines of the shown ones are not shown to their end.
    :param note: Why there is no text: binary, too large, or out of room.
    """

    lines: tuple[str, ...] = ()
    left_out: int = 0
    shortened: int = 0
    note: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether all that changed is shown."""
        return not (self.left_out or self.shortened or self.note)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {
            "lines": list(self.lines),
            "left_out": self.left_out,
            "shortened": self.shortened,
            "note": self.note,
        }


def text_diff(before: bytes | None, after: bytes, *, code: bool, most: int) -> TextDiff:
    """Compare two versions of a file.

    :param before: Bytes before, ``None`` if the file is new.
    :param after: Bytes after.
    :param code: Whether to show nothing but ASCII, in which no two characters look alike;
        else letters and punctuation of all scripts stay readable.
    :param most: Lines that may be used at most.
    """
    if most <= 0:
        return TextDiff(note="not shown: there are too many changes to show them all")
    old, new = _lines(before or b""), _lines(after)
    if old is None or new is None:
        return TextDiff(note="binary, so not compared as text")
    lines = list(unified(old, new))
    kept = list(islice(lines, min(most, MOST_LINES_OF_FILE)))
    render = exact if code else readable
    return TextDiff(
        lines=tuple(_shown(line, render) for line in kept),
        left_out=len(lines) - len(kept),
        shortened=sum(len(line) > LONGEST_LINE for line in kept),
    )


def _lines(data: bytes) -> list[str] | None:
    """Return the lines, which end at a line feed only: any other break is shown in its line."""
    if b"\0" in data:
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    lines = text.split("\n")
    last = lines.pop()
    # A last line without line feed differs from the same line with one.
    return [*lines, f"{last}\n"] if last else lines


def _shown(line: str, render: Callable[[str], str]) -> str:
    unfinished = line.endswith("\n")
    line = line.removesuffix("\n")
    more = len(line) - LONGEST_LINE
    shown = line[:1] + render(line[1:LONGEST_LINE])
    if more > 0:
        shown += f" ... ({more:,} more characters)"
    return f"{shown} {_NO_NEWLINE}" if unfinished else shown
