"""Arguments of a tool as a person types them: ``key=value`` and JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from lionplug.text import exact

#: Bytes of ``--input``.
LONGEST_INPUT = 16 * 2**20

#: How many references and alternatives are followed to learn a type.
DEEPEST = 16

JSON_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})


def parse_arguments(
    pairs: Sequence[str], source: str | None, schema: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the arguments of a call.

    :param pairs: ``key=value`` texts. A value is JSON where the schema takes no string
        there, else the text as it is.
    :param source: A file that holds a JSON object, ``-`` for standard input.
    :param schema: The tool's JSON Schema, if it has one.
    :raises click.UsageError: A pair has no ``=``, a key is given twice, or the file holds
        no JSON object.
    """
    arguments = read_object(source) if source is not None else {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise click.UsageError(f"{exact(pair)} is no argument; expected key=value")
        if key in arguments:
            raise click.UsageError(f"the argument {exact(key)} is given twice")
        arguments[key] = parse_value(text, schema, key)
    return arguments


def parse_value(text: str, schema: Mapping[str, Any] | None, key: str) -> Any:
    """Return one value as the schema wants it.

    Text that should be JSON and is not is kept: the schema's own complaint about it says
    most.

    :param text: What was typed.
    :param schema: The tool's JSON Schema.
    :param key: Name of the argument.
    """
    types = accepted_types(schema or {}, key)
    if not types or "string" in types:
        return text
    try:
        return _loads(text)
    except ValueError:
        return text


def accepted_types(schema: Mapping[str, Any], key: str) -> frozenset[str]:
    """Return the JSON types that a schema takes for an argument; empty if it doesn't say."""
    properties = schema.get("properties")
    part = properties.get(key) if isinstance(properties, Mapping) else None
    return _types(part, schema, DEEPEST)


def _types(part: object, root: Mapping[str, Any], depth: int) -> frozenset[str]:
    if not isinstance(part, Mapping) or depth == 0:
        return frozenset()
    kind = part.get("type")
    if isinstance(kind, str):
        return frozenset({kind}) & JSON_TYPES
    if isinstance(kind, (list, tuple)):
        return frozenset(one for one in kind if isinstance(one, str)) & JSON_TYPES
    if "const" in part or "enum" in part:
        values = part.get("enum", ())
        return _types_of_values([part["const"]] if "const" in part else values)
    if isinstance(part.get("$ref"), str):
        return _types(_target(part["$ref"], root), root, depth - 1)
    for word in ("anyOf", "oneOf"):
        members = part.get(word)
        if isinstance(members, (list, tuple)):
            found = [_types(member, root, depth - 1) for member in members]
            return frozenset().union(*found) if all(found) else frozenset()
    return frozenset()


def _types_of_values(values: Iterable[object]) -> frozenset[str]:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
    names |= {list: "array", tuple: "array", dict: "object"}
    return frozenset(names.get(type(value), "string") for value in values)


def _target(reference: str, root: Mapping[str, Any]) -> object:
    here: object = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(here, Mapping):
            return None
        here = here.get(name)
    return here


def read_object(source: str) -> dict[str, Any]:
    """Return the JSON object in a file.

    :param source: Path of the file, ``-`` for standard input.
    :raises click.UsageError: It can't be read or holds something else.
    """
    where = "standard input" if source == "-" else exact(source)
    try:
        value = _loads(_read(source))
    except OSError as error:
        raise click.UsageError(f"{where} can't be read: {error.strerror}") from None
    except ValueError as error:
        raise click.UsageError(f"{where} is not JSON: {exact(str(error))}") from None
    if not isinstance(value, dict):
        raise click.UsageError(f"{where} must hold one JSON object with the arguments")
    return value


def _read(source: str) -> str:
    if source == "-":
        if sys.stdin is None:
            return ""
        data = sys.stdin.buffer.read(LONGEST_INPUT + 1)
    else:
        with open(source, "rb") as file:
            data = file.read(LONGEST_INPUT + 1)
    if len(data) > LONGEST_INPUT:
        raise ValueError(f"more than {LONGEST_INPUT} bytes")
    return data.decode("utf-8")


def _loads(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
