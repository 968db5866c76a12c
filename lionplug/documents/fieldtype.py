"""What every kind of field can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from lionplug.documents.nodes import Node
from lionplug.documents.problems import Problems


class _Invalid:
    __slots__ = ()

    def __repr__(self) -> str:
        return "INVALID"


#: What reading returns after it noted why a node can't be read.
INVALID: Any = _Invalid()


class FieldType(ABC):
    """How one kind of value is read and described."""

    __slots__ = ()

    @abstractmethod
    def read(self, node: Node, problems: Problems) -> Any:
        """Return the value of a node, or :data:`INVALID` after noting why not."""

    @abstractmethod
    def json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the values that are read."""
