"""A host in small: specifications, approvals that another process may change, lazy plugins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

import pluggy

from lionplug.activation.manager import HookManager
from lionplug.activation.proxies import LazyHook
from lionplug.activation.stand_in import LazyPlugin
from lionplug.gate import CallRecord, Policy

spec = pluggy.HookspecMarker("host")
impl = pluggy.HookimplMarker("host")


class Specs:
    @spec
    def ask(self, a: Any, b: Any) -> Any: ...

    @spec
    def other(self, a: Any) -> Any: ...

    @spec(firstresult=True)
    def first(self, a: Any) -> Any: ...

    @spec(historic=True)
    def begun(self, a: Any) -> Any: ...


class LateSpecs:
    @spec
    def late(self, a: Any) -> Any: ...

    @spec(historic=True)
    def late_begun(self, a: Any) -> Any: ...


class Grant(str):
    """A plugin's name that knows whether it stands."""

    approvals: Approvals

    @property
    def stands(self) -> bool:
        return self in self.approvals.granted


class Approvals:
    """``file`` is what lies on disk, ``granted`` what the last look made of it."""

    def __init__(self, *names: str) -> None:
        self.file = set(names)
        self.granted = set(names)
        self.looks = 0
        self.generation = 1
        self.records: list[CallRecord] = []
        self.policy = Policy(self.look, self.records.append)

    def look(self) -> int:
        self.looks += 1
        if self.file != self.granted:
            self.granted = set(self.file)
            self.generation += 1
        return self.generation

    def grant(self, name: str) -> Grant:
        grant = Grant(name)
        grant.approvals = self
        return grant

    @property
    def refusals(self) -> list[tuple[str, tuple[Any, ...]]]:
        return [(record.hook, record.refusals) for record in self.records]


class World:
    """One manager and what is needed to fill it."""

    def __init__(self, *names: str) -> None:
        self.approvals = Approvals(*names)
        self.misfits: list[tuple[str, str, str]] = []
        self.spec_changes: list[int] = []
        self.manager = HookManager(
            "host",
            self.approvals.policy,
            on_misfit=lambda *row: self.misfits.append(row),
            on_specs=lambda: self.spec_changes.append(1),
        )
        self.manager.add_hookspecs(Specs)
        self.spec_changes.clear()
        self.loads: list[str] = []
        self.plugins: list[LazyPlugin] = []

    @property
    def hook(self) -> Any:
        return self.manager.hook

    def plugin(self, name: str, *hooks: LazyHook, module: ModuleType | None = None) -> LazyPlugin:
        def load() -> Iterator[ModuleType]:
            self.loads.append(name)
            if module is not None:
                yield module

        return LazyPlugin(
            name,
            hooks=hooks,
            grant=self.approvals.grant(name),
            policy=self.approvals.policy,
            load=load,
            state=lambda: "untrusted",
            file=f"/store/{name}/plugin.yaml",
        )

    def lazy(
        self,
        hook: str,
        function: Callable[..., Any],
        arguments: tuple[str, ...] | None = ("a",),
        **options: Any,
    ) -> LazyHook:
        def resolve() -> Callable[..., Any]:
            self.loads.append(hook)
            return function

        return LazyHook(hook=hook, resolve=resolve, arguments=arguments, **options)

    def add(self, name: str, *hooks: LazyHook, module: ModuleType | None = None) -> LazyPlugin:
        """Add one more plugin behind the others."""
        plugin = self.plugin(name, *hooks, module=module)
        self.plugins.append(plugin)
        self.set(self.plugins)
        return plugin

    def set(self, plugins: Sequence[LazyPlugin]) -> None:
        self.plugins = list(plugins)
        self.manager.set_lazy([(plugin.__name__, plugin) for plugin in plugins])

    def impls(self, hook: str) -> list[str]:
        """Return who is called, the first one first."""
        return [one.plugin_name for one in reversed(getattr(self.hook, hook).get_hookimpls())]


def own(**functions: Callable[..., Any]) -> Any:
    """Return an object of the host that implements hooks."""
    return type("Own", (), {name: staticmethod(f) for name, f in functions.items()})()
