"""Plain lines of bounded width from which nothing is ever cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

#: Stands before what goes on where the line above was full, directly left of its column.
CONTINUATION = "| "

#: Narrower than this nothing is laid out,
MIN_WIDTH = 40
#: nor with less room for what goes on.
MIN_ROOM = 20


class Line(NamedTuple):
    """A line with a value in it, below which the line goes on if it is too long.

    Its first character is lionplug's own, or it has a column that no other line has.

    :param text: The whole line.
    :param column: Where the value begins, counted from 0; at least 2.
    """

    text: str
    column: int


def wrap(line: str, width: int, column: int | None = None) -> list[str]:
    """Break a line that is too long: at spaces, else after a slash, else anywhere.

    The first piece and what the others have behind :data:`CONTINUATION` give the line back.

    :param line: One line.
    :param width: Columns; at least 40 are used.
    :param column: Where the line goes on; two columns right of its beginning by default.
    """
    width = max(width, MIN_WIDTH)
    if column is None:
        column = _indent(line) + len(CONTINUATION)
    column = min(column, width - MIN_ROOM)
    start = " " * (column - len(CONTINUATION)) + CONTINUATION
    return [
        start + piece if index else piece
        for index, piece in enumerate(_pieces(line, width, column))
    ]


def _pieces(line: str, width: int, column: int) -> Iterator[str]:
    room, after = width, column  # never broken before its value
    while len(line) > room:
        cut = _cut(line, room, after, width - column)
        yield line[:cut]
        line = line[cut:]
        room, after = width - column, 0
    yield line


def _cut(line: str, room: int, after: int, next_room: int) -> int:
    """Return where to break a line, behind ``after`` and at most at ``room``."""
    space = line.rfind(" ", after, room) + 1
    end = line.find(" ", room)
    word = (len(line) if end < 0 else end) - space
    if space and word <= next_room:
        return space
    # A word that is too long for any line is not moved to the next one as a whole.
    return line.rfind("/", max(space, after), room) + 1 or room


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def wrap_all(lines: Iterable[str | Line], width: int) -> list[str]:
    """Return lines with the long ones broken by :func:`wrap`.

    A text that begins with ``|`` would look like the rest of the line above, so there it
    is shown as the escape that :func:`~lionplug.text.exact` would make of it.
    """
    wrapped: list[str] = []
    for line in lines:
        if isinstance(line, Line):
            wrapped += wrap(line.text, width, line.column)
        else:
            wrapped += wrap(_unlike_continuation(line), width)
    return wrapped


def _unlike_continuation(line: str) -> str:
    indent = _indent(line)
    if not line.startswith("|", indent):
        return line
    return f"{line[:indent]}\\u{{7c}}{line[indent + 1 :]}"


def plural(count: int, word: str) -> str:
    """Return ``"1 file"``, ``"2 files"``, ``"3 entries"``."""
    if count == 1:
        return f"1 {word}"
    if word.endswith("y") and word[-2:-1] not in "aeou":
        return f"{count:,} {word[:-1]}ies"
    return f"{count:,} {word}s"


def size_text(size: int) -> str:
    """Return a size in bytes for a person, such as ``"12.3 KiB"``."""
    if size < 1024:
        return f"{size} B"
    value, unit = size / 1024, "KiB"
    for larger in ("MiB", "GiB"):
        if value >= 1024:
            value, unit = value / 1024, larger
    return f"{value:,.1f} {unit}"
