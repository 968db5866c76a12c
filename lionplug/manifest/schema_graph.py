"""How often a schema can reach each of its parts, and whether it ever comes to an end (S29).

The parts of a schema are nodes. An edge leads to a part that is applied to the same
value ("in place": ``allOf``, ``$ref`` …) or to a value inside it ("a descent":
``properties``, ``items`` …). Validation visits each part as often as it is reached, so

* a cycle must contain a descent, or it never ends;
* without cycles, all that is reached, counted as often as it is reached, is bounded;
* within a cycle, no value may be handed on twice, or the work doubles with each level of
  the value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import unquote

from attrs import Factory, define, frozen

from lionplug.manifest.graphs import components, postorder
from lionplug.manifest.schema_keywords import (
    MANY,
    NAMED,
    ONE,
    Path,
    SchemaProblem,
    Step,
    keyword_problems,
)

#: Parts, counted as often as they are reached.
MAX_REACHED = 10_000

#: Levels of parts inside parts, references followed.
MAX_DEPTH = 32

_IN_PLACE = "in place"
_DESCENTS = {
    "properties": "property",
    "patternProperties": "any property",
    "additionalProperties": "any property",
    "unevaluatedProperties": "any property",
    "prefixItems": "item",
    "items": "any item",
    "contains": "any item",
    "unevaluatedItems": "any item",
}
_UNAPPLIED = frozenset(("$defs", "definitions"))
_UNEVALUATED = frozenset(("unevaluatedProperties", "unevaluatedItems"))


@frozen
class Edge:
    """From one part to another.

    :param target: Identity of the other part.
    :param keyword: The keyword that leads there.
    :param step: The name or number under that keyword, if it has any.
    """

    target: int
    keyword: str
    step: Step = ""

    @property
    def kind(self) -> str:
        """``in place``, or which values inside the value it is applied to."""
        return _DESCENTS.get(self.keyword, _IN_PLACE)


@define
class Part:
    """One schema inside the schema.

    :param schema: It.
    :param path: Where it stands.
    :param edges: Where it leads.
    """

    schema: dict[str, Any]
    path: Path
    edges: list[Edge] = Factory(list)

    @property
    def is_unevaluated(self) -> bool:
        """Whether it asks what other parts have seen, which applies them once more."""
        return not _UNEVALUATED.isdisjoint(self.schema)


class SchemaGraph:
    """The parts of a schema and what is wrong with it.

    :param schema: The whole schema, of bounded depth and size.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        self._root = schema
        self._parts: dict[int, Part] = {}
        self._has_references = False
        self.problems: list[SchemaProblem] = []
        self._collect()
        if not self.problems:
            self.problems += self._whole_problems()

    def _collect(self) -> None:
        waiting: list[tuple[dict[str, Any], Path]] = [(self._root, ())]
        while waiting:
            schema, path = waiting.pop()
            if id(schema) in self._parts:
                continue
            part = self._parts[id(schema)] = Part(schema, path)
            self.problems += keyword_problems(schema, path)
            for keyword, below, child in self._children(schema, path):
                if isinstance(child, dict):
                    if keyword not in _UNAPPLIED:
                        step = below[-1] if below else ""
                        part.edges.append(Edge(id(child), keyword, step))
                    waiting.append((child, below))

    def _children(self, schema: dict[str, Any], path: Path) -> Iterator[tuple[str, Path, Any]]:
        for keyword, value in schema.items():
            below = (*path, keyword)
            if keyword in ONE:
                yield keyword, below, value
            elif keyword in MANY and isinstance(value, list):
                for index, child in enumerate(value):
                    yield keyword, (*below, index), self._schema(child, (*below, index))
            elif keyword in NAMED and isinstance(value, dict):
                for name, child in value.items():
                    yield keyword, (*below, name), self._schema(child, (*below, name))
            elif keyword == "$ref" and isinstance(value, str) and value.startswith("#"):
                self._has_references = True
                target, where = self._resolve(value)
                if where is None:
                    self.problems.append(
                        SchemaProblem(below, "expected a reference to a part of this schema")
                    )
                else:
                    yield keyword, where, self._schema(target, below)

    def _schema(self, value: Any, path: Path) -> Any:
        if not isinstance(value, (dict, bool)):
            self.problems.append(SchemaProblem(path, "expected a schema"))
        return value

    def _resolve(self, reference: str) -> tuple[Any, Path | None]:
        """Follow a JSON pointer; the second result is ``None`` where it leads nowhere."""
        value: Any = self._root
        path: list[Step] = []
        for segment in unquote(reference[1:]).split("/")[1:]:
            step = segment.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and step in value:
                value = value[step]
                path.append(step)
            elif isinstance(value, list) and _is_index(step, len(value)):
                value = value[int(step)]
                path.append(int(step))
            else:
                return None, None
        return value, tuple(path)

    def _whole_problems(self) -> Iterator[SchemaProblem]:
        component: dict[int, int] = {}
        if self._has_references:  # without any, the parts are a tree
            component = components(self._parts, self._targets)
            cyclic = self._cyclic(component)
            endless = list(self._endless(cyclic, component))
            yield from endless or self._doubled(cyclic, component)
        yield from self._too_much(component)
        if any("patternProperties" in part.schema for part in self._parts.values()):
            for part in self._parts.values():
                if "unevaluatedProperties" in part.schema:
                    yield SchemaProblem(
                        (*part.path, "unevaluatedProperties"),
                        "expected no 'unevaluatedProperties' in a schema with "
                        "'patternProperties'; use 'additionalProperties'",
                    )

    def _targets(self, part: int) -> Iterable[int]:
        return [edge.target for edge in self._parts[part].edges]

    def _cyclic(self, component: dict[int, int]) -> set[int]:
        """Return the parts that lead back to themselves."""
        return {
            number
            for number in self._parts
            if any(component[target] == component[number] for target in self._targets(number))
        }

    def _inner(self, part: int, component: dict[int, int], in_place: bool) -> list[Edge]:
        """Return the edges of a part that stay in its cycle."""
        return [
            edge
            for edge in self._parts[part].edges
            if component[edge.target] == component[part] and (edge.kind == _IN_PLACE) == in_place
        ]

    def _endless(self, cyclic: set[int], component: dict[int, int]) -> Iterator[SchemaProblem]:
        def in_place(part: int) -> Iterable[int]:
            return [edge.target for edge in self._inner(part, component, in_place=True)]

        inner = components(cyclic, in_place)
        for part in cyclic:
            if any(inner[target] == inner[part] for target in in_place(part)):
                yield SchemaProblem(
                    self._parts[part].path,
                    "expected references that come back only through a property or an item",
                )
                return

    def _doubled(self, cyclic: set[int], component: dict[int, int]) -> Iterator[SchemaProblem]:
        reached: dict[int, _Reach] = {}

        def in_place(part: int) -> Iterable[int]:
            return [edge.target for edge in self._inner(part, component, in_place=True)]

        for part in postorder(cyclic, in_place):
            reach = reached[part] = _Reach()
            fits = not self._parts[part].is_unevaluated
            fits &= reach.take_own(self._inner(part, component, in_place=False))
            for target in in_place(part):
                fits &= target in reached and reach.take(reached[target])
            if not fits:
                yield SchemaProblem(
                    self._parts[part].path,
                    "expected a part that refers back to itself to hand on each value only once",
                )
                return

    def _too_much(self, component: dict[int, int]) -> Iterator[SchemaProblem]:
        def below(part: int) -> list[int]:
            return [
                edge.target
                for edge in self._parts[part].edges
                if edge.keyword != "$ref" or component[edge.target] != component[part]
            ]

        count: dict[int, int] = {}
        depth: dict[int, int] = {}
        for part in postorder(self._parts, below):
            factor = 2 if self._parts[part].is_unevaluated else 1
            count[part] = 1 + factor * sum(count[target] for target in below(part))
            depth[part] = 1 + max((depth[target] for target in below(part)), default=0)
        if max(count.values()) > MAX_REACHED:
            yield SchemaProblem(
                (),
                f"expected at most {MAX_REACHED} parts, each counted as often as it is reached",
            )
        if max(depth.values()) > MAX_DEPTH:
            yield SchemaProblem(
                (), f"expected at most {MAX_DEPTH} levels of parts, references followed"
            )


