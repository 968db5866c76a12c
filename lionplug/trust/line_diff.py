"""The lines in which two texts differ, in bounded time whatever the texts are.

The standard library's matcher takes time in proportion to the product of the lengths for
texts made for it. This is Myers' greedy algorithm (*An O(ND) Difference Algorithm and Its
Variations*, 1986), given up after a number of edits that nobody would read anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

#: Edits after which what lies between the first and the last difference is one change.
MOST_EDITS = 500
#: Unchanged lines that are shown around a change.
CONTEXT = 3


@frozen
class Block:
    """Lines ``old_from`` to ``old_to`` (exclusive) became ``new_from`` to ``new_to``."""

    old_from: int
    old_to: int
    new_from: int
    new_to: int


def changed_blocks(
    old: Sequence[str], new: Sequence[str], most_edits: int = MOST_EDITS
) -> list[Block]:
    """Return the blocks of lines that differ, in order, as few as they can be.

    :param old: Lines before.
    :param new: Lines after.
    :param most_edits: Lines added and removed after which one block stands for all.
    """
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old_middle, new_middle = old[start : len(old) - end], new[start : len(new) - end]
    if not old_middle and not new_middle:
        return []
    trace = _search(old_middle, new_middle, most_edits)
    if trace is None:
        return [Block(start, len(old) - end, start, len(new) - end)]
    points = _matched_points(trace, len(old_middle), len(new_middle))
    return list(_between(points, len(old_middle), len(new_middle), start))


def _search(old: Sequence[str], new: Sequence[str], most: int) -> list[dict[int, int]] | None:
    """Return, for each number of edits, how far each diagonal got; ``None`` if too many."""
    furthest = {1: 0}
    trace = []
    for edits in range(min(most, len(old) + len(new)) + 1):
        trace.append(dict(furthest))
        for diagonal in range(-edits, edits + 1, 2):
            if _goes_down(furthest, diagonal, edits):
                x = furthest[diagonal + 1]
            else:
                x = furthest[diagonal - 1] + 1
            y = x - diagonal
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(old) and y >= len(new):
                return trace
    return None


def _goes_down(furthest: dict[int, int], diagonal: int, edits: int) -> bool:
    """Tell whether the best path came from the diagonal above: by a line that was added."""
    if diagonal in (-edits, edits):
        return diagonal == -edits
    return furthest[diagonal - 1] < furthest[diagonal + 1]


def _matched_points(trace: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    """Walk the search back and return the pairs of equal lines on its path, in order."""
    points = []
    for edits in range(len(trace) - 1, -1, -1):
        furthest, diagonal = trace[edits], x - y
        before = diagonal + 1 if _goes_down(furthest, diagonal, edits) else diagonal - 1
        from_x = furthest[before] if edits else 0
        from_y = from_x - before if edits else 0
        while x > from_x and y > from_y:
            x, y = x - 1, y - 1
            points.append((x, y))
        x, y = from_x, from_y
    return points[::-1]


def _between(
    points: list[tuple[int, int]], old_size: int, new_size: int, start: int
) -> Iterator[Block]:
    x = y = 0
    for next_x, next_y in [*points, (old_size, new_size)]:
        if next_x > x or next_y > y:
            yield Block(start + x, start + next_x, start + y, start + next_y)
        x, y = next_x + 1, next_y + 1


def unified(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yield a unified diff without its two head lines, three lines of context.

    :param old: Lines before, without line ends.
    :param new: Lines after.
    """
    for group in _groups(changed_blocks(old, new)):
        first, last = group[0], group[-1]
        before = min(CONTEXT, first.old_from)
        after = min(CONTEXT, len(old) - last.old_to)
        old_range = _range(first.old_from - before, last.old_to + after)
        new_range = _range(first.new_from - before, last.new_to + after)
        yield f"@@ -{old_range} +{new_range} @@"
        position = first.old_from - before
        for block in group:
            yield from (f" {line}" for line in old[position : block.old_from])
            yield from (f"-{line}" for line in old[block.old_from : block.old_to])
            yield from (f"+{line}" for line in new[block.new_from : block.new_to])
            position = block.old_to
        yield from (f" {line}" for line in old[position : position + after])


def _groups(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Join blocks whose context would overlap."""
    group: list[Block] = []
    for block in blocks:
        if group and block.old_from - group[-1].old_to > 2 * CONTEXT:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _range(start: int, end: int) -> str:
    # Lines count from 1; an empty range names the line before it, as diff(1) does.
    return f"{start + 1 if end > start else start},{end - start}"
