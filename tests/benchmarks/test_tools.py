"""What it costs to call a tool, and that it does not grow with what else is installed."""

from __future__ import annotations

import json
import os
import subprocess
from statistics import median
from typing import Any

import pluggy
import pytest

from lionplug import Host
from tests.benchmarks.conftest import Worlds
from tests.benchmarks.paired import interleave, loop
from tests.benchmarks.places import approve_all, write_tools
from tests.benchmarks.table import AtLeast, AtMost, Table
from tests.support import World

pytestmark = pytest.mark.benchmark

SECTION = "Tool calls"

#: Names a Python that has ``lionagi``, whose format of plugins lionplug reads; without it,
#: the figure that was measured once is used.
REFERENCE = "LIONPLUG_BENCH_REFERENCE"

#: What its look-up took at 100 bundles, version 0.35, with nothing else running.
PUBLISHED_SECONDS = 14.055

spec = pluggy.HookspecMarker("app")
impl = pluggy.HookimplMarker("app")


class Specs:
    @spec(firstresult=True)
    def provide(self, name: str, plugin: str | None) -> Any: ...


class Provider:
    @staticmethod
    @impl
    def provide(name: str, plugin: str | None) -> Any:
        return (lambda: 1) if name else None


def host_with(worlds: Worlds, count: int) -> Host:
    world = worlds.make(f"tools-{count}")
    write_tools(world, count)
    approve_all(world, store=["bundle-0000"])
    host = world.host()
    assert sum(plugin.is_active for plugin in host.plugins.all) == count
    assert host.tools.call("tool_0000") == 1
    return host


def test_call_among_others(table: Table, worlds: Worlds) -> None:
    alone, among = host_with(worlds, 1), host_with(worlds, 1_001)
    manager = pluggy.PluginManager("app")
    manager.add_hookspecs(Specs)
    manager.register(Provider())
    statement = "tools.call('tool_0000')"
    times = interleave(
        {
            "alone": loop(statement, 100, tools=alone.tools),
            "among": loop(statement, 100, tools=among.tools),
            "pluggy": loop("hook.provide(name='a', plugin=None)()", 100, hook=manager.hook),
            "stat": loop("stat(path)", 100, stat=os.stat, path=alone.user_scope.trust_file),
        },
        rounds=151,
        warm_up=5,
    )
    table.compare(
        SECTION,
        ("among", "alone"),
        ("`host.tools.call` with 1,000 other active plugins", "the same call with none"),
        times,
        AtMost(1.1),
    )
    table.add(
        SECTION,
        "`host.tools.call` with no other plugin",
        "floor: three `os.stat` and a plain pluggy call that returns the function",
        times.ratio(lambda one: one["alone"] / (3 * one["stat"] + one["pluggy"])),
        (times.median("alone"), 3 * times.median("stat") + times.median("pluggy")),
    )


def shared_bundles(worlds: Worlds) -> World:
    """Return a world whose user scope is that of both implementations, with 100 bundles."""
    world = worlds.make("reference")
    world.user = world.root / "home/.lionagi"
    world.plugins()
    world.user.chmod(0o700)
    write_tools(world, 100, host="lionagi")
    approve_all(world, store=["bundle-0042"], host="lionagi")
    return world


#: Approves everything and looks one tool up, three times; prints the seconds.
REFERENCE_PROGRAM = """
import json, sys, time
from lionagi.plugins import PluginRegistry, discover_plugins, trust_plugin
for found in discover_plugins():
    trust_plugin(found)
seconds = []
for _ in range(int(sys.argv[1])):
    began = time.perf_counter()
    target = PluginRegistry.resolve_tool_target("tool_0042")
    seconds.append(time.perf_counter() - began)
    assert target.plugin_name == "bundle-0042", target
print(json.dumps(seconds))
"""


def reference_seconds(python: str, world: World, look_ups: int) -> list[float]:
    done = subprocess.run(
        [python, "-c", REFERENCE_PROGRAM, str(look_ups)],
        cwd=world.project,
        env={"HOME": str(world.user.parent), "PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seconds: list[float] = json.loads(done.stdout)
    return seconds


def test_call_against_the_reference(table: Table, worlds: Worlds) -> None:
    world = shared_bundles(worlds)
    host = world.host("lionagi", "0.36.0")
    assert host.tools.call("tool_0042") == 1
    python = os.environ.get(REFERENCE)
    if python:
        reference = median(reference_seconds(python, world, 3))
        text = "measured 3 times before"
    else:
        reference = PUBLISHED_SECONDS
        text = f"{PUBLISHED_SECONDS} s, measured on another day"
    times = interleave({"ours": loop("tools.call('tool_0042')", 100, tools=host.tools)}, 51)
    table.add(
        SECTION,
        f"look-up by lionagi's own registry, 100 plugins ({text})",
        "`host.tools.call`, the same 100 bundles",
        times.ratio(lambda one: reference / one["ours"]),
        (reference, times.median("ours")),
        AtLeast(10_000),
    )
