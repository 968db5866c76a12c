"""What the gate adds to a hook call."""

from __future__ import annotations

import os
from typing import Any

import pluggy
import pytest

from lionplug import Host, hookspec
from tests.benchmarks.conftest import Worlds
from tests.benchmarks.paired import Round, interleave, loop
from tests.benchmarks.places import approve_all
from tests.benchmarks.table import AtMost, Table

pytestmark = pytest.mark.benchmark

SECTION = "Hook calls"

spec = pluggy.HookspecMarker("app")
impl = pluggy.HookimplMarker("app")


class PlainSpecs:
    @spec
    def ask(self, a: int, b: int) -> Any: ...


class Specs:
    @hookspec
    def ask(self, a: int, b: int) -> Any: ...


class Plugin:
    @staticmethod
    @impl
    def ask(a: int, b: int) -> int:
        return a


class EmptyWrapper:
    @staticmethod
    @impl(wrapper=True, tryfirst=True)
    def ask() -> Any:
        return (yield)


def plain(plugins: int) -> pluggy.PluginManager:
    manager = pluggy.PluginManager("app")
    manager.add_hookspecs(PlainSpecs)
    for number in range(plugins):
        manager.register(Plugin(), f"plugin-{number}")
    return manager


def wrapped(plugins: int) -> pluggy.PluginManager:
    manager = plain(plugins)
    manager.register(EmptyWrapper())
    return manager


def gated(worlds: Worlds, plugins: int) -> Host:
    world = worlds.make(f"hooks-{plugins}")
    names = [f"plugin-{number:03}" for number in range(plugins)]
    for name in names:
        world.bundle(
            name,
            {"h.py": "def ask(a, b):\n    return a\n"},
            manifest="capabilities:\n  hookimpls:\n    - {hook: ask, target: 'h.py:ask'}\n",
        )
    approve_all(world, store=names)
    host = world.host()
    host.add_hookspecs(Specs)
    return host


# With a hundred, the one Python frame that checks the grant of each plugin outweighs the rest.
AIMS = {1: AtMost(1.5), 10: AtMost(1.5)}


@pytest.mark.parametrize("plugins", [1, 10, 100])
def test_gated_call(table: Table, worlds: Worlds, plugins: int) -> None:
    host, raw = gated(worlds, plugins), plain(plugins)
    statement = "one.hook.ask(a=1, b=2)"
    for one in (host, raw):
        assert one.hook.ask(a=1, b=2) == [1] * plugins
    calls = max(5, 200 // plugins)
    times = interleave(
        {
            "gated": loop(statement, calls, one=host),
            "plain": loop(statement, calls, one=raw),
            "one plain": loop(statement, calls, one=plain(1)),
            "one wrapped": loop(statement, calls, one=wrapped(1)),
            "stat": loop("stat(path)", calls, stat=os.stat, path=str(host.user_scope.trust_file)),
        },
        rounds=501,
        warm_up=10,
    )

    def added(one: Round) -> float:
        return one["gated"] - one["plain"]

    def least(one: Round) -> float:
        return one["stat"] + one["one wrapped"] - one["one plain"]

    what = f"gated call, {plugins} lazy plugin{'s' if plugins > 1 else ''}"
    table.compare(
        SECTION,
        ("gated", "plain"),
        (what, "plain pluggy, the same functions, nothing checked"),
        times,
    )
    table.add(
        SECTION,
        f"what the gate adds, {plugins} lazy plugin{'s' if plugins > 1 else ''}",
        "floor: one `os.stat` and an empty pluggy wrapper",
        times.ratio(lambda one: added(one) / least(one)),
        (times.middle(added), times.middle(least)),
        AIMS.get(plugins),
    )
