"""The kinds of fields: what each accepts, how it says no, and its JSON Schema.

A text field takes the author's characters whatever YAML would make of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from attrs import field, frozen

from lionplug.documents.declare import decode, json_schema
from lionplug.documents.fieldtype import INVALID, FieldType
from lionplug.documents.jsonvalues import read_json
from lionplug.documents.nodes import Mapping, Node, Scalar, Sequence, describe, shown
from lionplug.documents.numbers import Boolean, Integer, Number
from lionplug.documents.problems import Problems
from lionplug.documents.suggest import did_you_mean, either

__all__ = [
    "INVALID",
    "AnyNode",
    "Boolean",
    "Choice",
    "FieldType",
    "Integer",
    "JsonValue",
    "ListOf",
    "MapOf",
    "Nested",
    "Number",
    "Text",
]


@frozen(kw_only=True)
class Text(FieldType):
    """A text, in the author's own characters.

    :param pattern: Regular expression that the whole text must match; ours, never foreign.
    :param hint: What the pattern means, as the object of "expected".
    :param check: Returns why a text is refused, or ``None``. To a reason that begins with
        "expected" it is added what was found.
    :param max_length: Greatest number of characters.
    :param empty: Whether ``""`` is a value.
    :param code: Code of the problem of a text that is refused.
    :param schema: Further keywords of its JSON Schema.
    """

    pattern: str = ""
    hint: str = "a text"
    check: Callable[[str], str | None] | None = None
    max_length: int = 10_000
    empty: bool = False
    code: str = "value"
    schema: dict[str, Any] = field(factory=dict)
    _matches: Any = field(init=False, repr=False, eq=False)

    @_matches.default
    def _compile(self) -> Any:
        return re.compile(self.pattern).fullmatch if self.pattern else None

    def read(self, node: Node, problems: Problems) -> Any:
        if not isinstance(node, Scalar):
            problems.at(node, "type", f"expected {self.hint}, found {describe(node)}.")
            return INVALID
        reason = self.why_not(node)
        if reason is None:
            return node.text
        problems.at(node, self.code, f"{reason}.")
        return INVALID

    def why_not(self, node: Scalar) -> str | None:
        """Return why a scalar is refused, or ``None``."""
        text = node.text
        if node.is_null or (not text and not self.empty):
            return f"expected {self.hint}, found {describe(node)}"
        if len(text) > self.max_length:
            return f"expected at most {self.max_length} characters, found {len(text)}"
        if self._matches is not None and self._matches(text) is None:
            return f"expected {self.hint}, found {shown(text)}"
        reason = self.check(text) if self.check else None
        if reason is None or not reason.startswith("expected"):
            return reason and f"{shown(text)}: {reason}"
        return f"{reason}, found {shown(text)}"

    def json_schema(self) -> dict[str, Any]:
        # Other readers take an unquoted 1.10 for a number; it is as good here.
        schema: dict[str, Any] = {"type": ["string", "number", "boolean"]}
        if self.pattern:
            schema["pattern"] = f"^(?:{self.pattern})$"
        if not self.empty:
            schema["minLength"] = 1
        schema["maxLength"] = self.max_length
        return {**schema, **self.schema}


@frozen
class Choice(FieldType):
    """One of a few words.

    :param words: The words.
    """

    words: tuple[str, ...]

    def read(self, node: Node, problems: Problems) -> Any:
        if isinstance(node, Scalar) and node.text in self.words:
            return node.text
        near = did_you_mean(node.text, self.words) if isinstance(node, Scalar) else ""
        problems.at(node, "value", f"expected {either(self.words)}, found {describe(node)}{near}.")
        return INVALID

    def json_schema(self) -> dict[str, Any]:
        return {"enum": list(self.words)}


@frozen(kw_only=True)
class ListOf(FieldType):
    """A list; becomes a tuple.

    :param item: The kind of its elements.
    :param what: What it is a list of, as in "a list of paths".
    :param least: Least number of elements.
    :param most: Greatest number of elements.
    :param unique: Whether an element may stand only once.
    """

    item: FieldType
    what: str = "values"
    least: int = 0
    most: int = 10_000
    unique: bool = False

    def read(self, node: Node, problems: Problems) -> Any:
        if not isinstance(node, Sequence):
            hint = ""
            if isinstance(node, Scalar) and not node.is_null:
                hint = "; put it in brackets"
            problems.at(
                node, "type", f"expected a list of {self.what}, found {describe(node)}{hint}."
            )
            return INVALID
        before = problems.count
        values = []
        for index, item in enumerate(node.items):
            problems.path.append(index)
            values.append(self.item.read(item, problems))
            problems.path.pop()
        if not self.least <= len(values) <= self.most:
            problems.at(
                node,
                "value",
                f"expected {self.least} to {self.most} {self.what}, found {len(values)}.",
            )
        if self.unique:
            self._note_repeated(node, values, problems)
        return INVALID if problems.count > before else tuple(values)

    def _note_repeated(self, node: Sequence, values: list[Any], problems: Problems) -> None:
        first: dict[Any, Node] = {}
        for value, item in zip(values, node.items, strict=True):
            held = first.setdefault(value, item)
            if held is not item and value is not INVALID:
                problems.at(
                    item,
                    "duplicate",
                    f"{describe(item)} stands twice, at line {held.line}, column {held.column} "
                    f"and at line {item.line}, column {item.column}; keep one.",
                )

    def json_schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {
            "type": "array",
            "items": self.item.json_schema(),
            "maxItems": self.most,
        }
        if self.least:
            schema["minItems"] = self.least
        if self.unique:
            schema["uniqueItems"] = True
        return schema


@frozen(kw_only=True)
class MapOf(FieldType):
    """A mapping whose keys the author chooses.

    :param key: The kind of its keys.
    :param value: The kind of its values.
    """

    key: FieldType
    value: FieldType

    def read(self, node: Node, problems: Problems) -> Any:
        if not isinstance(node, Mapping):
            problems.at(node, "type", f"expected a mapping, found {describe(node)}.")
            return INVALID
        before = problems.count
        values = {}
        for key, item in node.items:
            problems.path.append(key.text)
            self.key.read(key, problems)
            values[key.text] = self.value.read(item, problems)
            problems.path.pop()
        return INVALID if problems.count > before else values

    def json_schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "propertyNames": {**self.key.json_schema(), "type": "string"},
            "additionalProperties": self.value.json_schema(),
        }


@frozen
class Nested(FieldType):
    """A mapping that another declared class describes.

    :param cls: The class.
    """

    cls: type

    def read(self, node: Node, problems: Problems) -> Any:
        return decode(self.cls, node, problems)

    def json_schema(self) -> dict[str, Any]:
        return json_schema(self.cls)


@frozen
class JsonValue(FieldType):
    """Any JSON data; plain scalars are read by the YAML 1.2 core schema."""

    def read(self, node: Node, problems: Problems) -> Any:
        return read_json(node, problems)

    def json_schema(self) -> dict[str, Any]:
        return {}


@frozen
class AnyNode(FieldType):
    """The node itself, for whoever knows later how to read it."""

    def read(self, node: Node, problems: Problems) -> Any:
        return node

    def json_schema(self) -> dict[str, Any]:
        return {}
