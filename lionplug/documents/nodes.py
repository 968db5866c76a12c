"""What a document consists of: scalars, sequences and mappings that know their place.

Nodes are never changed once they are made. They are not frozen by attrs because that
makes building them, which is most of the work of reading a document, twice as slow.
"""

from __future__ import annotations

from attrs import define

from lionplug.text import exact

#: Characters of foreign text that a message shows.
SHOWN = 60


@define
class Scalar:
    """One scalar, as the author wrote it.

    :param text: Its characters, after quotes, escapes and line folding.
    :param plain: Whether it stands without quotes and is no block of text.
    :param line: Line, counted from 1.
    :param column: Column, counted from 1.
    """

    text: str
    plain: bool
    line: int
    column: int

    @property
    def is_null(self) -> bool:
        """Whether YAML reads it as no value at all: nothing written, or ``~``."""
        return self.plain and self.text in ("", "~")


@define
class Sequence:
    """A list.

    :param items: Its elements.
    """

    items: tuple[Node, ...]
    line: int
    column: int


@define
class Mapping:
    """A mapping with unique text keys.

    :param items: Keys and values, in the order of the document.
    """

    items: tuple[tuple[Scalar, Node], ...]
    line: int
    column: int

    def get(self, key: str) -> Node | None:
        """Return the value of a key, or ``None``."""
        return next((value for name, value in self.items if name.text == key), None)


Node = Scalar | Sequence | Mapping


def shown(text: str, limit: int = SHOWN) -> str:
    """Return foreign text in quotes, in printable ASCII, cut to a length fit for a message."""
    cut = "..." if len(text) > limit else ""
    return f"'{exact(text[:limit])}{cut}'"


def describe(node: Node) -> str:
    """Return what a node is, as the object of "found"."""
    if isinstance(node, Sequence):
        return "a list"
    if isinstance(node, Mapping):
        return "a mapping"
    return "nothing" if node.is_null else shown(node.text)
