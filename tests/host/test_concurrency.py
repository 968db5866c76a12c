"""Threads that call while others refresh, approve, revoke and close; and what comes after."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from lionplug import Host, hookimpl, hookspec
from lionplug.discovery.bundles import BundleScanner
from lionplug.errors import CapabilityNotFoundError, LionplugError
from lionplug.trust.store import Store
from lionplug_hookspecs.tools import ToolDeclaration
from tests.support import World, counter_code, write

RUN = {"t.py": "def run():\n    return 1\n"}
TOOL = {"run": "t.py:run"}


class Specs:
    @hookspec
    def greet(self) -> None:
        """Greet."""

    @hookspec(historic=True)
    def began(self) -> None:
        """Told once that the host began."""


def greeter(world: World, name: str) -> None:
    world.bundle(
        name,
        {"h.py": f"def greet():\n    return {name!r}\n"},
        manifest="capabilities:\n  hookimpls:\n    - {hook: greet, target: 'h.py:greet'}\n",
    )


def host_with_specs(world: World) -> Host:
    host = world.host()
    host.add_hookspecs(Specs)
    return host


def in_threads(*functions: Callable[[], Any]) -> list[Any]:
    """Run functions at once; return what they gave or raised."""
    results: list[Any] = [None] * len(functions)
    start = threading.Barrier(len(functions))

    def run(place: int) -> None:
        start.wait()
        try:
            results[place] = functions[place]()
        except Exception as error:  # noqa: BLE001 - the test looks at it
            results[place] = error

    threads = [threading.Thread(target=run, args=(n,), daemon=True) for n in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive(), "a thread hangs"
    return results


def test_an_approval_elsewhere_reaches_who_only_calls_hooks(world: World) -> None:
    greeter(world, "one")
    greeter(world, "two")
    world.approve(world.host(), "one")
    host = host_with_specs(world)
    assert host.hook.greet() == ["one"]
    world.approve(world.host(), "two")
    host.hook.greet()  # the first call notices
    assert host.hook.greet() == ["two", "one"]
    world.host().revoke("two")
    assert host.hook.greet() == ["one"]
    world.approve(world.host(), "two")
    host.hook.greet()
    assert host.hook.greet() == ["two", "one"]


def test_s18_nothing_is_imported_after_a_revocation_returned(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = world.root / "imported"
    world.bundle("one", {"t.py": counter_code(marker) + RUN["t.py"]}, tools=TOOL)
    world.approve(world.host(), "one")
    host = world.host()
    assert host.plugins["one"].is_active
    original = Store.verify

    def verify(self: Store, tree: Any) -> None:
        original(self, tree)
        world.host().revoke("one")

    monkeypatch.setattr(Store, "verify", verify)
    with pytest.raises(LionplugError):
        host.tools.call("run")
    assert not marker.exists()
    assert not [name for name in sys.modules if name.startswith("lionplug.bundles.one_")]


def test_an_edit_that_is_undone_leaves_the_plugin_answering(world: World) -> None:
    greeter(world, "one")
    bundle = world.plugins() / "one"
    good = (bundle / "h.py").read_text()
    world.approve(world.host(), "one")
    host = host_with_specs(world)
    relay = host.hook
    write(bundle / "h.py", "# edited\n" + good)
    assert relay.greet() == []
    write(bundle / "h.py", good)
    host.plugins.refresh()
    assert host.plugins["one"].state == "active"
    assert host.hook.greet() == ["one"]


def test_threads_that_ask_first_share_one_scan(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.bundle("one")
    scans: list[int] = []
    original = BundleScanner.scan

    def scan(self: BundleScanner, scopes: Any) -> Any:
        scans.append(1)
        return original(self, scopes)

    monkeypatch.setattr(BundleScanner, "scan", scan)
    host = world.host()
    results = in_threads(*[lambda: [plugin.name for plugin in host.plugins]] * 8)
    assert results == [["one"]] * 8
    assert len(scans) == 1
    assert host.hook is not None
    assert len(scans) == 2  # hooks are settled now, so states are judged anew


def test_no_question_is_answered_by_an_older_inventory(world: World) -> None:
    for number in range(6):
        world.bundle(f"p{number}", RUN, tools={f"t{number}": "t.py:run"})
    host = world.host()
    stop = threading.Event()

    def disturb() -> None:
        while not stop.is_set():
            host.plugins.refresh()

    def approve_and_call() -> list[Any]:
        try:
            answers = []
            for number in range(6):
                world.approve(host, f"p{number}")
                answers.append(host.tools.call(f"t{number}"))
            return answers
        finally:
            stop.set()

    assert in_threads(disturb, disturb, approve_and_call)[2] == [1] * 6


def test_replayed_history_that_asks_the_host_waits_for_nobody(world: World) -> None:
    host = host_with_specs(world)
    host.hook.began.call_historic()

    class Own:
        @hookimpl
        def began(self) -> None:
            for _ in range(50):
                assert "nothing" not in host.tools
                host.plugins.refresh()

    def refresh() -> None:
        for _ in range(50):
            host.plugins.refresh()

    assert in_threads(lambda: host.register(Own()), refresh, refresh)[1:] == [None, None]


def test_a_hook_of_the_host_may_wait_for_a_thread_that_asks_the_host(world: World) -> None:
    world.bundle("one", RUN, tools=TOOL)
    world.approve(world.host(), "one")
    host = world.host()
    heard: list[Any] = []

    class Own:
        @hookimpl
        def list_tools(self) -> list[ToolDeclaration]:
            thread = threading.Thread(target=lambda: heard.append(len(host.plugins.all)))
            thread.start()
            thread.join(5)
            assert not thread.is_alive()
            return []

    host.register(Own())
    assert host.tools.call("run") == 1
    assert 1 in heard


def test_hosts_that_share_a_scope_do_not_end_each_other(world: World) -> None:
    world.bundle("one", RUN, tools=TOOL)
    world.approve(world.host(), "one")

    def come_and_go() -> list[Any]:
        answers = []
        for _ in range(40):
            host = Host("lionplug", version="1.0.0", user_dir=str(world.user))
            answers.append(host.tools.call("run"))
            host.close()
        return answers

    assert in_threads(come_and_go, come_and_go, come_and_go) == [[1] * 40] * 3


def test_what_a_plugin_registers_is_not_the_hosts_own(world: World) -> None:
    code = """
