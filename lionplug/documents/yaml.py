"""The strict YAML reader: one mapping of plain data, or all the reasons why not (S30).

PyYAML's parser gives events; everything after it is ours. No resolver is asked, so a
scalar keeps the author's characters (``1.10``, ``no``, ``12:30``) until a field says
what it wants. What two readers could take for two different things is refused:
duplicate keys, anchors, aliases, merge keys, tags, directives.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from lionplug.documents.characters import decode_text
from lionplug.documents.nodes import Mapping, Node, Scalar, Sequence, shown
from lionplug.documents.problems import Problems
from lionplug.documents.slips import Fault, find_slip, quoted
from lionplug.errors import ManifestError, ProblemsError
from lionplug.text import exact

#: Levels of nesting; the document itself is the first.
MAX_DEPTH = 64

#: Scalars, sequences and mappings of one document, keys included.
MAX_NODES = 50_000

_TOO_DEEP = ("too-deep", f"expected at most {MAX_DEPTH} levels; nest less.")
# A comment that looks like a text: nobody writes a space behind its sign.
_COMMENT = re.compile(r"(?P<gap>[ \t]+)(?P<rest>#[^\s#][^\r\n]*)")
_BLOCK_HEAD = re.compile(r"[>|][-+]?[0-9][^\s#]*")
_NO_KEYS = frozenset(("", "<<"))


def read_yaml(data: bytes, file: str, error: type[ProblemsError] = ManifestError) -> Mapping:
    """Read a document that must be one mapping.

    :param data: The bytes of the document: UTF-8, a byte order mark and CRLF allowed.
    :param file: Its path for messages.
    :param error: The class to raise.
    :returns: The mapping; every key is text and stands once.
    :raises ProblemsError: Of the class ``error``, with every problem that was found up to
        the point where reading further makes no sense.
    """
    problems = Problems(file)
    text = decode_text(data, problems)
    document = None
    if text is not None:
        try:
            document = _Reader(text, problems).document()
        except _Stop:
            pass
        except yaml.YAMLError as fault:
            _note_syntax(fault, text, problems)
    if problems.count or document is None:
        problems.fail(error)
    return document


class _Stop(Exception):
    """What follows can't be read; the reason was noted."""


