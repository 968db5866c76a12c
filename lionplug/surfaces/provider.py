"""The plugin objects that answer ``list_*`` and ``provide_*`` for all bundles, one a surface.

Each looks a name up in the index of the inventory and asks for the grant of the one
plugin that declares it, so a call costs the same with one plugin or ten thousand, and
stays an ordinary pluggy call with all its wrappers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from lionplug.activation.active import ActivePlugin
from lionplug.inventory.snapshot import Offer
from lionplug.markers import hookimpl
from lionplug.surfaces.surface import Surface


class OfferSource(Protocol):
    """Where the loader finds plugins: the composition root of a host."""

    def offer(self, surface: str, token: str) -> Offer | None:
        """Return who answers for a bare name or ``plugin/name`` in the current snapshot."""

    def offers(self, surface: str) -> Iterable[Offer]:
        """Return everything that is offered on a surface."""

    def admit(self, offer: Offer, hook: str, *, current: bool) -> ActivePlugin | None:
        """Return the plugin if it may run now; ``None`` and a noted refusal if not.

        :param current: Whether to glance at the live files of the capability too.
        """


class SurfaceProvider:
    """Implements the two hooks of a surface for all bundles.

    :param surface: The surface to serve.
    :param source: Where plugins are found.
    """

    def __init__(self, surface: Surface, source: OfferSource) -> None:
        # Functions in the instance dictionary: both supported releases of pluggy hand
        # them out as they are.
        listing = f"list_{surface.name}"
        providing = f"provide_{surface.name}"
        setattr(self, listing, _list_hook(surface, source, listing))
        setattr(self, providing, _provide_hook(surface, source, providing))


# The host's own implementations come first on every surface: what a host registers
# under a name always wins over a plugin.
_last = hookimpl(trylast=True)


def _list_hook(surface: Surface, source: OfferSource, hook: str) -> Callable[[], list[Any]]:
    def list_capabilities() -> list[Any]:
        return [
            surface.declare(offer.plugin, offer.capability)
            for offer in source.offers(surface.name)
            if source.admit(offer, hook, current=False) is not None
        ]

    return _last(list_capabilities)


def _provide_hook(surface: Surface, source: OfferSource, hook: str) -> Callable[..., Any]:
    def provide_capability(name: str, plugin: str | None) -> Any:
        offer = source.offer(surface.name, name if plugin is None else f"{plugin}/{name}")
        if offer is None:
            return None
        active = source.admit(offer, hook, current=True)
        return None if active is None else surface.provide(active, offer.capability)

    return _last(provide_capability)
