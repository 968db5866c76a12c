"""The view of a surface whose values are looked up: ``host.agents["plugin/name"]``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from lionplug.errors import CapabilityNotFoundError


class CollectionSource(Protocol):
    """What the view asks of the composition root."""

    def current(self, surface: str, name: str) -> Any | None:
        """Return the declaration of a name, after a look at the approvals."""

    def declarations(self, surface: str) -> list[Any]:
        """Return all declarations of a surface that stand now."""

    def provided(self, surface: str, name: str) -> Any | None:
        """Call ``provide_<surface>`` and return the value."""

    def missing(self, surface: str, name: str) -> CapabilityNotFoundError:
        """Explain why nobody answers."""


class Collection:
    """Looks values up by name; every look-up is checked anew.

    A name is ``plugin/name``, or bare where no other active plugin has it. Callers pass it
    on as it is and never split it.

    :param surface: Name of the surface.
    :param source: Where declarations and values are found.
    """

    def __init__(self, surface: str, source: CollectionSource) -> None:
        self._surface = surface
        self._source = source

    def __getitem__(self, name: str) -> Any:
        """Return the value, from what was approved.

        :raises CapabilityNotFoundError: a ``KeyError`` that says which plugin would offer it,
            or which names to choose from.
        :raises ContentError: if the file can't be read as what it should be.
        :raises NotGrantedError: if the approval ended while it was read.
        :raises StoreError: if the approved copy is not what was approved.
        """
        value = self._source.provided(self._surface, name)
        if value is None:
            raise self._source.missing(self._surface, name)
        return value

    def __iter__(self) -> Iterator[Any]:
        """Yield a declaration for each value, in order of plugin and name; reads no file."""
        found = self._source.declarations(self._surface)
        return iter(sorted(found, key=lambda one: (str(one.plugin), str(one.name))))

    def __len__(self) -> int:
        return len(self._source.declarations(self._surface))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._source.current(self._surface, name) is not None
