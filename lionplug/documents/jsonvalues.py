"""Reading any node as JSON data."""

from __future__ import annotations

from typing import Any

from lionplug.documents.fieldtype import INVALID
from lionplug.documents.nodes import Node, Scalar, Sequence, shown
from lionplug.documents.problems import Problems
from lionplug.documents.scalars import as_json


def read_json(node: Node, problems: Problems) -> Any:
    """Return JSON data: plain scalars by the YAML 1.2 core schema, all others as text.

    :returns: The data, or :data:`INVALID` after noting a number that JSON can't carry.
    """
    if isinstance(node, Scalar):
        return _scalar(node, problems) if node.plain else node.text
    before = problems.count
    value: Any
    if isinstance(node, Sequence):
        value = [_at(index, item, problems) for index, item in enumerate(node.items)]
    else:
        value = {key.text: _at(key.text, item, problems) for key, item in node.items}
    return INVALID if problems.count > before else value


def _at(step: str | int, node: Node, problems: Problems) -> Any:
    problems.path.append(step)
    value = read_json(node, problems)
    problems.path.pop()
    return value


def _scalar(node: Scalar, problems: Problems) -> Any:
    try:
        return as_json(node.text)
    except ValueError as error:
        problems.at(
            node, "number", f"{error}, found {shown(node.text)}; quote it if a text is meant."
        )
        return INVALID
