"""Hooks that bundles implement by function: lazy, granted on each call, in a stable order."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import os
import sys
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pluggy
import pytest

import lionplug
from lionplug import Host, hookimpl, hookspec
from tests.support import World, marker_module, write


class Specs:
    @hookspec
    def greet(self, name: str, loud: bool) -> str:
        """Greet somebody."""
        raise AssertionError

    @hookspec(firstresult=True)
    def pick(self, name: str) -> str:
        """Pick one."""
        raise AssertionError

    @hookspec(historic=True)
    def began(self, when: int) -> None:
        """Told once that the host began."""


def hooks(*entries: str) -> str:
    return "capabilities:\n  hookimpls:\n" + "".join(f"    - {{{entry}}}\n" for entry in entries)


def greeter(
    world: World, name: str, *, scope: str = "user", options: str = "", marker: bool = False
) -> None:
    code = f"def greet(name):\n    return '{name} ' + name\n"
    if marker:
        code = marker_module(world.root / f"{name}-imported", code)
    world.bundle(
        name,
        {"h.py": code},
        manifest=hooks(f"hook: greet, target: 'h.py:greet'{options}"),
        scope=scope,
    )


def host_with_specs(world: World) -> Host:
    host = world.host()
    host.add_hookspecs(Specs)
    return host


def test_a_hook_is_imported_on_the_first_call_and_only_then(world: World) -> None:
    greeter(world, "one", marker=True)
    host = host_with_specs(world)
    world.approve(host, "one")
    marker = world.root / "one-imported"
    assert host.hook.pick(name="x") is None
    assert host.hook.greet.get_hookimpls()
    assert not marker.exists()
    assert host.hook.greet(name="you", loud=True) == ["one you"]
    assert marker.exists()
    (row,) = host.activations
    assert (row.module, row.plugin, row.hook) == ("h.py", "one", "greet")


def test_untrusted_plugins_are_never_handed_to_pluggy(world: World) -> None:
    greeter(world, "one", marker=True)
    host = host_with_specs(world)
    assert host.hook.greet(name="you", loud=True) == []
    assert host.hook.greet.get_hookimpls() == []
    assert not (world.root / "one-imported").exists()


def call_order(host: Host) -> list[str]:
    return [str(answer).split()[0] for answer in host.hook.greet(name="x", loud=False)]


def test_order_after_any_change_equals_order_in_a_fresh_process(world: World) -> None:
    class Own:
        @hookimpl
        def greet(self) -> str:
            return "host"

    for name in ("d", "a", "c", "b"):
        greeter(world, name, options=", tryfirst: true" if name == "b" else "")
    greeter(world, "near", scope="project")
    host = host_with_specs(world)
    host.register(Own())
    for name in ("c", "near", "a"):
        world.approve(host, name)
    assert call_order(host)[-1] == "host"
    world.approve(host, "d")
    world.approve(host, "b")
    host.disable("a")
    host.enable("a")

    class Late:
        @hookimpl
        def greet(self) -> str:
            return "late"

    host.register(Late())
    fresh = host_with_specs(world)
    fresh.register(Own())
    fresh.register(Late())
    assert call_order(host) == call_order(fresh) == ["b", "near", "d", "c", "a", "late", "host"]


def test_a_wrapper_wraps_and_without_grant_it_passes_through(world: World) -> None:
    world.bundle(
        "wrap",
        {"h.py": "def pick(name):\n    result = yield\n    return f'[{result}]'\n"},
        manifest=hooks("hook: pick, target: 'h.py:pick', wrapper: true"),
    )

    class Own:
        @hookimpl
        def pick(self, name: str) -> str:
            return name

    host = host_with_specs(world)
    host.register(Own())
    world.approve(host, "wrap")
    assert host.hook.pick(name="x") == "[x]"
    impls = host.hook.pick.get_hookimpls()
    world.host().revoke("wrap")
    assert host.hook.pick(name="x") == "x"
    assert impls


def test_arguments_with_defaults_behave_as_in_pluggy(world: World) -> None:
    world.bundle(
        "one",
        {"h.py": "def greet(name, loud='default'):\n    return loud\n"},
        manifest=hooks("hook: greet, target: 'h.py:greet'"),
    )
    host = host_with_specs(world)
    world.approve(host, "one")

    class Plain:
        @hookimpl
        def greet(self, name: str, loud: Any = "default") -> Any:
            return loud

    manager = pluggy.PluginManager("lionplug")
    manager.add_hookspecs(Specs)
    manager.register(Plain())
    assert host.hook.greet(name="x", loud=True) == manager.hook.greet(name="x", loud=True)


@pytest.fixture
def revoked(world: World) -> tuple[Host, Any]:
    """A host with an active plugin, and its implementation; another process revokes it."""
    greeter(world, "one", marker=True)
    host = host_with_specs(world)
    world.approve(host, "one")
    (impl,) = [one for one in host.hook.greet.get_hookimpls() if one.plugin_name == "one"]
    world.host().revoke("one")
    return host, impl


def test_impl_function_does_not_slip_through(world: World, revoked: tuple[Host, Any]) -> None:
    _, impl = revoked
    assert impl.function("you") is None
    assert not (world.root / "one-imported").exists()


def test_a_subset_does_not_slip_through(world: World, revoked: tuple[Host, Any]) -> None:
    host, _ = revoked
    caller = host._core.manager.subset_hook_caller("greet", remove_plugins=[])
    assert caller(name="you", loud=True) == []


def test_a_later_outer_wrapper_neither_breaks_nor_opens(world: World) -> None:
    greeter(world, "one", marker=True)
    host = host_with_specs(world)
    world.approve(host, "one")

    class Outer:
        @hookimpl(wrapper=True, tryfirst=True)
        def greet(self) -> Generator[None, Any, Any]:
            if world.host().plugins["one"].is_active:
                world.host().revoke("one")
            return (yield)

    host.register(Outer())
    # The gate had looked before the revocation; the import looks again.
    assert host.hook.greet(name="x", loud=False) == []
    assert host.hook.greet(name="x", loud=False) == []


def test_historic_calls_are_answered_and_checked(world: World) -> None:
    heard = world.root / "heard"
    world.bundle(
        "one",
        {
            "h.py": f"def began(when):\n    with open({str(heard)!r}, 'a') as file:\n"
            "        file.write(str(when))\n"
        },
        manifest=hooks("hook: began, target: 'h.py:began'"),
    )
    host = host_with_specs(world)
    host.hook.began.call_historic(kwargs={"when": 1})
    assert not heard.exists()
    world.approve(host, "one")
    assert heard.read_text() == "1"
    host.hook.began.call_historic(kwargs={"when": 2})
    host.register(type("Any", (), {})())
    host.plugins.refresh()
    assert heard.read_text() == "12"
    world.host().revoke("one")
    host.hook.began.call_historic(kwargs={"when": 3})
    assert heard.read_text() == "12"


def test_hooks_whose_spec_arrives_later_answer_from_then_on(world: World) -> None:
    greeter(world, "one")
    host = world.host()
    world.approve(host, "one")
    assert host.plugins["one"].state == "active"
    host.add_hookspecs(Specs)
    assert host.hook.greet(name="x", loud=False) == ["one x"]


@pytest.mark.parametrize("how", ["task", "copied context", "thread", "executor", "callback"])
def test_s18_what_outlives_a_hook_asks_again(world: World, how: str) -> None:
    greeter(world, "one")
    host = host_with_specs(world)
    world.approve(host, "one")
    later: list[Any] = []

    def ask() -> None:
        later.append(host.hook.greet(name="later", loud=False))

    class Own:
        @hookimpl(tryfirst=True)
        def pick(self, name: str) -> str:
            context = contextvars.copy_context()
            kept.append(context)
            return "x"

    kept: list[contextvars.Context] = []
    host.register(Own())
    assert host.hook.greet(name="now", loud=False) == ["one now"]
    host.hook.pick(name="x")
    world.host().revoke("one")
    if how == "copied context":
        kept[0].run(ask)
    elif how == "thread":
        thread = threading.Thread(target=lambda: kept[0].run(ask))
        thread.start()
        thread.join()
    elif how == "executor":
        with ThreadPoolExecutor(1) as pool:
            pool.submit(kept[0].run, ask).result()
    elif how == "task":

        async def main() -> None:
            await asyncio.get_running_loop().create_task(asyncio.to_thread(kept[0].run, ask))

        asyncio.run(main())
    else:

        async def main() -> None:
            asyncio.get_running_loop().call_soon(ask, context=kept[0])
            await asyncio.sleep(0.01)

        asyncio.run(main())
    assert later == [[]]


def test_s18_what_a_plugin_registers_is_withdrawn_with_it(world: World) -> None:
    world.bundle(
        "one",
        {
            "h.py": "manager = None\nclass Child:\n    from lionplug import hookimpl\n"
            "    @hookimpl\n    def greet(self, name):\n        return 'child ' + name\n"
            "def pick(name):\n    manager.register(Child())\n    return 'x'\n"
        },
        manifest=hooks("hook: pick, target: 'h.py:pick'"),
    )
    host = host_with_specs(world)
    world.approve(host, "one")
    stand_in: Any = host._core.manager.get_plugin("one")
    sys.modules[stand_in.Child.__module__].manager = host._core.manager  # type: ignore[attr-defined]
    assert host.hook.pick(name="x") == "x"
    assert host.hook.greet(name="x", loud=False) == ["child x"]
    host.revoke("one")
    assert host.hook.greet(name="x", loud=False) == []


def test_a_failing_plugin_contributes_nothing_and_the_others_answer(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    greeter(world, "good")
    world.bundle("bad", {"h.py": "1 / 0\n"}, manifest=hooks("hook: greet, target: 'h.py:greet'"))
    host = host_with_specs(world)
    world.approve(host, "good")
    world.approve(host, "bad")
    with caplog.at_level(logging.WARNING, logger="lionplug"):
        for _ in range(3):
            assert host.hook.greet(name="x", loud=False) == ["good x"]
    failures = [record for record in caplog.records if "bad" in record.getMessage()]
    assert len(failures) == 1
    assert "h.py:1" in failures[0].getMessage()
    assert host.plugins["bad"].failed


def test_a_child_after_fork_goes_on(world: World) -> None:
    greeter(world, "one")
    host = host_with_specs(world)
    world.approve(host, "one")
    pid = os.fork()
    if pid == 0:
        os._exit(0 if host.hook.greet(name="x", loud=False) == ["one x"] else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert host.hook.greet(name="x", loud=False) == ["one x"]


def test_refusals_are_kept_and_logged_once_for_each_generation(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    greeter(world, "one")
    host = host_with_specs(world)
    world.approve(host, "one")
    bundle = world.plugins() / "one"
    (impl,) = [one for one in host.hook.greet.get_hookimpls() if one.plugin_name == "one"]
    write(bundle / "h.py", "def greet(name):\n    return 'evil'\n")
    with caplog.at_level(logging.WARNING, logger="lionplug"):
        assert host.hook.greet(name="x", loud=False) == []
        assert impl.function("x") is None
    assert host.plugins["one"].state == "changed"
    assert len(host.plugins.refusals) >= 1
    assert "one" in host.plugins.refusals[0]
    assert lionplug.LionplugError is not None