from lionplug import hookimpl
from lionplug_hookspecs.tools import ToolDeclaration

manager = None

class Child:
    @hookimpl
    def list_tools(self):
        return [ToolDeclaration(name="run", plugin="x", description="", parameters=None,
                                is_async=False)]

def greet():
    manager.register(Child())
    return "child"
"""
    world.bundle(
        "bad",
        {"h.py": code},
        manifest="capabilities:\n  hookimpls:\n    - {hook: greet, target: 'h.py:greet'}\n",
    )
    world.bundle("good", RUN, tools=TOOL)
    host = host_with_specs(world)
    world.approve(host, "bad")
    world.approve(host, "good")
    stand_in: Any = host._core.manager.get_plugin("bad")
    sys.modules[stand_in.Child.__module__].manager = host._core.manager  # type: ignore[attr-defined]
    assert host.hook.greet() == ["child"]
    host.plugins.refresh()
    assert host.plugins["good"].refused_names == ()
    assert host.tools.call("run") == 1


def test_a_closed_host_answers_with_nothing_for_good(world: World) -> None:
    greeter(world, "one")
    world.bundle("two", RUN, tools=TOOL)
    host = host_with_specs(world)
    world.approve(host, "one")
    world.approve(host, "two")
    function = host.hook.provide_tools(name="run", plugin=None)
    tool = host.tools["run"]
    host.close()
    assert host.plugins.all == ()
    assert host.plugins.refresh() == ((), (), ())
    host.register(object())
    assert host.hook.greet() == []
    with pytest.raises(CapabilityNotFoundError):
        tool.call()
    assert function() == 1  # a raw function that was passed on is beyond revocation
    host.close()


def test_looking_at_plugins_while_they_come_and_go(world: World) -> None:
    for number in range(4):
        greeter(world, f"p{number}")
    host = host_with_specs(world)
    for number in range(4):
        world.approve(host, f"p{number}")
    manager = host._core.manager
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            manager.get_plugins()
            manager.list_name_plugin()
            manager.get_name(host)

    def change() -> None:
        try:
            for _ in range(15):
                host.disable("p1")
                host.enable("p1")
        finally:
            stop.set()

    assert in_threads(look, look, change) == [None, None, None]


def test_a_hook_that_does_not_fit_is_shown_as_a_failure(world: World) -> None:
    world.bundle(
        "one",
        {"h.py": "def greet(whom):\n    return 1\n"},
        manifest="capabilities:\n  hookimpls:\n    - {hook: greet, target: 'h.py:greet'}\n",
    )
    host = host_with_specs(world)
    world.approve(host, "one")
    assert host.hook.greet() == []
    assert host.plugins["one"].failed == (
        "hook greet: its function takes whom, and the hook gives nothing; its author must "
        "correct the function or its entry in plugin.yaml"
    )
    assert host.plugins.needs_attention == (host.plugins["one"],)


@pytest.mark.parametrize("version", ["abc", "", 1.0, None])
def test_a_host_needs_a_version(world: World, version: Any) -> None:
    host = Host("lionplug", version=version, user_dir=str(world.user))
    with pytest.raises(ValueError, match="is no version"):
        host.plugins.all  # noqa: B018
