"""Plain lines of bounded width from which nothing is ever cut."""

from __future__ import annotations

from collections.abc import Iterable

#: Begins a line that goes on where the line above was full. No other line begins with it.
CONTINUATION = "| "

#: Narrower than this nothing is laid out.
MIN_WIDTH = 40


def wrap(line: str, width: int) -> list[str]:
    """Break a line that is too long, at a space if there is one in its last third.

    Joining the pieces without :data:`CONTINUATION` gives the line back.

    :param line: One line; it must not begin with ``|``.
    :param width: Columns; at least 40 are used.
    """
    width = max(width, MIN_WIDTH)
    pieces = []
    room = width
    while len(line) > room:
        cut = line.rfind(" ", room * 2 // 3, room) + 1 or room
        pieces.append(line[:cut])
        line = line[cut:]
        room = width - len(CONTINUATION)
    pieces.append(line)
    return [piece if index == 0 else CONTINUATION + piece for index, piece in enumerate(pieces)]


def wrap_all(lines: Iterable[str], width: int) -> list[str]:
    """Return ``lines`` with the long ones broken by :func:`wrap`."""
    return [piece for line in lines for piece in wrap(line, width)]


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
