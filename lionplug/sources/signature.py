"""The model of a signature that was read from source."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from lionplug.sources.annotations import annotation_schema, union
from lionplug.sources.docstrings import argument_descriptions, first_paragraph

KINDS = (
    "positional_only",
    "positional_or_keyword",
    "var_positional",
    "keyword_only",
    "var_keyword",
)
MAX_PARAMETERS = 64
MAX_NAME = 255
MAX_ANNOTATION = 300
MAX_DOC = 2000
MAX_LINE = 100_000
#: Bytes that the parameters may take as JSON, so that a schema made of them stays small.
MAX_PARAMETERS_BYTES = 8 * 2**10
MAX_INTEGER = 2**53

_BY_NAME = ("positional_or_keyword", "keyword_only")


@frozen(kw_only=True)
class Parameter:
    """One parameter of a function.

    :param name: Its name.
    :param kind: One of :data:`KINDS`, which are :mod:`inspect`'s kinds in lower case.
    :param annotation: Text of the annotation, ``""`` if there is none.
    :param has_default: Whether it has a default.
    :param default: The default, where it is a literal that JSON can carry.
    :param default_known: Whether ``default`` is the default.
    """

    name: str
    kind: str = "positional_or_keyword"
    annotation: str = ""
    has_default: bool = False
    default: Any = None
    default_known: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data, leaving out what is not there."""
        data: dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.annotation:
            data["annotation"] = self.annotation
        if self.has_default:
            data["has_default"] = True
        if self.default_known:
            data["default"] = self.default
        return data

    @classmethod
    def from_dict(cls, data: object) -> Parameter:
        """Read what :meth:`to_dict` wrote, strictly.

        :raises ValueError: It is anything else.
        """
        known = _mapping(data, {"name", "kind"}, {"annotation", "has_default", "default"})
        has_default = known.get("has_default", False)
        _require(type(has_default) is bool and (has_default or "default" not in known))
        kind = known["kind"]
        _require(isinstance(kind, str) and kind in KINDS)
        _require(not has_default or not kind.startswith("var_"))
        if "default" in known:
            _check_literal(known["default"])
        return cls(
            name=_identifier(known["name"]),
            kind=kind,
            annotation=_text(known.get("annotation", ""), MAX_ANNOTATION),
            has_default=has_default,
            default=known.get("default"),
            default_known="default" in known,
        )

    def __str__(self) -> str:
        stars = {"var_positional": "*", "var_keyword": "**"}.get(self.kind, "")
        text = stars + self.name
        if self.annotation:
            text += f": {self.annotation}"
        if self.has_default:
            sign = " = " if self.annotation else "="
            text += sign + (_literal_text(self.default) if self.default_known else "...")
        return text


