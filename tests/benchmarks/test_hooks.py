"""What the gate adds to a hook call."""

from __future__ import annotations

import os
from typing import Any

import pluggy
import pytest

from lionplug import Host, hookspec
from tests.benchmarks.conftest import Worlds
from tests.benchmarks.paired import interleave, loop
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


@pytest.mark.parametrize("plugins", [1, 10, 100])
def test_gated_call(table: Table, worlds: Worlds, plugins: int) -> None:
    host, raw, around = gated(worlds, plugins), plain(plugins), wrapped(plugins)
    expected = [1] * plugins
    for one in (host, raw, around):
        assert one.hook.ask(a=1, b=2) == expected
    calls = 2_000 // (plugins + 9)
    statement = "one.hook.ask(a=1, b=2)"
    times = interleave(
        {
            "gated": loop(statement, calls, one=host),
            "plain": loop(statement, calls, one=raw),
            "wrapped": loop(statement, calls, one=around),
            "stat": loop("stat(path)", calls, stat=os.stat, path=str(host.user_scope.trust_file)),
        },
        rounds=151,
        warm_up=5,
    )
    what = f"gated call, {plugins} lazy plugin{'s' if plugins > 1 else ''}"
    table.add(
        SECTION,
        f"{what}, above plain pluggy",
        "one `os.stat` and an empty pluggy wrapper",
        times.ratio(
            lambda one: (one["gated"] - one["plain"])
            / (one["stat"] + one["wrapped"] - one["plain"])
        ),
        (
            times.median("gated") - times.median("plain"),
            times.median("stat") + times.median("wrapped") - times.median("plain"),
        ),
        AtMost(1.5),
    )
    table.compare(
        SECTION,
        ("gated", "plain"),
        (what, "plain pluggy, the same functions, no check of anything"),
        times,
    )
