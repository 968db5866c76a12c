"""What one thread or one approval learned never answers for another."""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

import anyio
import pytest

from lionplug import Host, hookimpl, hookspec
from lionplug.errors import (
    ArgumentsError,
    CapabilityNotFoundError,
    LionplugError,
    NotGrantedError,
    PluginNotFoundError,
    UsageError,
)
from lionplug.scopes import UserScope
from lionplug_hookspecs.tools import ToolDeclaration
from tests.support import World, write

RUN = {"t.py": "def run():\n    return 1\n\n\ndef other():\n    return 2\n"}
GREET = "capabilities:\n  hookimpls:\n    - {hook: greet, target: 'h.py:greet'}\n"
CHILD = """
from lionplug import hookimpl


class Child:
    @hookimpl
    def greet(self):
        return "child"


def enter(manager, name=None):
    child = Child()
    manager.register(child, name)
    return child


def greet():
    return "bad"
"""


class Specs:
    @hookspec
    def greet(self) -> None:
        """Greet."""


def tool(name: str) -> ToolDeclaration:
    return ToolDeclaration(name=name, plugin="own", description="", parameters=None, is_async=False)


def module_of(host: Host, plugin: str) -> Any:
    stand_in: Any = host._core.manager.get_plugin(plugin)
    return sys.modules[stand_in.Child.__module__]


