"""The JSON Schemas of tools: checked when a manifest is read, so that using them is safe (S29).

A schema for which :func:`check_parameters` has no objection refers to nothing outside
itself, comes to an end, and has a bounded size however it is read. What validates
arguments with it is imported only when the first arguments come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lionplug.documents.canonical import canonical_json
from lionplug.errors import UsageError
from lionplug.imports import safe_imports
from lionplug.manifest.schema_graph import SchemaGraph
from lionplug.manifest.schema_keywords import SchemaProblem

if TYPE_CHECKING:
    from lionplug.manifest.arguments import ArgumentsValidator

#: Largest schema, in bytes of canonical JSON.
MAX_BYTES = 64 * 2**10

#: Levels of JSON nesting.
MAX_DEPTH = 32

#: Problems of one schema that are told.
MAX_PROBLEMS = 20


def schema_problems(schema: Any) -> list[SchemaProblem]:
    """Return what is wrong with the schema of a tool's arguments.

    Checked are the rules of S29: at most 64 KiB and 32 levels; every keyword as 2020-12
    defines it; ``type: object`` at the top; ``$ref`` only to a part of the same schema;
    cycles only through properties and items, handing on each value once; at most 10,000
    parts, each counted as often as it is reached; patterns that RE2 can match (S28).

    :param schema: JSON data.
    """
    if not isinstance(schema, dict):
        return [SchemaProblem((), "expected a mapping")]
    if _is_deeper(schema, MAX_DEPTH):
        return [SchemaProblem((), f"expected at most {MAX_DEPTH} levels")]
    try:
        size = len(canonical_json(schema))
    except (TypeError, ValueError):
        return [SchemaProblem((), "expected JSON data")]
    if size > MAX_BYTES:
        return [SchemaProblem((), f"expected at most {MAX_BYTES} bytes as JSON, found {size}")]
    problems = SchemaGraph(schema).problems
    if schema.get("type") != "object":
        problems.append(SchemaProblem(("type",), "expected 'type: object' at the top"))
    return problems[:MAX_PROBLEMS]


def _is_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    if levels == 0:
        return True
    items = value.values() if isinstance(value, dict) else value
    return any(_is_deeper(item, levels - 1) for item in items)


def check_parameters(schema: Any) -> list[str]:
    """Return what is wrong with a schema, one sentence each, with the place.

    :param schema: JSON data; see :func:`schema_problems` for the rules.
    """
    return [str(problem) for problem in schema_problems(schema)]


def validator(schema: dict[str, Any]) -> ArgumentsValidator:
    """Return what checks arguments against a schema.

    :param schema: The schema; it is checked again here, wherever it comes from.
    :raises UsageError: The schema is refused.
    """
    problems = check_parameters(schema)
    if problems:
        raise UsageError("The schema can't be used. " + "; ".join(problems) + ".")
    with safe_imports():
        from lionplug.manifest.arguments import ArgumentsValidator
    return ArgumentsValidator(schema)