@frozen(kw_only=True)
class SourceSignature:
    """What the source of a function says about its arguments.

    :param parameters: The parameters in order.
    :param is_async: Whether it is an ``async def``.
    :param uncertain: Whether something else may be called in the end: it is decorated,
        assigned again, or defined in more than one branch.
    :param doc: The docstring's first 2,000 characters, without its indentation.
    :param line: The line of the definition, from 1.
    """

    parameters: tuple[Parameter, ...] = ()
    is_async: bool = False
    uncertain: bool = False
    doc: str = field(default="", repr=False)
    line: int = 1

    @property
    def summary(self) -> str:
        """The first paragraph of the docstring, on one line."""
        return first_paragraph(self.doc)

    @property
    def omitted(self) -> tuple[str, ...]:
        """Parameters that can't be given by name, which :meth:`to_parameters` leaves out."""
        kinds = ("positional_only", "var_positional")
        return tuple(item.name for item in self.parameters if item.kind in kinds)

    def text(self, name: str) -> str:
        """Return the first line of the definition, as a reader of Python would write it.

        :param name: The function's name.
        :returns: Text that is as foreign as the source: show it by ``exact()``.
        """
        parts: list[str] = []
        previous = ""
        for item in self.parameters:
            if previous == "positional_only" != item.kind:
                parts.append("/")
            if item.kind == "keyword_only" and previous not in ("keyword_only", "var_positional"):
                parts.append("*")
            parts.append(str(item))
            previous = item.kind
        if previous == "positional_only":
            parts.append("/")
        return f"{'async ' if self.is_async else ''}def {name}({', '.join(parts)})"

    def to_parameters(self) -> dict[str, Any]:
        """Return a JSON Schema (2020-12) of the named arguments.

        Types come from the annotations, descriptions from the docstring. What the
        annotations don't say is left open. Parameters that can only be given by
        position are left out; :attr:`omitted` names them.
        """
        described = argument_descriptions(self.doc)
        properties: dict[str, Any] = {}
        for item in self.parameters:
            if item.kind in _BY_NAME:
                properties[item.name] = _property(item, described.get(item.name, ""))
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        required = [
            item.name for item in self.parameters if item.kind in _BY_NAME and not item.has_default
        ]
        if required:
            schema["required"] = required
        if not any(item.kind == "var_keyword" for item in self.parameters):
            schema["additionalProperties"] = False
        return schema

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data that :meth:`from_dict` reads back to an equal signature."""
        return {
            "parameters": [item.to_dict() for item in self.parameters],
            "is_async": self.is_async,
            "uncertain": self.uncertain,
            "doc": self.doc,
            "line": self.line,
        }

    @classmethod
    def from_dict(cls, data: object) -> SourceSignature:
        """Read what :meth:`to_dict` wrote, strictly: the data may come from hostile hands.

        :raises ValueError: It is anything else, or beyond a limit.
        """
        names = {"parameters", "is_async", "uncertain", "doc", "line"}
        known = _mapping(data, names, set())
        items, line = known["parameters"], known["line"]
        _require(isinstance(items, list) and len(items) <= MAX_PARAMETERS)
        _require(type(known["is_async"]) is bool and type(known["uncertain"]) is bool)
        _require(type(line) is int and 1 <= line <= MAX_LINE)
        parameters = tuple(Parameter.from_dict(item) for item in items)
        _require(len({item.name for item in parameters}) == len(parameters))
        size = len(json.dumps(items, ensure_ascii=False).encode())
        _require(size <= MAX_PARAMETERS_BYTES)
        return cls(
            parameters=parameters,
            is_async=known["is_async"],
            uncertain=known["uncertain"],
            doc=_text(known["doc"], MAX_DOC),
            line=line,
        )


def _property(item: Parameter, description: str) -> dict[str, Any]:
    schema = annotation_schema(item.annotation)
    if item.default_known and item.default is None:
        schema = union([schema, {"type": "null"}])  # ``limit: int = None`` is widely written
    if description:
        schema["description"] = description
    if item.default_known:
        schema["default"] = item.default
    return schema


def _literal_text(value: object) -> str:
    """Return a default as Python would write it."""
    return repr(value)


def _require(condition: bool) -> None:
    if not condition:
        raise ValueError("not a signature")


def _mapping(data: object, required: set[str], optional: set[str] | None) -> Mapping[str, Any]:
    """Return ``data`` if it is a mapping with these keys; ``None`` allows any other key."""
    if not isinstance(data, dict) or not required <= data.keys():
        raise ValueError("not a signature")
    if optional is not None and not data.keys() <= required | optional:
        raise ValueError("not a signature")
    return data


def _text(value: object, limit: int) -> str:
    if not isinstance(value, str) or len(value) > limit:
        raise ValueError("not a signature")
    value.encode("utf-8")  # a lone surrogate is a ValueError
    return value


def _identifier(value: object) -> str:
    name = _text(value, MAX_NAME)
    _require(name.isidentifier())
    return name


def _check_literal(value: object, depth: int = 0) -> None:
    """Refuse a default that is not small, finite JSON."""
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, int):
        _require(abs(value) <= MAX_INTEGER)
    elif isinstance(value, float):
        _require(math.isfinite(value))
    elif isinstance(value, str):
        _text(value, 200)
    elif isinstance(value, list):
        _require(depth < 2 and len(value) <= 20)
        for item in value:
            _check_literal(item, depth + 1)
    else:
        items = _mapping(value, set(), None)
        _require(depth < 2 and len(items) <= 20)
        for key, item in items.items():
            _text(key, 200)
            _check_literal(item, depth + 1)