def test_s2_a_slow_thread_leaves_nothing_of_a_revoked_plugin(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.bundle("one", RUN, tools={"run": "t.py:run"})
    host = world.host()
    world.approve(host, "one")
    declarations = host._core.declarations
    original, inside, go = declarations._declare, threading.Event(), threading.Event()

    def slow(surface: str, offer: Any) -> Any:
        inside.set()
        assert go.wait(10)
        return original(surface, offer)

    monkeypatch.setattr(declarations, "_declare", slow)
    thread = threading.Thread(target=lambda: "run" in host.tools, daemon=True)
    thread.start()
    assert inside.wait(10)
    monkeypatch.setattr(declarations, "_declare", original)
    host.revoke("one")
    assert "run" not in host.tools
    go.set()
    thread.join(10)
    assert "run" not in host.tools


def test_what_is_registered_while_the_host_is_asked_is_not_forgotten(world: World) -> None:
    world.bundle("one", RUN, tools={"run": "t.py:run"})
    host = world.host()
    world.approve(host, "one")
    inside, go = threading.Event(), threading.Event()

    class Slow:
        @hookimpl
        def list_tools(self) -> list[ToolDeclaration]:
            inside.set()
            assert go.wait(10)
            return []

    class Late:
        @hookimpl
        def list_tools(self) -> list[ToolDeclaration]:
            return [tool("run")]

    slow = Slow()
    host.register(slow)
    thread = threading.Thread(target=lambda: host.plugins.all, daemon=True)
    thread.start()
    assert inside.wait(10)
    host.register(Late())
    go.set()
    thread.join(10)
    assert host.tools["run"].plugin == "own"
    assert [name for name, _ in host.plugins["one"].refused_names] == ["tools:run"]


def test_names_of_the_host_stay_its_own_while_it_is_asked_again(world: World) -> None:
    world.bundle("one", RUN, tools={"run": "t.py:run"})
    host = world.host()
    world.approve(host, "one")

    class Own:
        @hookimpl
        def list_tools(self) -> list[ToolDeclaration]:
            return [tool("run")]

    host.register(Own())
    assert host.plugins["one"].refused_names
    host._core.declarations.forget_own()  # as a miss in another thread does
    assert ("tools", "run") in host._core.declarations.own_names()


def test_a_reading_of_the_approvals_outdates_before_other_looks_return(world: World) -> None:
    world.bundle("one", RUN, tools={"run": "t.py:run"})
    host = world.host()
    world.approve(host, "one")
    assert "run" in host.tools
    grants = host._core.grants
    original, inside, go = grants._on_change, threading.Event(), threading.Event()

    def slow() -> None:
        inside.set()
        assert go.wait(10)
        original()

    world.host().revoke("one")
    grants._on_change = slow
    thread = threading.Thread(target=grants.look, daemon=True)
    thread.start()
    assert inside.wait(10)
    try:
        assert "run" not in host.tools
    finally:
        go.set()
        thread.join(10)


def test_s12_an_offer_of_replaced_bytes_takes_nothing_from_the_new_ones(world: World) -> None:
    bundle = world.bundle("one", RUN, tools={"run": "t.py:run"})
    host = world.host()
    world.approve(host, "one")
    assert host.plugins["one"].is_active
    text = (bundle / "plugin.yaml").read_text()
    write(bundle / "plugin.yaml", text.replace("name: run", "name: new").replace(":run", ":other"))
    world.approve(world.host(), "one")
    provider: Any = host._core.providers["lionplug tools"]
    assert provider.provide_tools(name="run", plugin=None) is None  # called without its gate
    assert host.tools.call("new") == 2


def test_s18_code_of_a_revoked_plugin_registers_nothing(world: World) -> None:
    world.bundle("bad", {"h.py": CHILD}, manifest=GREET)
    host = world.host()
    host.add_hookspecs(Specs)
    world.approve(host, "bad")
    manager, module = host._core.manager, module_of(host, "bad")
    module.enter(manager)
    assert host.hook.greet() == ["child", "bad"]
    world.host().revoke("bad")  # in another process; nobody looked yet
    with pytest.raises(NotGrantedError, match="bad can't register"):
        module.enter(manager)
    assert host.hook.greet() == []


def test_a_name_that_another_plugin_took_is_free_after_it(world: World) -> None:
    world.bundle("bad", {"h.py": CHILD}, manifest=GREET)
    world.bundle("good", {"h.py": "def greet():\n    return 'good'\n"}, manifest=GREET)
    host = world.host()
    host.add_hookspecs(Specs)
    world.approve(host, "bad")
    manager = host._core.manager
    child = module_of(host, "bad").enter(manager, "good")
    world.approve(host, "good")
    assert host.hook.greet() == ["child", "bad"]
    assert host.plugins["good"].failed == "something else is registered as 'good'"
    manager.unregister(child)
    host.plugins.refresh()
    assert host.hook.greet() == ["good", "bad"]
    assert host.plugins["good"].failed is None
    host.revoke("bad")
    assert host.hook.greet() == ["good"]


def test_a_stand_in_that_somebody_kept_says_what_became_of_it(world: World) -> None:
    bundle = world.bundle("one", {"h.py": "def greet():\n    return 1\n"}, manifest=GREET)
    host = world.host()
    world.approve(host, "one")
    kept: Any = host._core.manager.get_plugin("one")
    host.disable("one")
    with pytest.raises(AttributeError, match="one is disabled"):
        _ = kept.other
    host.enable("one")
    kept = host._core.manager.get_plugin("one")
    write(bundle / "h.py", "def greet():\n    return 2\n")
    world.approve(host, "one")
    with pytest.raises(AttributeError, match="one is changed"):
        _ = kept.other


def test_a_revocation_knows_of_code_that_was_imported_before_a_change(world: World) -> None:
    bundle = world.bundle("one", RUN, tools={"run": "t.py:run"})
    host = world.host()
    world.approve(host, "one")
    host.tools.call("run")
    write(bundle / "t.py", "x = 1\n")
    host.plugins.refresh()
    assert host.revoke("one").was_imported


def test_raised_limits_count_at_the_next_refresh(world: World) -> None:
    bundle = world.bundle("one", RUN, tools={"run": "t.py:run"})
    world.approve(world.host(), "one")
    write(world.user / "settings.yaml", "limits:\n  files: 1\n")
    write(bundle / "t.py", RUN["t.py"])  # to be compared by its content
    host = world.host()
    host.plugins.refresh()
    assert host.plugins["one"].state == "changed"
    write(world.user / "settings.yaml", "")
    host.plugins.refresh()
    assert host.plugins["one"].state == "active"


def test_a_refused_tool_is_explained_by_its_full_name_too(world: World) -> None:
    for name in ("one", "two"):
        world.bundle(name, RUN, tools={"run": "t.py:run"})
        world.approve(world.host(), name)
    host = world.host()
    for name in ("run", "one/run"):
        with pytest.raises(KeyError, match="both declare"):
            host.tools[name]


def test_a_text_that_no_path_can_be_is_told_as_any_other(world: World) -> None:
    host = world.host()
    with pytest.raises(PluginNotFoundError):
        host.plugins.find("a/\0")
    with pytest.raises(UsageError, match="can't be found"):
        host.digest("a/\0")
    with pytest.raises(LionplugError):
        host.revoke("a/\0")


def test_a_signature_in_an_unknown_form_is_as_one_that_is_not_known(world: World) -> None:
    world.bundle("one", {"h.py": "def greet():\n    return 1\n"}, manifest=GREET)
    world.bundle("two", RUN, tools={"run": "t.py:run"})
    for name in ("one", "two"):
        world.approve(world.host(), name)
    file = world.user / "trust.json"
    document = json.loads(file.read_text())
    for record in document["records"]:
        for signature in record["signatures"].values():
            signature["new"] = 1
    file.write_text(json.dumps(document))
    host = world.host()
    host.add_hookspecs(Specs)
    assert host.hook.greet() == [1]
    assert host.tools.call("run") == 1
    assert host.tools["run"].parameters is None


def test_who_only_calls_hooks_sees_a_plugin_that_is_enabled_elsewhere(world: World) -> None:
    world.bundle("one", {"h.py": "def greet():\n    return 1\n"}, manifest=GREET)
    host, other = world.host(), world.host()
    host.add_hookspecs(Specs)
    world.approve(host, "one")
    assert host.hook.greet() == [1]
    other.disable("one")
    assert host.hook.greet() == []
    assert host.hook.greet() == []  # it was taken out
    other.enable("one")
    host.hook.greet()  # the first call notices
    assert host.hook.greet() == [1]


def test_without_a_user_scope_there_is_no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = UserScope(path=None, source="none", home=None, moved=False, problem="no home")
    monkeypatch.setattr("lionplug.host.core.find_user_scope", lambda *args: nowhere)
    host = Host("lionplug", version="1.0.0")
    with pytest.raises(CapabilityNotFoundError):
        host.agents["one"]


def test_arguments_that_waited_are_checked_against_what_runs(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "def run(a: int):\n    return a\n"
    bundle = world.bundle("one", {"t.py": code}, tools={"run": "t.py:run"})
    host = world.host()
    world.approve(host, "one")
    original = anyio.to_thread.run_sync

    async def late(function: Any) -> Any:
        write(bundle / "t.py", code.replace("int", "str"))
        world.approve(world.host(), "one")
        return await original(function)

    monkeypatch.setattr(anyio.to_thread, "run_sync", late)
    with pytest.raises(ArgumentsError):
        anyio.run(host.tools.acall, "run", {"a": 1})
