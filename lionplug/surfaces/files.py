"""Surfaces whose capabilities are files: agents, playbooks and packs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lionplug.activation.active import ActivePlugin
from lionplug.inventory.plugin import Plugin
from lionplug.manifest.capability import Capability, label
from lionplug.surfaces.content import MAX_BYTES
from lionplug.surfaces.surface import Surface


def file_surface(
    name: str,
    hookspecs: Any,
    declaration: Callable[..., Any],
    parse: Callable[[str, str, str, bytes], Any],
) -> Surface:
    """Describe a surface of files, which are served from the approved tree.

    :param name: Name of the surface.
    :param hookspecs: Its module of hook specifications.
    :param declaration: Makes a declaration of ``name=``, ``plugin=`` and ``file=``.
    :param parse: Makes the value of name, plugin, file and bytes; raises ``ContentError``.
    """

    def declare(plugin: Plugin, capability: Capability) -> Any:
        return declaration(name=capability.name, plugin=plugin.name, file=capability.files[0])

    def provide(active: ActivePlugin, capability: Capability) -> Any:
        file = capability.files[0]
        data = active.read(file, limit=MAX_BYTES, what=label(name, capability.name))
        return parse(capability.name, active.record.name, file, data)

    return Surface(
        name=name, hookspecs=hookspecs, exclusive=False, declare=declare, provide=provide
    )
