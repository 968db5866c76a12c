"""What is declared on each surface, by the host's own objects and by active plugins."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from itertools import count
from threading import RLock, get_ident
from typing import Any, Protocol

import pluggy

from lionplug.activation.manager import HookManager
from lionplug.errors import CapabilityNotFoundError
from lionplug.inventory.snapshot import Offer, Snapshot
from lionplug.manifest.capability import label
from lionplug.surfaces.surface import Surface
from lionplug.text import exact

_logger = logging.getLogger("lionplug")

#: Seconds that a thread waits for another one that asks the host's own objects.
_PATIENCE = 2.0


class HostState(Protocol):
    """What is asked of the composition root."""

    manager: HookManager

    def ready(self) -> Snapshot:
        """Return the current snapshot."""

    def outdate(self) -> None:
        """Have the next question build a new snapshot."""

    def look_again(self) -> None:
        """Look at the approvals; a change makes the snapshot out of date."""

    def plugin_objects(self) -> Iterable[object]:
        """Return the registered objects that speak for plugins, not for the host itself."""

    def missing(self, surface: str, name: str) -> CapabilityNotFoundError:
        """Explain why nobody answers for a name."""

    def reserve(self, surface: str, names: Iterable[str]) -> None:
        """Keep names for the host."""


class Declarations:
    """Looks names up; every answer is data, and nothing of a plugin is imported.

    :param surfaces: The surfaces of the host by name; the host may add some.
    :param source: Where snapshot and hooks are found.
    """

    def __init__(self, surfaces: Mapping[str, Surface], source: HostState) -> None:
        self._surfaces = surfaces
        self._source = source
        # What the host's own objects said when they were asked last. Numbers as in
        # Generations: what changes while they are asked has them asked again.
        self._own: dict[str, dict[str, Any]] = {}
        self._numbers = count(1)
        self._wanted = next(self._numbers)
        self._learned = 0
        self._ask_lock = RLock()
        self._asking = 0
        self._warned: set[tuple[str, str]] = set()
        # One tuple: no thread puts an answer of one snapshot among those of another.
        self._known: tuple[Snapshot | None, dict[tuple[str, str], Any]] = (None, {})
        self.missing = source.missing
        self.reserve = source.reserve

    def declaration(self, surface: str, name: str) -> Any | None:
        """Return the declaration of a name: the host's own, else an active plugin's.

        Before it says that there is none it looks again: a person may have approved
        something meanwhile, or the host's own objects may offer more.
        """
        found = self._find(surface, name)
        if found is None:
            self._source.look_again()
            self.forget_own()
            found = self._find(surface, name)
        return found

    def _find(self, surface: str, name: str) -> Any | None:
        snapshot = self._source.ready()
        of, cache = self._known
        if snapshot is not of:
            cache = {}
            self._known = (snapshot, cache)
        own = self._own_of(surface).get(name)
        if own is not None:
            return own
        key = (surface, name)
        known = cache.get(key)
        if known is None:
            offer = snapshot.offer(surface, name)
            if offer is not None:
                known = cache[key] = self._declare(surface, offer)
        return known

    def current(self, surface: str, name: str) -> Any | None:
        """Like :meth:`declaration`, for text that is shown: what was revoked is not (S2)."""
        self._source.look_again()
        return self.declaration(surface, name)

    def declarations(self, surface: str) -> list[Any]:
        """Return all declarations of a surface that stand now."""
        self._source.look_again()
        offered = [key for key in self._source.ready().qualified if key[0] == surface]
        own = self._own_of(surface)
        found = list(own.values())
        for _, token in offered:
            declaration = self.declaration(surface, token)
            if declaration is not None:
                found.append(declaration)
        if self._surfaces[surface].exclusive:  # there the host's own keeps the name
            found = list({one.name: one for one in reversed(found)}.values())
        return found

    def provided(self, surface: str, name: str) -> Any | None:
        """Call ``provide_<surface>``; may import the plugin that declares the name."""
        hook: pluggy.HookCaller = getattr(self._source.manager.hook, f"provide_{surface}")
        plugin, slash, bare = name.rpartition("/")
        if not slash:
            self._warn_if_shadowed(surface, name)
        return hook(name=bare, plugin=plugin if slash else None)

    def _warn_if_shadowed(self, surface: str, name: str) -> None:
        """Say once that a name is the host's or the user's own and a plugin has it too."""
        key = (surface, name)
        if key in self._warned or name not in self._own_of(surface):
            return
        offer = self._source.ready().offers.get(key)
        if offer is not None:
            self._warned.add(key)
            _logger.warning(
                "%s is your own; that of plugin %s is %s/%s",
                label(surface, name),
                offer.plugin.name,
                offer.plugin.name,
                exact(name),
            )

    def own_names(self) -> frozenset[tuple[str, str]]:
        """Return ``(surface, name)`` of what the host's own objects declared when last asked."""
        return frozenset((surface, name) for surface, known in self._own.items() for name in known)

    def learn_own(self) -> None:
        """Ask the host's own objects what they declare, unless that is known.

        One thread asks and the others wait for it, but not for ever: the host's own code
        may in turn wait for one of them.
        """
        if self._learned == self._wanted or not self._ask_lock.acquire(timeout=_PATIENCE):
            return
        try:
            if self._learned != self._wanted and not self._asking:
                self._asking = get_ident()
                begun = self._wanted
                try:
                    self._own = {name: self._ask_own(name) for name in list(self._surfaces)}
                finally:
                    self._asking = 0
                self._learned = begun
                self._source.outdate()
        finally:
            self._ask_lock.release()

    def forget_own(self) -> None:
        """Ask the host's own objects again on the next question.

        What they ask themselves while they are asked does not count.
        """
        if self._asking != get_ident():
            self._wanted = next(self._numbers)

    def _declare(self, surface: str, offer: Offer) -> Any:
        return self._surfaces[surface].declare(offer.plugin, offer.capability)

    def _own_of(self, surface: str) -> dict[str, Any]:
        self.learn_own()
        return self._own.get(surface, {})

    def _ask_own(self, surface: str) -> dict[str, Any]:
        caller = self._source.manager.subset_hook_caller(
            f"list_{surface}", remove_plugins=self._source.plugin_objects()
        )
        return {
            declaration.name: declaration for answer in caller() for declaration in answer or ()
        }
