"""The stand-in: named and hooked without being loaded, loaded by a public attribute only."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import pluggy
import pytest

from lionplug.activation.stand_in import LazyPlugin
from lionplug.errors import ActivationError
from tests.gate.support import World


def loaded_module() -> ModuleType:
    module = ModuleType("real")
    module.answer = 42  # type: ignore[attr-defined]
    return module


def test_it_is_a_module_that_knows_itself() -> None:
    world = World("p")
    plugin = world.add("p", world.lazy("ask", len), module=loaded_module())
    assert inspect.ismodule(plugin)
    assert (plugin.__name__, plugin.__file__) == ("p", "/store/p/plugin.yaml")
    assert plugin.__spec__ is not None
    assert plugin.__spec__.origin == "/store/p/plugin.yaml"
    assert repr(plugin) == "<LazyPlugin 'p'>"
    assert dir(plugin) == ["__name__", "ask"]
    assert world.loads == []


def test_registering_and_looking_load_nothing() -> None:
    world = World("p")
    plugin = world.add("p", world.lazy("ask", len), module=loaded_module())
    manager = world.manager
    assert plugin in manager.get_plugins()
    assert manager.get_name(plugin) == "p"
    assert manager.get_plugin("p") is plugin
    assert [caller.name for caller in manager.get_hookcallers(plugin) or ()] == ["ask"]
    assert manager.is_registered(plugin)
    manager.check_pending()
    manager.unregister(plugin)
    manager.register(plugin, "p")
    inspect.unwrap(plugin)  # type: ignore[arg-type]
    assert world.loads == []
    assert world.impls("ask") == ["lionplug gate of ask", "p"]


def test_a_plain_pluggy_manager_finds_its_functions() -> None:
    world = World("p")
    plugin = world.add("p", world.lazy("ask", lambda a: ("ran", a)))
    marker = pluggy.HookspecMarker("lionplug")

    class Specs:
        @marker
        def ask(self, a: Any) -> Any: ...

    other = pluggy.PluginManager("lionplug")
    other.add_hookspecs(Specs)
    other.register(plugin)
    assert world.loads == []
    assert other.hook.ask(a=1) == [("ran", 1)]


def test_a_public_attribute_loads_if_granted() -> None:
    world = World("p")
    module = loaded_module()
    plugin = world.add("p", module=module)
    assert plugin.answer == 42
    assert world.loads == ["p"]
    assert not hasattr(plugin, "nothing")
    with pytest.raises(AttributeError) as caught:
        plugin.nothing  # noqa: B018
    assert str(caught.value) == "plugin p has no attribute 'nothing' in any of its modules"


def test_a_name_with_an_underscore_never_loads() -> None:
    world = World("p")
    plugin = world.add("p", module=loaded_module())
    for name in ("_x", "__wrapped__", "__path__", "__all__"):
        with pytest.raises(AttributeError, match=f"^plugin 'p' has no attribute '{name}'$"):
            getattr(plugin, name)
    assert world.loads == []


def test_without_a_grant_nothing_is_loaded() -> None:
    world = World()
    plugin = world.add("p", module=loaded_module())
    with pytest.raises(AttributeError) as caught:
        plugin.answer  # noqa: B018
    assert str(caught.value) == (
        "plugin p is untrusted, so it is not loaded to look for its attribute 'answer'. "
        "See its state and reason in the list of plugins."
    )
    assert world.loads == []


def test_a_revocation_counts_for_attributes_too() -> None:
    world = World("p")
    plugin = world.add("p", module=loaded_module())
    assert plugin.answer == 42
    world.approvals.file.clear()
    assert not hasattr(plugin, "answer")


def test_a_failure_to_load_is_an_attribute_error() -> None:
    world = World("p")

    def load() -> Any:
        raise ActivationError("it is broken", plugin="p")

    plugin = LazyPlugin(
        "p",
        grant=world.approvals.grant("p"),
        policy=world.approvals.policy,
        load=load,
        state=lambda: "active",
    )
    assert getattr(plugin, "answer", None) is None
    with pytest.raises(AttributeError) as caught:
        plugin.answer  # noqa: B018
    assert str(caught.value) == "attribute 'answer' is not there: it is broken"
    assert isinstance(caught.value.__cause__, ActivationError)


def test_the_manager_takes_the_real_module_for_its_stand_in() -> None:
    world = World("p")
    module = loaded_module()
    plugin = world.add("p", world.lazy("ask", lambda a: 1), module=module)
    manager = world.manager
    assert manager.get_name(module) is None
    assert plugin.answer == 42
    assert manager.get_name(module) == "p"
    assert manager.is_registered(module)
    assert [caller.name for caller in manager.get_hookcallers(module) or ()] == ["ask"]
    assert manager.subset_hook_caller("ask", [module])(a=1, b=2) == []
    assert manager.unregister(module) is plugin
    assert not manager.is_registered(module)
    assert manager.get_hookcallers(module) is None
