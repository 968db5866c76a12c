"""Tables, drawn by rich, which is given finished text and interprets none of it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TextIO

from attrs import frozen
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lionplug.cli.output import columns, is_plain, visible

#: On a terminal of fewer columns, a table would have a word or two in each line of a field.
NARROW = 60


@frozen(kw_only=True)
class Column:
    """One column of a table.

    :param title: Its heading.
    :param least: Columns of the screen that it gets at least.
    :param most: Columns of the screen that it gets at most; longer text is folded.
    """

    title: str
    least: int | None = None
    most: int | None = None


@frozen(kw_only=True)
class Cell:
    """One field: text that is fit to be shown, and how to draw it on a terminal.

    :param text: The text.
    :param style: A style of rich, such as ``green``.
    """

    text: str
    style: str = ""


def draw_table(
    heads: Sequence[Column], rows: Sequence[Sequence[Cell]], stream: TextIO | None
) -> str:
    """Return a table as text for ``stream``.

    It fits the terminal's width, 80 columns when written elsewhere. Nothing is cut: what
    is too long is folded over several lines. On a narrow terminal the last column stands
    below the others.
    """
    if columns(stream) < NARROW:
        return _rendered([_below(row) for row in rows], stream)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for head in heads:
        table.add_column(
            Text(head.title), min_width=head.least, max_width=head.most, overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(visible(cell.text), style=cell.style) for cell in row))
    return _rendered([table], stream)


def _below(row: Sequence[Cell]) -> Group:
    """Return one row on a narrow terminal: a line of its fields, and below it the last one."""
    *fields, last = row
    head = Text("  ").join(
        Text(visible(cell.text), style=cell.style) for cell in fields if cell.text
    )
    text = Text(visible(last.text), style=last.style)
    return Group(head, Padding(text, (0, 0, 0, 2))) if last.text else Group(head)


def _rendered(parts: Sequence[RenderableType], stream: TextIO | None) -> str:
    plain = is_plain(stream)
    console = Console(
        file=io.StringIO(),
        width=columns(stream),
        force_terminal=not plain,
        color_system=None if plain else "standard",
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )
    with console.capture() as capture:
        for part in parts:
            console.print(part, overflow="fold")
    return "\n".join(line.rstrip() for line in capture.get().split("\n"))