@define
class _Reach:
    """The values inside a value that are handed on to a cycle."""

    properties: set[Step] = Factory(set)
    items: set[Step] = Factory(set)
    any_property: bool = False
    any_item: bool = False

    def take_own(self, edges: Sequence[Edge]) -> bool:
        """Add the descents of one part; false if two of them can meet in one value."""
        kinds = [edge.kind for edge in edges]
        self.properties = {edge.step for edge in edges if edge.kind == "property"}
        self.items = {edge.step for edge in edges if edge.kind == "item"}
        self.any_property = "any property" in kinds
        self.any_item = "any item" in kinds
        # These see what 'properties' and 'prefixItems' have seen as well.
        keywords = {edge.keyword for edge in edges}
        return not (
            kinds.count("any property") > 1
            or kinds.count("any item") > 1
            or (self.properties and "patternProperties" in keywords)
            or (self.items and "contains" in keywords)
        )

    def take(self, other: _Reach) -> bool:
        """Add what another part hands on of the same value; false if they overlap."""
        meets = (
            self.properties & other.properties
            or self.items & other.items
            or (self.any_property and (other.properties or other.any_property))
            or (other.any_property and self.properties)
            or (self.any_item and (other.items or other.any_item))
            or (other.any_item and self.items)
        )
        self.properties |= other.properties
        self.items |= other.items
        self.any_property |= other.any_property
        self.any_item |= other.any_item
        return not meets


def _is_index(text: str, length: int) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10 and int(text) < length