class _Reader:
    """Builds nodes from events. Recursion is bounded by :data:`MAX_DEPTH`."""

    def __init__(self, text: str, problems: Problems) -> None:
        self._problems = problems
        self._text = text
        self._has_signs = " #" in text or "\t#" in text
        self._depth = 0
        self._left = MAX_NODES
        self._next = parser_for(text).get_event

    def document(self) -> Mapping | None:
        """Read the whole stream; return its mapping unless a problem was noted."""
        self._next()  # the start of the stream
        start = self._next()
        if not isinstance(start, DocumentStartEvent):
            self._stop(start, "empty", "must be one mapping, found an empty document.")
        if start.version or start.tags:
            self._note(start, "directive", "found a % directive; remove it.")
        first = self._next()
        node = self._node(first)
        self._next()  # the end of the document
        after = self._next()
        if not isinstance(after, StreamEndEvent):
            self._stop(
                after,
                "several-documents",
                "must be one document, found the start of a second; remove it.",
            )
        if isinstance(node, Mapping) or self._problems.count:
            return node if isinstance(node, Mapping) else None
        if isinstance(node, Scalar) and node.is_null:
            self._stop(first, "empty", "must be one mapping, found an empty document.")
        found = f"the text {shown(node.text)}" if isinstance(node, Scalar) else "a list"
        self._stop(first, "not-a-mapping", f"must be one mapping, found {found}.")

    def _node(self, event: Any) -> Node | None:
        """Read the node that begins with ``event``; ``None`` stands for an alias."""
        self._left -= 1
        if self._left < 0:
            self._stop(
                event,
                "too-many-nodes",
                f"expected at most {MAX_NODES} keys and values; move data into files of its own.",
            )
        kind = type(event)
        if kind is AliasEvent:
            self._note(event, "alias", "found an alias (*name); write the value out.")
            return None
        if event.anchor is not None:
            self._note(event, "anchor", "found an anchor (&name); remove it.")
        if event.tag is not None:
            self._note_tag(event)
        if kind is ScalarEvent:
            text = event.value
            if "\0" in text:
                self._note(event, "nul", "found an escape for a NUL character; remove it.")
            if self._has_signs and not event.style:
                self._note_cut(event)
            if event.style and not text:
                self._note_lost(event)
            mark = event.start_mark
            return Scalar(text, not event.style, mark.line + 1, mark.column + 1)
        return self._collection(event)

    def _collection(self, start: Any) -> Node:
        self._depth += 1
        mark = start.start_mark
        if self._depth > MAX_DEPTH:
            self._stop(start, *_TOO_DEEP)
        node: Node
        if type(start) is MappingStartEvent:
            node = Mapping(tuple(self._pairs()), mark.line + 1, mark.column + 1)
        else:
            node = Sequence(tuple(self._items()), mark.line + 1, mark.column + 1)
        self._depth -= 1
        return node

    def _items(self) -> list[Node]:
        items = []
        while type(event := self._next()) is not SequenceEndEvent:
            node = self._node(event)
            if node is not None:
                items.append(node)
        return items

    def _pairs(self) -> list[tuple[Scalar, Node]]:
        items: list[tuple[Scalar, Node]] = []
        keys: dict[str, Scalar] = {}
        while type(event := self._next()) is not MappingEndEvent:
            key = self._node(event)
            value = self._node(self._next())
            if type(key) is not Scalar:
                if key is not None:
                    self._note(event, "complex-key", "expected a text as key; write one.")
                continue
            text = key.text
            if text in keys or text in _NO_KEYS:
                self._note_bad_key(key, keys)
            keys.setdefault(text, key)
            if value is not None:
                items.append((key, value))
        return items

    def _note_bad_key(self, key: Scalar, keys: dict[str, Scalar]) -> None:
        first = keys.get(key.text)
        if first is not None:
            self._problems.at(
                key,
                "duplicate-key",
                f"the key {shown(key.text)} stands twice, at line {first.line}, column "
                f"{first.column} and at line {key.line}, column {key.column}; keep one.",
            )
        elif key.plain and key.text:
            self._problems.at(key, "merge-key", "found a merge key (<<); write the keys out.")
        elif key.plain:
            self._problems.at(key, "empty-key", "expected a key before the colon; write one.")

    def _note_tag(self, event: Any) -> None:
        if event.tag.startswith("!="):  # a range of versions
            message = (
                f"found a tag (!name); if it is a text, put it in quotes: {quoted(event.tag)}."
            )
        else:
            message = "found a tag (!name); remove it, the field decides the type."
        self._note(event, "tag", message)

    def _note_cut(self, event: Any) -> None:
        """Refuse a text that a ``#`` cuts off: its author may take the rest for part of it."""
        cut = _COMMENT.match(self._text, event.end_mark.index)
        if cut:
            rest = f"{event.value}{cut['gap'] if event.value else ''}{cut['rest'].rstrip()}"
            self._note(
                event,
                "comment",
                "found a comment where a text may be meant; put the text in quotes: "
                f"{quoted(rest)}, or put a space behind the '#'.",
            )

    def _note_lost(self, event: Any) -> None:
        """Refuse an empty block of text with a number in its head, such as ``>2``."""
        head = _BLOCK_HEAD.match(self._text, event.start_mark.index)
        if head:
            self._note(
                event,
                "empty-block",
                f"found the start of a block of text; put the text in quotes: {quoted(head[0])}.",
            )

    def _note(self, event: Any, code: str, message: str) -> None:
        self._problems.add(code, message, *_place(event.start_mark))

    def _stop(self, event: Any, code: str, message: str) -> NoReturn:
        self._note(event, code, message)
        raise _Stop


def _note_syntax(error: yaml.YAMLError, text: str, problems: Problems) -> None:
    problem = getattr(error, "problem", None) or str(error)
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    place = _place(mark) if mark else (0, 0)
    if "maximum nesting depth" in problem:  # libyaml reads ahead, up to a limit of its own
        problems.add(*_TOO_DEEP, *place)
        return
    if mark:
        start = getattr(error, "context_mark", None)
        fault = Fault(
            [line.removesuffix("\r") for line in text.split("\n")],
            problem,
            (mark.line, mark.column),
            (start.line, start.column) if start else None,
        )
        slip = find_slip(fault)
        if slip is not None:
            line, column = slip.place
            problems.add("syntax", f"is not valid YAML: {slip.hint}.", line + 1, column + 1)
            return
    context = getattr(error, "context", None)
    where = f" {exact(context)}" if context else ""
    problems.add(
        "syntax",
        f"is not valid YAML{where}: {exact(problem)}; check indentation and quotes.",
        *place,
    )


def _place(mark: Any) -> tuple[int, int]:
    return mark.line + 1, mark.column + 1


class _PureParser(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
    """PyYAML's parser for installations that lack the compiled one; slower, same events."""

    def __init__(self, text: str) -> None:
        yaml.reader.Reader.__init__(self, text)
        yaml.scanner.Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)


def parser_for(text: str) -> Any:
    """Return an event parser for a text: libyaml's where PyYAML was built with it."""
    if yaml.__with_libyaml__:
        from_libyaml: Any = yaml.cyaml
        return from_libyaml.CParser(text)
    return _PureParser(text)
