"""What is wrong with the arguments of a call, in sentences for people and models."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from jsonschema.exceptions import ValidationError

from lionplug.documents.nodes import shown
from lionplug.documents.suggest import did_you_mean, either
from lionplug.text import exact

#: Longest sentence, in characters.
MAX_LENGTH = 400

_TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}


def explain(error: ValidationError) -> str:
    """Return one sentence with the place: ``arguments.query: expected a string, found 3``."""
    text = f"{_place(error.absolute_path)}: {_reason(error)}"
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 3] + "..."


def _place(path: Iterable[str | int]) -> str:
    steps = [f"[{step}]" if isinstance(step, int) else f".{exact(step[:60])}" for step in path]
    return "arguments" + "".join(steps)


def _reason(error: Any) -> str:
    if error.schema is False or error.validator is None:
        return "expected nothing here"
    explain_keyword = _REASONS.get(str(error.validator))
    if explain_keyword is None:
        return f"does not fit '{error.validator}' of the schema"
    return explain_keyword(error)


def value_text(value: Any) -> str:
    """Return a value, or what it is, as the object of "found"."""
    if isinstance(value, str):
        return shown(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value) if abs(value) < 2**64 else "a very large number"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    if isinstance(value, dict):
        return "an object" if value else "an empty object"
    return exact(f"a {type(value).__name__}"[:60])


def _type(error: Any) -> str:
    types = error.validator_value
    names = [types] if isinstance(types, str) else types
    return f"expected {either(_TYPES[name] for name in names)}, found {value_text(error.instance)}"


def _enum(error: Any) -> str:
    values = error.validator_value
    more = [f"{len(values) - 10} others"] if len(values) > 10 else []
    allowed = either([*map(value_text, values[:10]), *more]) if values else "nothing"
    return f"expected {allowed}, found {value_text(error.instance)}"


def _const(error: Any) -> str:
    return f"expected {value_text(error.validator_value)}, found {value_text(error.instance)}"


def _bound(phrase: str) -> Callable[[Any], str]:
    def reason(error: Any) -> str:
        return f"expected {phrase} {error.validator_value}, found {value_text(error.instance)}"

    return reason


def _size(phrase: str, unit: str) -> Callable[[Any], str]:
    def reason(error: Any) -> str:
        found = len(error.instance)
        return f"expected {phrase} {error.validator_value} {unit}, found {found}"

    return reason


def _pattern(error: Any) -> str:
    pattern = shown(error.validator_value, 200)
    return f"expected a match of the pattern {pattern}, found {value_text(error.instance)}"


def _missing(error: Any) -> str:
    return f"{shown(error.message)} is missing"


def _unexpected(error: Any) -> str:
    known = error.schema.get("properties", {}) if isinstance(error.schema, dict) else {}
    # Names of the schema are foreign text, too.
    near = did_you_mean(error.message, [name for name in known if name.isidentifier()])
    return f"{shown(error.message)} is not known{exact(near)}"


def _none_of(error: Any) -> str:
    count = len(error.validator_value)
    nearest = max(error.context or (), key=_relevance, default=None)
    hint = f"; nearest: {explain(nearest)}" if nearest is not None else ""
    return f"expected one of {count} forms, found {value_text(error.instance)}{hint}"


def _relevance(error: Any) -> tuple[int, bool]:
    # Whoever got furthest into the value, and had the type right, was probably meant.
    return len(error.path), error.validator != "type"


def _one_of(error: Any) -> str:
    if error.context:
        return _none_of(error)
    return f"expected exactly one of {len(error.validator_value)} forms, found several that fit"


_REASONS: dict[str, Callable[[Any], str]] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "minimum": _bound("at least"),
    "maximum": _bound("at most"),
    "exclusiveMinimum": _bound("more than"),
    "exclusiveMaximum": _bound("less than"),
    "multipleOf": _bound("a multiple of"),
    "minLength": _size("at least", "characters"),
    "maxLength": _size("at most", "characters"),
    "minItems": _size("at least", "items"),
    "maxItems": _size("at most", "items"),
    "minProperties": _size("at least", "properties"),
    "maxProperties": _size("at most", "properties"),
    "uniqueItems": lambda error: "expected items that all differ",
    "contains": lambda error: "expected an item of another form, found none",
    "minContains": lambda error: f"expected at least {error.validator_value} items of one form",
    "maxContains": lambda error: f"expected at most {error.validator_value} items of one form",
    "items": lambda error: "expected no more items",
    "pattern": _pattern,
    "required": _missing,
    "dependentRequired": _missing,
    "properties": lambda error: "expected nothing here",
    "additionalProperties": _unexpected,
    "unevaluatedProperties": lambda error: "holds properties that are not known",
    "unevaluatedItems": lambda error: "expected no more items",
    "not": lambda error: f"found {value_text(error.instance)}, which is excluded",
    "anyOf": _none_of,
    "oneOf": _one_of,
}
