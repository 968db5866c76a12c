"""What an application announces about itself, and a host that knows it only from there.

The command ``lionplug`` manages the plugins of applications that it must not import. What
it has to know of one stands in a data file, which is written from the live host.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from lionplug.host.core import SURFACES
from lionplug.surfaces import tools

if TYPE_CHECKING:
    from lionplug.host import Host


def announcement_of(host: Host) -> dict[str, Any]:
    """Return what an application announces: its command, hooks and reserved tools.

    ``groups`` and ``classic_groups`` are the entry-point groups from which installed plugins
    come; this version looks into none, so both are empty.

    :param host: The live host, with all its hook specifications and objects.
    """
    core = host._core
    core.ready()
    own = {name for surface in SURFACES for name in vars(surface.hookspecs)}
    reserved = core.builder.reserved | core.declarations.own_names()
    return {
        "command": host.command,
        "groups": [],
        "classic_groups": [],
        "hooks": sorted(
            name
            for name in vars(core.manager.hook)
            if name not in own and core.manager.has_spec(name)
        ),
        "reserved_tools": sorted(name for kind, name in reserved if kind == tools.SURFACE.name),
    }


def believe(host: Host, *, hooks: Collection[str] | None, reserved_tools: Collection[str]) -> None:
    """Let a host answer as the application would, by what that announced.

    :param host: A host without the application's own specifications.
    :param hooks: The application's hooks: a plugin that needs another one is incompatible.
        ``None`` if they are not known.
    :param reserved_tools: Names that the application keeps for its own tools.
    """
    core = host._core
    core.builder.announced_hooks = None if hooks is None else frozenset(hooks)
    core.reserve(tools.SURFACE.name, reserved_tools)
