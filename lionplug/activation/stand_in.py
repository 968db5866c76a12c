"""The object that stands in pluggy for a plugin, for the plugin's whole life."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from lionplug.activation.proxies import LazyHook, Target, make_proxy
from lionplug.errors import LionplugError
from lionplug.gate import Policy, Standing
from lionplug.text import exact


class Seats:
    """What a stand-in knows of its plugin.

    :ivar name: Name of the plugin.
    :ivar hooks: What it implements, in the order of its manifest.
    :ivar seated: The functions that were registered, by place in ``hooks``.
    :ivar loaded: The modules that it was loaded as.
    """

    def __init__(
        self,
        name: str,
        hooks: Sequence[LazyHook],
        grant: Standing,
        policy: Policy,
        load: Callable[[], Iterable[ModuleType]],
        state: Callable[[], str],
    ) -> None:
        self.name = name
        self.hooks = tuple(hooks)
        self.seated: dict[int, Callable[..., Any]] = {}
        self.loaded: list[ModuleType] = []
        self._grant = grant
        self._policy = policy
        self._load = load
        self._state = state

    def waiting(self) -> list[tuple[int, LazyHook]]:
        """Return place and hook of what is not registered, for want of a specification."""
        return [item for item in enumerate(self.hooks) if item[0] not in self.seated]

    def proxy(self, place: int, arguments: tuple[str, ...]) -> Callable[..., Any]:
        """Return a function to register for one of its hooks.

        :param arguments: Argument names of the specification, for want of better ones.
        """
        lazy = self.hooks[place]
        given = arguments if lazy.arguments is None else lazy.arguments
        target = Target(lazy, self.name, self._grant, self._policy, given)
        return make_proxy(target, lazy, given)

    def find(self, name: str) -> Any:
        """Load the modules until one has the attribute.

        :raises AttributeError: None has it, it can't be loaded, or it may not be.
        """
        shown, wanted = exact(self.name), exact(name)
        self._policy.look()
        if not self._grant.stands:
            raise AttributeError(
                f"plugin {shown} is {self._state()}, so it is not loaded to look for its "
                f"attribute {wanted!r}. See its state and reason in the list of plugins."
            )
        try:
            for module in self._load():
                if not any(module is known for known in self.loaded):
                    self.loaded.append(module)
                if hasattr(module, name):
                    return getattr(module, name)
        except LionplugError as error:
            # So that hasattr() and getattr() with a default answer as for any module.
            raise AttributeError(f"attribute {wanted!r} is not there: {error}") from error
        raise AttributeError(f"plugin {shown} has no attribute {wanted!r} in any of its modules")


class LazyPlugin(ModuleType):
    """A module that knows its name and its hooks without being loaded.

    Hooks are plain functions in the instance dictionary, which both supported releases of
    pluggy hand out as they are. ``dir()`` loads nothing. Reading a public attribute that
    is not there loads the plugin's modules, if it may run; a name with a leading
    underscore never does, because that is what tools probe.

    :param name: Name of the plugin.
    :param hooks: What it implements, in the order of its manifest.
    :param grant: What to ask for before anything of it runs.
    :param policy: What to ask, and whom to tell.
    :param load: Imports the plugin's modules one after another.
    :param state: Returns the state of the plugin as a word, for messages.
    :param package: Name of the package of its modules.
    :param file: Path that stands for it, such as its manifest.
    """

    # The class has no public names of its own: those belong to the plugin.
    _seats: Seats

    def __init__(
        self,
        name: str,
        *,
        hooks: Sequence[LazyHook] = (),
        grant: Standing,
        policy: Policy,
        load: Callable[[], Iterable[ModuleType]],
        state: Callable[[], str],
        package: str | None = None,
        file: str | None = None,
    ) -> None:
        super().__init__(name)
        self.__spec__ = ModuleSpec(package or name, None, origin=file)
        self.__package__ = package or name
        self.__file__ = file
        self._seats = Seats(name, hooks, grant, policy, load, state)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"plugin {self.__name__!r} has no attribute {name!r}")
        return self._seats.find(name)

    def __dir__(self) -> list[str]:
        return ["__name__", *sorted(name for name in self.__dict__ if not name.startswith("_"))]

    def __repr__(self) -> str:
        return f"<LazyPlugin {self.__name__!r}>"


def seats_of(plugin: LazyPlugin) -> Seats:
    """Return what a stand-in knows of its plugin."""
    return plugin._seats


def keep_function(plugin: LazyPlugin, place: int, function: Callable[..., Any]) -> None:
    """Put a registered function where pluggy would have found it."""
    seats = plugin._seats
    hook = seats.hooks[place].hook
    # The hook's own name first: pluggy 1.6 looks for it when it makes a subset.
    name = hook if hook not in plugin.__dict__ else f"{hook}__{place:04}"
    plugin.__dict__[name] = function
    seats.seated[place] = function
