"""Classes that say what a mapping may hold, and the one reader for all of them.

A declared class is an attrs class whose attributes are made by :func:`declared`. The
declarations are plain data: from them come the reader with its line and column
messages (:func:`decode`) and the JSON Schema (:func:`json_schema`). A class may also have

* ``contradictions(self)``, which yields ``(key, code, message)`` for what only the
  fields together tell;
* ``SCHEMA``, a dictionary of JSON Schema keywords that say the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from attrs import NOTHING, Attribute, field, fields, frozen

from lionplug.documents.fieldtype import INVALID, FieldType
from lionplug.documents.jsonvalues import read_json
from lionplug.documents.nodes import Mapping, Node, Scalar, describe, shown
from lionplug.documents.problems import Problems
from lionplug.documents.suggest import did_you_mean, either

#: Keys that start like this belong to whoever wrote them; they are kept and mean nothing.
EXTENSION = "x-"

_DECLARATION = "lionplug.documents.declaration"
_EXTENSIONS = "lionplug.documents.extensions"

T = TypeVar("T")

#: Takes a key that a class does not declare; tells whether it had a use for it.
TakeKey = Callable[[Scalar, Node, Problems], bool]


@frozen
class Declaration:
    """What is said about one attribute.

    :param key: Its key in the document.
    :param attribute: Its name in the class.
    :param type: How it is read.
    :param doc: What it is for, one sentence; becomes the description in the JSON Schema.
    :param default: Its value where the key is absent; ``attrs.NOTHING`` if it must be there.
    """

    key: str
    attribute: str
    type: FieldType
    doc: str
    default: Any


def declared(type: FieldType, *, doc: str, default: Any = NOTHING, key: str = "") -> Any:
    """Declare an attribute of a class that is read from a mapping.

    :param type: How it is read.
    :param doc: What it is for, one sentence.
    :param default: Its value where the key is absent; without one the key is required.
    :param key: Its key, if that is not the attribute's name.
    """
    return field(default=default, metadata={_DECLARATION: (type, doc, key)})


def extensions() -> Any:
    """Declare the attribute that keeps the keys which begin with ``x-``."""
    return field(factory=dict, metadata={_EXTENSIONS: True})


@frozen
class Table:
    """The declarations of one class.

    :param keys: Key to declaration.
    :param required: Keys that must be present.
    :param extensions: Name of the attribute that keeps ``x-`` keys, if there is one.
    :param checked: Whether the class has ``contradictions``.
    """

    keys: dict[str, Declaration]
    required: tuple[str, ...]
    extensions: str | None
    checked: bool


_tables: dict[type[Any], Table] = {}


def table_of(cls: type[Any]) -> Table:
    """Return the declarations of a class."""
    table = _tables.get(cls)
    if table is None:
        table = _tables[cls] = _make_table(cls)
    return table


def _make_table(cls: type[Any]) -> Table:
    attributes = fields(cls)
    found = [_declaration(one) for one in attributes if _DECLARATION in one.metadata]
    kept = [one.name for one in attributes if _EXTENSIONS in one.metadata]
    return Table(
        keys={one.key: one for one in found},
        required=tuple(one.key for one in found if one.default is NOTHING),
        extensions=kept[0] if kept else None,
        checked=hasattr(cls, "contradictions"),
    )


def _declaration(attribute: Attribute[Any]) -> Declaration:
    type, doc, key = attribute.metadata[_DECLARATION]
    return Declaration(key or attribute.name, attribute.name, type, doc, attribute.default)


def decode(cls: type[T], node: Node, problems: Problems, take: TakeKey | None = None) -> T | Any:
    """Read a mapping into an instance of a declared class.

    :param cls: The class.
    :param node: What should be a mapping.
    :param problems: Takes everything that is wrong.
    :param take: Asked for each key that the class does not declare.
    :returns: The instance, or :data:`INVALID` if anything was wrong.
    """
    if not isinstance(node, Mapping):
        problems.at(node, "type", f"expected a mapping, found {describe(node)}.")
        return INVALID
    before = problems.count
    values = decode_fields(cls, node, problems, take)
    if problems.count > before:
        return INVALID
    instance = cls(**values)
    if table_of(cls).checked:
        for key, code, message in instance.contradictions():  # type: ignore[attr-defined]
            problems.at(node.get(key) or node, code, message)
    return INVALID if problems.count > before else instance


def decode_fields(
    cls: type, node: Mapping, problems: Problems, take: TakeKey | None = None
) -> dict[str, Any]:
    """Read the keys of a mapping; unlike :func:`decode`, good keys survive bad ones.

    :returns: Attribute to value, for the keys that could be read.
    """
    table = table_of(cls)
    keys = table.keys
    values: dict[str, Any] = {}
    path = problems.path
    seen = set()
    for key, value in node.items:
        name = key.text
        path.append(name)
        declaration = keys.get(name)
        if declaration is not None:
            seen.add(name)
            result = declaration.type.read(value, problems)
            if result is not INVALID:
                values[declaration.attribute] = result
        elif name.startswith(EXTENSION):
            result = read_json(value, problems)
            if table.extensions is not None:
                values.setdefault(table.extensions, {})[name] = result
        elif take is None or not take(key, value, problems):
            _note_unknown(table, key, problems)
        path.pop()
    for name in table.required:
        if name not in seen:
            problems.at(node, "missing-key", f"the key '{name}' is missing; add it.")
    return values


def _note_unknown(table: Table, key: Scalar, problems: Problems) -> None:
    hint = did_you_mean(key.text, table.keys) or f"; the keys here are {either(table.keys)}"
    problems.at(
        key,
        "unknown-key",
        f"the key {shown(key.text)} is not known{hint}. "
        f"Keys of your own must begin with '{EXTENSION}'.",
    )


def json_schema(cls: type) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the mappings that :func:`decode` reads."""
    table = table_of(cls)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {key: _property(one) for key, one in table.keys.items()},
        "patternProperties": {f"^{EXTENSION}": True},
        "additionalProperties": False,
    }
    if table.required:
        schema["required"] = list(table.required)
    return {**schema, **getattr(cls, "SCHEMA", {})}


def _property(declaration: Declaration) -> dict[str, Any]:
    schema = {**declaration.type.json_schema(), "description": declaration.doc}
    if isinstance(declaration.default, (bool, int, float)):
        schema["default"] = declaration.default
    return schema
