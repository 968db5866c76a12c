"""The hook manager of a host: pluggy's, plus lazy plugins, gates and a stable order."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from threading import RLock
from types import ModuleType
from typing import Any

import pluggy

from lionplug.activation.adapter import arrange, replay, seat, spec_arguments
from lionplug.activation.owners import running_plugin
from lionplug.activation.stand_in import LazyPlugin, keep_function, seats_of
from lionplug.errors import NotGrantedError
from lionplug.gate import Gate, Policy
from lionplug.text import exact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pluggy import HookCaller, HookImpl

    from lionplug.activation.proxies import LazyHook

# Where an implementation stands: later rows are called earlier, as pluggy does it.
_HOST, _LAZY, _ATTRIBUTED, _GATE = range(4)


_logger = logging.getLogger("lionplug")


def _nobody(*args: Any) -> None:
    return None


def _everybody(plugin: str) -> bool:
    return True


class HookManager(pluggy.PluginManager):
    """A :class:`pluggy.PluginManager` in which plugins may stand that are not imported.

    It also accepts the markers ``lionplug.hookspec`` and ``lionplug.hookimpl``. Gates, and
    objects that serve several plugins, are machinery: :meth:`get_plugins` and
    :meth:`list_name_plugin` leave them out, so that hosts which look at every plugin see
    plugins only. ``get_name`` still knows them, because pluggy itself asks it.

    :param project_name: The host's project name, for its own markers.
    :param policy: What gates and proxies ask, and whom they tell.
    :param lock: Held while registrations change; a host gives its own, so that two locks
        can't be taken in two orders.
    :param on_misfit: Told of a plugin, a hook and a reason, when an implementation does not
        fit the hook's specification; the implementation is left out, the rest stands.
        Without a hook it is told of all of them, and without a reason that this is mended.
    :param on_specs: Told that specifications were added.
    :param may_register: Tells whether the code of a plugin may register objects now.
    """

    def __init__(
        self,
        project_name: str,
        policy: Policy,
        *,
        lock: RLock | None = None,
        on_misfit: Callable[[str, str, str], None] = _nobody,
        on_specs: Callable[[], None] = _nobody,
        may_register: Callable[[str], bool] = _everybody,
    ) -> None:
        super().__init__(project_name)
        self._policy = policy
        self._on_misfit = on_misfit
        self._on_specs = on_specs
        self._may_register = may_register
        # pluggy reads markers by project name; a second manager reads lionplug's.
        self._lionplug = pluggy.PluginManager("lionplug")
        self._lock = lock or RLock()
        # Never changed in place: readers take no lock.
        self._lazy: dict[str, object] = {}
        self._places: dict[str, int] = {}
        # Lazy plugins that wait for somebody else to let go of their name.
        self._nameless: dict[str, object] = {}
        self._lazy_hooks: frozenset[str] = frozenset()
        self._watched: frozenset[str] = frozenset()
        self._gates: dict[str, Gate] = {}
        self._attributed: dict[str, str] = {}
        self._registered: dict[str, int] = {}
        self._count = 0

    # -- markers

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> pluggy.HookimplOpts | None:
        """Read the host's marker, else lionplug's."""
        own = super().parse_hookimpl_opts(plugin, name)
        return own if own is not None else self._lionplug.parse_hookimpl_opts(plugin, name)

    def parse_hookspec_opts(self, module_or_class: Any, name: str) -> pluggy.HookspecOpts | None:
        """Read the host's marker, else lionplug's."""
        own = super().parse_hookspec_opts(module_or_class, name)
        if own is not None:
            return own
        return self._lionplug.parse_hookspec_opts(module_or_class, name)

    # -- registration

    def register(self, plugin: Any, name: str | None = None) -> str | None:
        """Register an object of the host, or one that a plugin brings while it runs.

        The host's objects always stand before the plugins in the order of registration. An
        object that the code of a plugin registers belongs to that plugin and is withdrawn
        with it (security rule S18). If an implementation is refused, nothing stays behind.

        :raises NotGrantedError: if the code of a plugin asks whose grant ended.
        """
        owner = running_plugin()
        if owner is not None:
            self._policy.look()  # without the lock: it may ask the host's own code
        with self._lock:
            if owner is not None and not self._may_register(owner):
                raise NotGrantedError(
                    f"plugin {exact(owner)} can't register anything: it is not active here.",
                    plugin=owner,
                )
            registered = self._register(plugin, name)
            if registered is None:
                return None
            if owner is not None:
                self._attributed[registered] = owner
            else:
                self._attributed.pop(registered, None)
            if self._lazy.get(registered) is plugin:
                self._update_gates()
            self._arrange(hook.name for hook in super().get_hookcallers(plugin) or ())
            return registered

    def _register(self, plugin: Any, name: str | None) -> str | None:
        try:
            registered = super().register(plugin, name)
        except pluggy.PluginValidationError:
            # pluggy 1.6 enters the name before it looks at the implementations.
            if super().get_name(plugin) is not None:
                super().unregister(plugin)
            raise
        if registered is not None:
            self._count += 1
            self._registered[registered] = self._count
        return registered

    def unregister(self, plugin: Any = None, name: str | None = None) -> Any | None:
        """Unregister an object; a plugin's own module stands for its stand-in."""
        with self._lock:
            known = name or super().get_name(self._stand_in(plugin))
            gone = super().unregister(None if plugin is None else self._stand_in(plugin), name)
            if known is not None:
                self._registered.pop(known, None)
                self._attributed.pop(known, None)
            self._update_gates()
            return gone

    def add_hookspecs(self, module_or_class: Any) -> None:
        """Add specifications; plugins that waited for one of these hooks are seated."""
        with self._lock:
            super().add_hookspecs(module_or_class)
            for plugin in list(self._lazy.values()):
                if isinstance(plugin, LazyPlugin) and super().is_registered(plugin):
                    self._seat_hooks(plugin)
            self._update_gates()
            self._arrange(self._lazy_hooks)
        self._on_specs()

    def has_spec(self, name: str) -> bool:
        """Tell whether a hook of this name is specified."""
        hook: HookCaller | None = getattr(self.hook, name, None)
        return hook is not None and hook.has_spec()

    # -- lazy plugins

    def set_lazy(
        self, plugins: Sequence[tuple[str, object]], watched: Collection[str] = ()
    ) -> None:
        """Say which lazy plugins there are, in canonical order.

        Those that were there stay registered, so that no call misses them and pluggy
        replays no history to them; the order of calls becomes that of a fresh process.

        :param plugins: Name and object: a :class:`LazyPlugin`, or machinery that serves
            several plugins.
        :param watched: Further hooks to put a gate on: those of approved plugins that are
            switched off, so that whoever kept such a hook notices when they come back.
        """
        with self._lock:
            # Somebody else had the name, and let go of it.
            late = [
                (name, plugin)
                for name, plugin in plugins
                if self._nameless.get(name) is plugin and not self.has_plugin(name)
            ]
            same = list(plugins) == list(self._lazy.items())
            if same and not late and self._watched == frozenset(watched):
                return
            self._watched = frozenset(watched)
            wanted = dict(plugins)
            for name, plugin in list(self._lazy.items()):
                if wanted.get(name) is not plugin:
                    self._nameless.pop(name, None)
                    self._take_out(name, plugin)
            self._places = {name: place for place, name in enumerate(wanted)}
            for name, plugin in wanted.items():
                if name not in self._lazy:
                    self._lazy = {**self._lazy, name: plugin}
                    self._put_in(name, plugin)
                elif (name, plugin) in late:
                    del self._nameless[name]
                    self._on_misfit(name, "", "")
                    self._put_in(name, plugin)
            self._lazy = wanted
            self._update_gates()
            self._arrange(self._lazy_hooks)

    def _put_in(self, name: str, plugin: object) -> None:
        try:
            registered = self._register(plugin, name)
        except ValueError:
            self._nameless[name] = plugin
            self._on_misfit(name, "", f"something else is registered as {name!r}")
            return
        if registered is not None and isinstance(plugin, LazyPlugin):
            self._seat_hooks(plugin)

    def _seat_hooks(self, plugin: LazyPlugin) -> None:
        seats = seats_of(plugin)
        for place, lazy in seats.waiting():
            hook: HookCaller | None = getattr(self.hook, lazy.hook, None)
            if hook is not None and hook.has_spec():
                function = seats.proxy(place, spec_arguments(hook))
                self._seat(hook, plugin, lazy, place, function)

    def _seat(
        self,
        hook: HookCaller,
        plugin: LazyPlugin,
        lazy: LazyHook,
        place: int,
        function: Callable[..., Any],
    ) -> None:
        name = seats_of(plugin).name
        keep_function(plugin, place, function)
        try:
            impl = seat(self, hook, plugin, name, function, lazy.options())
        except pluggy.PluginValidationError as error:
            self._on_misfit(name, lazy.hook, _misfit(lazy, hook, error))
            return
        try:
            replay(hook, impl)
        except Exception as error:  # noqa: BLE001 - one plugin must not keep others out
            _logger.warning(
                "plugin %s: an earlier call of hook %s was replayed to it and raised %s",
                exact(name),
                exact(lazy.hook),
                exact(f"{type(error).__name__}: {error}"),
            )

    def _take_out(self, name: str, plugin: object) -> None:
        self._lazy = {key: one for key, one in self._lazy.items() if key != name}
        self._registered.pop(name, None)
        if super().get_plugin(name) is plugin:
            super().unregister(plugin)
        self.withdraw(name)

    # -- what plugins register

    def attributed_to(self, plugin: str) -> list[Any]:
        """Return the objects that a plugin registered, by name of the plugin."""
        return [
            super(HookManager, self).get_plugin(name)
            for name, owner in list(self._attributed.items())
            if owner == plugin and super(HookManager, self).has_plugin(name)
        ]

    def attributed_plugins(self) -> list[Any]:
        """Return all objects that plugins registered."""
        return [
            one for owner in set(self._attributed.values()) for one in self.attributed_to(owner)
        ]

    def withdraw(self, plugin: str) -> list[Any]:
        """Unregister what a plugin registered; return the objects (security rule S18)."""
        with self._lock:
            gone = self.attributed_to(plugin)
            for one in gone:
                super().unregister(one)
            self._attributed = {
                name: owner for name, owner in self._attributed.items() if owner != plugin
            }
            return gone

    # -- what hosts see

    def get_plugins(self) -> set[Any]:
        """Return all plugins, without gates and other machinery."""
        with self._lock:  # pluggy iterates over its own dictionary
            found = super().get_plugins()
        return {plugin for plugin in found if not self._is_machinery(plugin)}

    def list_name_plugin(self) -> list[tuple[str, Any]]:
        """Return (name, plugin) pairs, without gates and other machinery."""
        with self._lock:
            found = super().list_name_plugin()
        return [pair for pair in found if not self._is_machinery(pair[1])]

    def get_name(self, plugin: Any) -> str | None:
        """Return the name of a plugin; a plugin's own module has that of its stand-in."""
        with self._lock:
            return super().get_name(self._stand_in(plugin))

    def is_registered(self, plugin: Any) -> bool:
        """Tell whether a plugin is registered, itself or by its stand-in."""
        with self._lock:
            return super().is_registered(self._stand_in(plugin))

    def get_hookcallers(self, plugin: Any) -> list[HookCaller] | None:
        """Return the hooks of a plugin; a plugin's own module has those of its stand-in."""
        with self._lock:
            return super().get_hookcallers(self._stand_in(plugin))

    def subset_hook_caller(self, name: str, remove_plugins: Iterable[Any]) -> HookCaller:
        """Return a caller without some plugins, which may be given by their own modules.

        Plugins without this hook are left out of the question: pluggy 1.6 would look for an
        attribute of its name in each, and a lazy plugin would be imported for it.
        """
        having = {id(impl.plugin) for impl in getattr(self.hook, name).get_hookimpls()}
        removed = [self._stand_in(one) for one in remove_plugins]
        return super().subset_hook_caller(name, [one for one in removed if id(one) in having])

    def _is_machinery(self, plugin: object) -> bool:
        return isinstance(plugin, Gate) or (
            not isinstance(plugin, LazyPlugin)
            and any(plugin is lazy for lazy in self._lazy.values())
        )

    def _stand_in(self, plugin: Any) -> Any:
        if not isinstance(plugin, ModuleType) or isinstance(plugin, LazyPlugin):
            return plugin
        for lazy in self._lazy.values():
            if isinstance(lazy, LazyPlugin) and any(
                plugin is module for module in seats_of(lazy).loaded
            ):
                return lazy
        return plugin

    # -- order and gates

    def _update_gates(self) -> None:
        """Let one gate stand on each hook that has a lazy implementation and can have one."""
        lazy = {id(plugin) for plugin in self._lazy.values()}
        self._lazy_hooks = frozenset(
            name
            for name, hook in vars(self.hook).items()
            if any(id(impl.plugin) in lazy for impl in hook.get_hookimpls())
        )
        gated = self._lazy_hooks | self._watched
        wanted = {name for name in gated if self._can_have_gate(name)}
        for name in wanted - self._gates.keys():
            gate = self._gates[name] = Gate(name, self._policy)
            super().register(gate, f"lionplug gate of {name}")
        for name in self._gates.keys() - wanted:
            super().unregister(self._gates.pop(name))

    def _can_have_gate(self, name: str) -> bool:
        hook: HookCaller | None = getattr(self.hook, name, None)
        return hook is not None and hook.has_spec() and not hook.is_historic()

    def _arrange(self, hooks: Iterable[str]) -> None:
        for name in hooks:
            if name in self._lazy_hooks:
                arrange(getattr(self.hook, name), self._rank)

    def _rank(self, impl: HookImpl) -> tuple[int, ...]:
        name = impl.plugin_name
        moment = self._registered.get(name, 0)
        if isinstance(impl.plugin, Gate):
            return (_GATE,)
        if name in self._attributed:
            return (_ATTRIBUTED, self._places.get(self._attributed[name], -1), moment)
        if name in self._places and self._lazy.get(name) is impl.plugin:
            return (_LAZY, self._places[name])
        return (_HOST, moment)


def _misfit(lazy: LazyHook, hook: HookCaller, error: Exception) -> str:
    """Say in the words of a plugin's author why a function does not fit a hook."""
    known = spec_arguments(hook)
    unknown = [name for name in lazy.arguments or () if name not in known]
    if not unknown:
        return " ".join(str(error).split())
    return (
        f"its function takes {', '.join(map(exact, unknown))}, and the hook gives "
        f"{', '.join(known) or 'nothing'}; its author must correct the function or its entry in "
        "plugin.yaml"
    )
