"""What each keyword of JSON Schema 2020-12 may hold, as a table.

The published metaschema says the same, but checking with it means importing a validator
and costs milliseconds for each tool, while every manifest is read at discovery.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from attrs import frozen

from lionplug.documents.nodes import shown
from lionplug.documents.patterns import why_not_pattern
from lionplug.documents.suggest import did_you_mean, either

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Step = str | int
Path = tuple[Step, ...]

#: Keywords that hold one schema, a list of schemas, or schemas by name.
ONE = frozenset(
    (
        "not",
        "if",
        "then",
        "else",
        "contains",
        "propertyNames",
        "additionalProperties",
        "unevaluatedProperties",
        "unevaluatedItems",
        "items",
        "contentSchema",
    )
)
MANY = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
NAMED = frozenset(("properties", "patternProperties", "dependentSchemas", "$defs", "definitions"))

_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")

_REFUSED = {
    "$id": "refer to parts of the schema by '$ref: \"#/...\"'",
    "$anchor": "refer to parts of the schema by '$ref: \"#/...\"'",
    "$dynamicRef": "use '$ref'",
    "$dynamicAnchor": "use '$ref'",
    "$recursiveRef": "use '$ref'",
    "$recursiveAnchor": "use '$ref'",
    "$vocabulary": "the vocabulary is always that of 2020-12",
    # Known to earlier drafts; 2020-12 ignores them, so the schema would say less than it seems.
    "additionalItems": "use 'items' after 'prefixItems'",
    "dependencies": "use 'dependentRequired' or 'dependentSchemas'",
}


@frozen
class SchemaProblem:
    """One thing that is wrong with a schema.

    :param path: Where, as steps from the top of the schema.
    :param text: What was expected and found.
    """

    path: Path
    text: str

    def __str__(self) -> str:
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return f"parameters{place[:200]}: {self.text}"


def keyword_problems(schema: dict[str, Any], path: Path) -> Iterator[SchemaProblem]:
    """Yield what is wrong with the keywords of one schema, without those below it.

    :param schema: The schema.
    :param path: Where it stands.
    """
    for keyword, value in schema.items():
        reason = _why_not(keyword, value, is_top=not path)
        if reason:
            yield SchemaProblem((*path, keyword), reason)
        if keyword == "patternProperties" and isinstance(value, dict):
            for pattern in value:
                reason = why_not_pattern(pattern)
                if reason:
                    yield SchemaProblem((*path, keyword, pattern), reason)


def _why_not(keyword: str, value: Any, is_top: bool) -> str | None:
    if keyword in _REFUSED:
        return f"expected no '{keyword}'; {_REFUSED[keyword]}"
    if keyword == "$schema":
        if value != DIALECT or not is_top:
            return f"expected '{DIALECT}' at the top of the schema, or no '$schema'"
        return None
    if keyword in ONE:
        return None if isinstance(value, (dict, bool)) else f"expected a schema, found {_a(value)}"
    if keyword in MANY:
        is_list = isinstance(value, list) and value
        return None if is_list else f"expected a list of schemas, found {_a(value)}"
    if keyword in NAMED:
        is_map = isinstance(value, dict)
        return None if is_map else f"expected a mapping of schemas, found {_a(value)}"
    check = _CHECKS.get(keyword)
    return check(value) if check else None


def _a(value: Any) -> str:
    """Return what a value is, as the object of "found"."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, (int, float)):
        return str(value)[:40]
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    return "a mapping" if isinstance(value, dict) else type(value).__name__


def _kind(expected: str, accepts: Callable[[Any], bool]) -> Callable[[Any], str | None]:
    def check(value: Any) -> str | None:
        return None if accepts(value) else f"expected {expected}, found {_a(value)}"

    return check


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    is_list = isinstance(value, list) and all(map(_is_text, value))
    return is_list and len(set(value)) == len(value)


def _why_not_type(value: Any) -> str | None:
    names = value if isinstance(value, list) and value else [value]
    for name in names:
        if not isinstance(name, str) or name not in _TYPES:
            near = did_you_mean(name, _TYPES) if isinstance(name, str) else ""
            return f"expected {either(_TYPES)}, found {_a(name)}{near}"
    return None if len(set(names)) == len(names) else "expected each type only once"


def _why_not_pattern(value: Any) -> str | None:
    return why_not_pattern(value) if isinstance(value, str) else f"expected a pattern, {_a(value)}"


def _why_not_ref(value: Any) -> str | None:
    if isinstance(value, str) and (value == "#" or value.startswith("#/")):
        return None
    return f"expected '#' or '#/...', a part of this schema, found {_a(value)}"


_number = _kind("a number", _is_number)
_count = _kind("a whole number from 0", _is_count)
_text = _kind("a text", _is_text)
_truth = _kind("true or false", lambda value: isinstance(value, bool))
_list = _kind("a list", lambda value: isinstance(value, list))
_texts = _kind("a list of different texts", _are_texts)

_CHECKS: dict[str, Callable[[Any], str | None]] = {
    "$ref": _why_not_ref,
    "type": _why_not_type,
    "pattern": _why_not_pattern,
    "enum": _list,
    "examples": _list,
    "required": _texts,
    "dependentRequired": _kind(
        "a mapping of lists of different texts",
        lambda value: isinstance(value, dict) and all(map(_are_texts, value.values())),
    ),
    "multipleOf": _kind("a number above 0", lambda value: _is_number(value) and value > 0),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"), _number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _count),
    **dict.fromkeys(("minContains", "maxContains", "minProperties", "maxProperties"), _count),
    **dict.fromkeys(("title", "description", "$comment", "format"), _text),
    **dict.fromkeys(("contentEncoding", "contentMediaType"), _text),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), _truth),
}
