"""The stand-in of a bundle that implements hooks by function (``hookimpls:`` in its manifest)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

from lionplug.activation.active import ActivePlugin
from lionplug.activation.proxies import Kind, LazyHook
from lionplug.activation.stand_in import LazyPlugin
from lionplug.gate import Policy
from lionplug.inventory import states
from lionplug.inventory.plugin import Plugin, approved_signature
from lionplug.manifest.capability import Capability
from lionplug.manifest.parse import MANIFEST_FILE

#: Surface of the hooks that a bundle implements by function.
HOOKIMPLS = "hookimpls"


def make_stand_in(plugin: Plugin, active: ActivePlugin, policy: Policy) -> LazyPlugin | None:
    """Return the object that stands in pluggy for a bundle; ``None`` if it has no hooks.

    :param plugin: The active copy.
    :param active: What imports its functions.
    :param policy: What its proxies ask.
    """
    hooks = [
        _lazy_hook(plugin, capability, active)
        for capability in plugin.capabilities
        if capability.surface == HOOKIMPLS
    ]
    if not hooks:
        return None
    return LazyPlugin(
        plugin.name,
        hooks=hooks,
        grant=active.grant,
        policy=policy,
        load=partial(_modules, plugin, active),
        state=lambda: active.grant.refusal or states.UNTRUSTED,
        file=os.path.join(plugin.location, MANIFEST_FILE),
    )


def _lazy_hook(plugin: Plugin, capability: Capability, active: ActivePlugin) -> LazyHook:
    detail = capability.detail
    arguments, defaults = _arguments(plugin, capability)
    kind: Kind = "wrapper" if detail.get("wrapper") else "plain"
    return LazyHook(
        hook=capability.name,
        resolve=partial(_resolve, capability, active),
        arguments=arguments,
        defaults=defaults,
        kind=kind,
        tryfirst=bool(detail.get("tryfirst")),
        trylast=bool(detail.get("trylast")),
        optional=bool(detail.get("optional")),
    )


def _resolve(capability: Capability, active: ActivePlugin) -> Callable[..., Any]:
    """Import the function; the first activation in a process looks at the live tree too."""
    hook = capability.name
    active.require_current(capability.target.partition(":")[0], what=f"hook {hook}")
    return active.load(capability.target, hook=hook, what=f"hook {hook}")


def _arguments(
    plugin: Plugin, capability: Capability
) -> tuple[tuple[str, ...] | None, tuple[Any, ...]]:
    """Return argument names and defaults as the approved source has them.

    Both are unknown if the source could not be read or something may replace the function.
    """
    signature = approved_signature(plugin, capability.target)
    if signature is None or signature.uncertain:
        return None, ()
    ordinary = [one for one in signature.parameters if one.kind in _ORDINARY]
    # Only that there is a default counts: pluggy leaves such an argument to the function,
    # or passes the value that the caller gave.
    return (
        tuple(one.name for one in ordinary),
        tuple(one.default for one in ordinary if one.has_default),
    )


_ORDINARY = ("positional_only", "positional_or_keyword")


def _modules(plugin: Plugin, active: ActivePlugin) -> Iterator[ModuleType]:
    """Import the modules that implement its hooks, one after another."""
    files = dict.fromkeys(
        capability.target.partition(":")[0]
        for capability in plugin.capabilities
        if capability.surface == HOOKIMPLS
    )
    for file in files:
        module: Any = active.load(f"{file}:", hook="", what=f"module {file}")
        yield module
