"""The field that holds a JSON Schema."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from lionplug.documents.fields import INVALID, FieldType
from lionplug.documents.jsonvalues import read_json
from lionplug.documents.nodes import Mapping, Node, Sequence, describe
from lionplug.documents.problems import Problems
from lionplug.manifest.parameters import schema_problems


@frozen
class ParametersSchema(FieldType):
    """The JSON Schema of a tool's arguments, checked when it is read (S29)."""

    def read(self, node: Node, problems: Problems) -> Any:
        if not isinstance(node, Mapping):
            problems.at(node, "type", f"expected a JSON Schema, found {describe(node)}.")
            return INVALID
        before = problems.count
        schema = read_json(node, problems)
        if schema is not INVALID:
            for problem in schema_problems(schema):
                problems.path.extend(problem.path)
                problems.at(_node_at(node, problem.path), "parameters", f"{problem.text}.")
                del problems.path[len(problems.path) - len(problem.path) :]
        return INVALID if problems.count > before else schema

    def json_schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"type": {"const": "object"}}, "required": ["type"]}


def _node_at(node: Node, path: tuple[str | int, ...]) -> Node:
    """Return the node at a path, or the last one on the way to it."""
    for step in path:
        if isinstance(node, Sequence) and isinstance(step, int):
            node = node.items[step]
        elif isinstance(node, Mapping):
            below = node.get(str(step))
            if below is None:
                return node
            node = below
    return node
