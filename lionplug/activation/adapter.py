"""The only place that touches what pluggy does not publish; tested on both of its releases.

Public calls can't do these things. A plugin object can't be given one more hook without
being taken out for a moment, in which another thread would miss it and after which
pluggy would replay history to it. And an order can't be restored without taking
everybody out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pluggy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pluggy import HookCaller, HookImpl


def _passes_defaulted_arguments() -> bool:
    manager = pluggy.PluginManager("probe")

    class Specs:
        @pluggy.HookspecMarker("probe")
        def probe(self, value: int) -> None: ...

    class Plugin:
        @pluggy.HookimplMarker("probe")
        def probe(self, value: int = 0) -> int:
            return value

    manager.add_hookspecs(Specs)
    manager.register(Plugin())
    return bool(manager.hook.probe(value=1) == [1])


#: Whether an argument that an implementation gives a default is passed to it (pluggy 1.7)
#: or always left at its default (1.6). Asked of pluggy itself, not of its version.
PASSES_DEFAULTED = _passes_defaulted_arguments()


def spec_arguments(hook: HookCaller) -> tuple[str, ...]:
    """Return the arguments that an implementation of a specified hook may ask for."""
    assert hook.spec is not None
    return (*hook.spec.argnames, *(hook.spec.kwargnames if PASSES_DEFAULTED else ()))


def own_arguments(function: Callable[..., Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return an implementation's arguments as pluggy reads them: without and with defaults."""
    impl = pluggy.HookImpl(None, "", function, {**_NO_OPTIONS})
    return impl.argnames, impl.kwargnames


_NO_OPTIONS: pluggy.HookimplOpts = {
    "wrapper": False,
    "hookwrapper": False,
    "optionalhook": False,
    "tryfirst": False,
    "trylast": False,
    "specname": None,
}


def seat(
    manager: pluggy.PluginManager,
    hook: HookCaller,
    plugin: object,
    name: str,
    function: Callable[..., Any],
    options: pluggy.HookimplOpts,
) -> HookImpl:
    """Give a registered plugin one more implementation, as ``register`` would have.

    :param hook: The hook, which has a specification.
    :param name: Name that the plugin is registered under.
    :raises pluggy.PluginValidationError: It does not fit the specification; nothing changed.
    """
    impl = pluggy.HookImpl(plugin, name, function, options)
    manager._verify_hook(hook, impl)
    hook._add_hookimpl(impl)
    return impl


def replay(hook: HookCaller, impl: HookImpl) -> None:
    """Call an implementation with the calls that a historic hook had before it came."""
    hook._maybe_apply_history(impl)


def arrange(hook: HookCaller, rank: Callable[[HookImpl], tuple[int, ...]]) -> None:
    """Put the implementations of a hook into the order of a fresh process.

    The order is what pluggy itself makes of registrations in the order of ``rank``. It is
    put in place in one step, so that no call of another thread misses anybody.
    """
    present = hook.get_hookimpls()
    fresh = pluggy.HookCaller(hook.name, hook._hookexec)
    for impl in sorted(present, key=rank):
        fresh._add_hookimpl(impl)
    wanted = fresh.get_hookimpls()
    if wanted != present:
        hook._hookimpls[:] = wanted
