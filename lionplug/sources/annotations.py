"""From the text of a type annotation to a JSON Schema, without evaluating anything.

The text is foreign, so it is read by a small parser of its own that knows the types
which JSON arguments can have. Whatever it does not know it leaves open: ``{}``
accepts every value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

#: Levels of brackets that are looked into.
MAX_DEPTH = 8

_SIMPLE = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "None": "null",
    "NoneType": "null",
}
_ARRAYS = frozenset((
    "list", "List", "Sequence", "MutableSequence", "Iterable", "Collection", "tuple", "Tuple",
    "set", "Set", "frozenset", "FrozenSet", "AbstractSet", "MutableSet",
))  # fmt: skip
_OBJECTS = frozenset(("dict", "Dict", "Mapping", "MutableMapping"))
_SEVERAL = frozenset(("tuple", "Tuple"))  # whose arguments are not all the type of each item

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<name>[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*)
    | (?P<number>-?[0-9]{1,15}(?![\w.]))
    | (?P<string>'(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*")
    | (?P<sign>\.\.\.|[\[\],|])
    )""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|.)")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"'}


class _UnknownError(ValueError):
    """The annotation is not one that this parser knows."""


def annotation_schema(text: str) -> dict[str, Any]:
    """Return the JSON Schema of the values that an annotation allows.

    Known are ``str``, ``int``, ``float``, ``bool``, ``None``, lists, tuples, sets,
    mappings, ``Literal``, ``Optional``, ``Union``, ``X | Y``, ``Annotated`` and quoted
    forms of these, with or without a module in front.

    :param text: The annotation as it stands in the source; ``""`` for none.
    :returns: A new schema; ``{}``, which allows everything, for what is not known.
    """
    try:
        return _Parser(text).whole()
    except _UnknownError:
        return {}


def union(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a schema that allows what any of ``schemas`` allows."""
    distinct: list[dict[str, Any]] = []
    for schema in schemas:
        if not schema:
            return {}
        for part in schema.get("anyOf", [schema]):
            if part not in distinct:
                distinct.append(part)
    if len(distinct) < 2:
        return distinct[0] if distinct else {}
    if all(part.keys() == {"type"} for part in distinct):
        types: list[str] = []
        for part in distinct:
            own = [part["type"]] if isinstance(part["type"], str) else part["type"]
            types.extend(name for name in own if name not in types)
        return {"type": types}
    return {"anyOf": distinct}


class _Parser:
    def __init__(self, text: str, depth: int = 0) -> None:
        self._tokens = _tokens(text)
        self._next = 0
        self._depth = depth

    def whole(self) -> dict[str, Any]:
        schema = self._union()
        if self._peek()[0]:
            raise _UnknownError
        return schema

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._next] if self._next < len(self._tokens) else ("", "")

    def _take(self) -> tuple[str, str]:
        token = self._peek()
        self._next += 1
        return token

    def _accept(self, sign: str) -> bool:
        if self._peek() != ("sign", sign):
            return False
        self._next += 1
        return True

    def _union(self) -> dict[str, Any]:
        schemas = [self._single()]
        while self._accept("|"):
            schemas.append(self._single())
        return union(schemas)

    def _single(self) -> dict[str, Any]:
        kind, text = self._take()
        if kind == "string" and self._depth <= MAX_DEPTH:
            return _Parser(_unquote(text), self._depth + MAX_DEPTH).whole()
        if kind != "name":
            raise _UnknownError
        name = text.rpartition(".")[2].strip()
        if not self._accept("["):
            return _bare(name)
        self._depth += 1
        if self._depth > 2 * MAX_DEPTH:
            raise _UnknownError
        schema = self._subscripted(name)
        self._depth -= 1
        return schema

    def _subscripted(self, name: str) -> dict[str, Any]:
        if name == "Literal":
            return _enumeration(self._arguments(self._literal))
        if name == "Annotated":
            schema = self._union()
            self._skip_brackets()
            return schema
        items = self._arguments(self._union_or_dots)
        schemas = [item for item in items if item is not None]
        if name in ("Optional", "Union"):
            return union([*schemas, {"type": "null"}] if name == "Optional" else schemas)
        schema = _bare(name)
        inner = schemas[-1] if schemas else {}
        if name in _ARRAYS and inner and (name not in _SEVERAL or len(items) > len(schemas)):
            schema["items"] = inner
        if name in _OBJECTS and inner:
            schema["additionalProperties"] = inner
        return schema

    def _arguments(self, read: Callable[[], Any]) -> list[Any]:
        found = []
        while not self._accept("]"):
            found.append(read())
            if not self._accept(",") and self._peek() != ("sign", "]"):
                raise _UnknownError
        return found

    def _union_or_dots(self) -> dict[str, Any] | None:
        return None if self._accept("...") else self._union()

    def _literal(self) -> str | int | bool | None:
        kind, text = self._take()
        if kind == "string":
            return _unquote(text)
        if kind == "number":
            return int(text)
        if text in ("True", "False", "None"):
            return {"True": True, "False": False, "None": None}[text]
        raise _UnknownError

    def _skip_brackets(self) -> None:
        depth = 1
        while depth:
            kind, text = self._take()
            if not kind:
                raise _UnknownError
            depth += {"[": 1, "]": -1}.get(text, 0) if kind == "sign" else 0


def _tokens(text: str) -> list[tuple[str, str]]:
    found = []
    position, text = 0, text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _UnknownError
        kind = match.lastgroup or ""
        found.append((kind, match[kind]))
        position = match.end()
    return found


def _bare(name: str) -> dict[str, Any]:
    if name in _SIMPLE:
        return {"type": _SIMPLE[name]}
    if name in _ARRAYS:
        return {"type": "array"}
    return {"type": "object"} if name in _OBJECTS else {}


def _enumeration(values: list[str | int | bool | None]) -> dict[str, Any]:
    distinct = list({(type(value), value): value for value in values}.values())
    if not distinct:
        raise _UnknownError
    if all(isinstance(value, str) for value in distinct):
        return {"type": "string", "enum": distinct}
    return {"enum": distinct}


def _unquote(text: str) -> str:
    """Read a quoted text as :func:`repr` writes it."""
    value = _ESCAPE.sub(_unescape, text[1:-1])
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise _UnknownError
    return value


def _unescape(match: re.Match[str]) -> str:
    text = match[1]
    if len(text) > 1:
        point = int(text[1:], 16)
        if point > 0x10FFFF:
            raise _UnknownError
        return chr(point)
    if text not in _ESCAPED:
        raise _UnknownError
    return _ESCAPED[text]
