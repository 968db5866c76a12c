"""Checking the arguments of a tool call against its JSON Schema (S28, S29).

jsonschema does the work, with three changes: foreign patterns are matched by RE2, never
by ``re``; nothing is ever fetched; and what is wrong is told in sentences of ours.
Imported only when the first arguments come.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any, NoReturn

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import NoSuchResource

from lionplug.documents.patterns import found_in
from lionplug.manifest.sentences import explain

#: Problems of one call that are told.
MAX_PROBLEMS = 10

#: Levels of nesting in arguments.
MAX_DEPTH = 64


class ArgumentsValidator:
    """Checks arguments.

    :param schema: A schema for which
        :func:`~lionplug.manifest.parameters.check_parameters` has no objection.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        # With "$schema" in sight, jsonschema would go on with its own keywords instead of ours.
        known = {key: value for key, value in schema.items() if key != "$schema"}
        registry: Registry[Any] = Registry(retrieve=_refuse)  # type: ignore[call-arg]
        self._validator = _validator_class()(known, registry=registry)

    def problems(self, arguments: Any) -> list[str]:
        """Return what is wrong, one sentence each, such as
        ``arguments.query: expected a string, found 3``; empty if nothing is.

        :param arguments: JSON data; at most 10 problems of it are told.
        """
        if _is_deeper(arguments, MAX_DEPTH):
            return [f"arguments: expected at most {MAX_DEPTH} levels of nesting"]
        try:
            found = list(islice(self._validator.iter_errors(arguments), MAX_PROBLEMS))
            return [explain(error) for error in found]
        except (ArithmeticError, RecursionError, TypeError, ValueError):
            # Numbers beyond what arithmetic can hold, or nesting times references.
            return ["arguments: can't be checked against the schema; use smaller values"]


def _is_deeper(value: Any, levels: int) -> bool:
    waiting = [(value, levels)]
    while waiting:
        item, left = waiting.pop()
        if isinstance(item, (dict, list)):
            if not left:
                return True
            below = item.values() if isinstance(item, dict) else item
            waiting += [(one, left - 1) for one in below]
    return False


def _refuse(uri: str) -> NoReturn:
    raise NoSuchResource(uri)


@cache
def _validator_class() -> Any:
    keywords = {
        "properties": _properties,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "required": _required,
        "dependentRequired": _dependent_required,
    }
    return extend(Draft202012Validator, keywords)  # type: ignore[no-untyped-call]


# Keywords, in the form that jsonschema calls: validator, value of the keyword, instance,
# the whole schema. Where a message is one name only, it is that of the property at fault.


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not found_in(pattern, instance):
        yield ValidationError(pattern)


def _properties(
    validator: Any, properties: dict[str, Any], instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for name, below in properties.items():
        if name in instance and below is False:
            # jsonschema would tell of this without its place.
            yield ValidationError(name, path=[name])
        elif name in instance:
            yield from validator.descend(instance[name], below, path=name, schema_path=name)


def _pattern_properties(
    validator: Any, patterns: dict[str, Any], instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for pattern, below in patterns.items():
        for name, value in instance.items():
            if found_in(pattern, name):
                yield from validator.descend(value, below, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any, below: Any, instance: Any, schema: dict[str, Any]
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    for name, value in instance.items():
        if name in known or any(found_in(pattern, name) for pattern in patterns):
            continue
        if below is False:
            yield ValidationError(name)
        else:
            yield from validator.descend(value, below, path=name)


def _required(
    validator: Any, names: list[str], instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        yield from (ValidationError(name) for name in names if name not in instance)


def _dependent_required(
    validator: Any, dependent: dict[str, list[str]], instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for name, needed in dependent.items():
            if name in instance:
                yield from (ValidationError(one) for one in needed if one not in instance)
