"""Numbers and truth values, in those spellings that every reader takes for them."""

from __future__ import annotations

import re
from typing import Any

from attrs import frozen

from lionplug.documents.fieldtype import INVALID, FieldType
from lionplug.documents.nodes import Node, Scalar, describe
from lionplug.documents.problems import Problems
from lionplug.documents.scalars import as_boolean, as_number


@frozen
class Boolean(FieldType):
    """``true`` or ``false``, without quotes."""

    def read(self, node: Node, problems: Problems) -> Any:
        truth = as_boolean(node.text) if isinstance(node, Scalar) and node.plain else None
        if truth is not None:
            return truth
        quoted = isinstance(node, Scalar) and not node.plain
        problems.at(
            node,
            "type",
            f"expected true or false, found {describe(node)}{' in quotes' if quoted else ''}; "
            "write true or false.",
        )
        return INVALID

    def json_schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@frozen(kw_only=True)
class Number(FieldType):
    """A finite number, without quotes.

    :param minimum: Least value.
    :param maximum: Greatest value.
    """

    minimum: float
    maximum: float

    _WHAT = "a number"
    _TYPE = "number"

    def read(self, node: Node, problems: Problems) -> Any:
        value = self._value(node)
        if value is not None and self.minimum <= value <= self.maximum:
            return value
        quoted = isinstance(node, Scalar) and not node.plain
        problems.at(
            node,
            "type" if value is None else "value",
            f"expected {self._WHAT} from {self.minimum} to {self.maximum}, "
            f"found {describe(node)}{' in quotes' if quoted else ''}.",
        )
        return INVALID

    def _value(self, node: Node) -> int | float | None:
        if not isinstance(node, Scalar) or not node.plain or not self._is_usual(node.text):
            return None
        try:
            return as_number(node.text)
        except ValueError:
            return None

    def _is_usual(self, text: str) -> bool:
        # 010 is eight to some readers and ten to others; 0x1f is a text to some.
        return _USUAL_NUMBER.fullmatch(text) is not None

    def json_schema(self) -> dict[str, Any]:
        return {"type": self._TYPE, "minimum": self.minimum, "maximum": self.maximum}


_USUAL_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_USUAL_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")


@frozen(kw_only=True)
class Integer(Number):
    """A whole number, written in decimal digits without quotes."""

    _WHAT = "a whole number"
    _TYPE = "integer"

    def _is_usual(self, text: str) -> bool:
        return _USUAL_INTEGER.fullmatch(text) is not None
