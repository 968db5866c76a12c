"""What the gate adds to a hook call."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from types import SimpleNamespace
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


def answer(a: int, b: int) -> int:
    return a


def empty() -> Any:
    return (yield)


def plain(plugins: int) -> pluggy.PluginManager:
    """Return pluggy as it is, with plain functions."""
    manager = pluggy.PluginManager("app")
    manager.add_hookspecs(PlainSpecs)
    for _ in range(plugins):
        manager.register(SimpleNamespace(ask=impl(wraps(answer)(lambda a, b: a))))
    return manager


def with_wrapper(manager: pluggy.PluginManager, steps: Callable[[], Any]) -> pluggy.PluginManager:
    """Add an outermost wrapper."""
    manager.register(SimpleNamespace(ask=impl(wrapper=True, tryfirst=True)(steps)))
    return manager


def statting(path: str) -> Callable[[], Any]:
    """Return the least of a wrapper that notices a change: it looks at a file."""
    look = os.stat

    def steps() -> Any:
        look(path)
        return (yield)

    return steps


def forwarding(plugins: int) -> pluggy.PluginManager:
    """Return pluggy with the least before each function that could check something."""

    def stand_in() -> Any:
        function = answer

        @wraps(function)
        def ask(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs) if kwargs else function(*args)

        return SimpleNamespace(ask=impl(ask))

    manager = pluggy.PluginManager("app")
    manager.add_hookspecs(PlainSpecs)
    for _ in range(plugins):
        manager.register(stand_in())
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


#: With a hundred plugins the frames in which their grants are checked outweigh all the rest.
AIMS = {1: AtMost(1.5), 10: AtMost(1.5)}


@pytest.mark.parametrize("plugins", [1, 10, 100])
def test_gated_call(table: Table, worlds: Worlds, plugins: int) -> None:
    host = gated(worlds, plugins)
    path = str(host.user_scope.trust_file)
    compared: dict[str, Any] = {
        "gated": host,
        "plain": plain(plugins),
        "least": with_wrapper(forwarding(plugins), statting(path)),
        "one plain": plain(1),
        "one wrapped": with_wrapper(plain(1), empty),
        "one statting": with_wrapper(plain(1), statting(path)),
    }
    for name, one in compared.items():
        assert one.hook.ask(a=1, b=2) == [1] * (1 if name.startswith("one") else plugins)
    calls = max(5, 200 // plugins)
    times = interleave(
        {
            **{name: loop("x.hook.ask(a=1, b=2)", calls, x=one) for name, one in compared.items()},
            "stat": loop("stat(path)", calls, stat=os.stat, path=path),
        },
        rounds=501,
        warm_up=10,
    )
    count = f"{plugins} lazy plugin{'s' if plugins > 1 else ''}"
    table.compare(
        SECTION,
        ("gated", "plain"),
        (f"gated call, {count}", "plain pluggy, the same functions, nothing checked"),
        times,
    )

    def added(one: Round) -> float:
        return one["gated"] - one["plain"]

    def together(one: Round) -> float:
        return one["one statting"] - one["one plain"]

    def apart(one: Round) -> float:
        return one["stat"] + one["one wrapped"] - one["one plain"]

    def least(one: Round) -> float:
        return one["least"] - one["plain"]

    def ratio(floor: Callable[[Round], float]) -> Callable[[Round], float]:
        return lambda one: added(one) / floor(one)

    # A `stat` alone in a loop is faster than one between other things.
    floors = [
        ("a wrapper that does one `os.stat`", together, AIMS.get(plugins)),
        (
            "an empty wrapper, plus one `os.stat` alone in a loop",
            apart,
            AtMost(1.5, gate=False) if plugins in AIMS else None,
        ),
        ("that wrapper, and a frame for each plugin that only passes on", least, None),
    ]
    for text, floor, aim in floors:
        table.add(
            SECTION,
            f"what the gate adds, {count}",
            f"floor: {text}",
            times.ratio(ratio(floor)),
            (times.middle(added), times.middle(floor)),
            aim,
        )
