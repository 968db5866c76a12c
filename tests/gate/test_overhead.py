"""What the gate costs a hook call, against pluggy alone, in one interleaved run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns
from types import SimpleNamespace
from typing import Any

import pluggy
import pytest

from lionplug.activation.manager import HookManager
from lionplug.activation.proxies import LazyHook
from lionplug.activation.stand_in import LazyPlugin
from lionplug.gate import Policy
from tests.gate.support import Specs, impl, own

ROUNDS, CALLS = 150, 100


def answer(a: Any, b: Any) -> Any:
    return a


class TrustWatch:
    """Looks at a file as a host does: one ``stat`` and a comparison."""

    def __init__(self, path: str) -> None:
        self.look = _make_look(path)

    def policy(self) -> Policy:
        return Policy(self.look, lambda record: None)


def _make_look(path: str) -> Callable[[], int]:
    stat = os.stat
    now = stat(path)
    changed, modified, inode = now.st_ctime_ns, now.st_mtime_ns, now.st_ino
    size, device = now.st_size, now.st_dev

    def look() -> int:
        now = stat(path)
        if (
            now.st_ctime_ns != changed
            or now.st_ino != inode
            or now.st_mtime_ns != modified
            or now.st_size != size
            or now.st_dev != device
        ):
            raise AssertionError("nobody touches the file")
        return 1

    return look


def plain(plugins: int) -> Any:
    manager = pluggy.PluginManager("host")
    manager.add_hookspecs(Specs)
    for _ in range(plugins):
        manager.register(own(ask=impl(lambda a, b: a)))
    return manager.hook.ask


def wrapped(plugins: int) -> Any:
    manager = pluggy.PluginManager("host")
    manager.add_hookspecs(Specs)
    for _ in range(plugins):
        manager.register(own(ask=impl(lambda a, b: a)))

    def steps() -> Any:
        return (yield)

    manager.register(own(ask=impl(wrapper=True, tryfirst=True)(steps)))
    return manager.hook.ask


def lazy(plugins: int, watch: TrustWatch) -> Any:
    """One stand-in per plugin: hooks implemented by function."""
    manager = HookManager("host", watch.policy())
    manager.add_hookspecs(Specs)
    manager.set_lazy(
        [
            (
                name,
                LazyPlugin(
                    name,
                    hooks=[LazyHook(hook="ask", resolve=lambda: answer, arguments=("a", "b"))],
                    grant=SimpleNamespace(stands=True),
                    policy=watch.policy(),
                    load=lambda: (),
                    state=lambda: "active",
                ),
            )
            for name in (f"p{number}" for number in range(plugins))
        ]
    )
    return manager.hook.ask


def loader(watch: TrustWatch) -> Any:
    """One object that serves all plugins from an index: surfaces."""
    manager = HookManager("host", watch.policy())
    manager.add_hookspecs(Specs)
    grant = SimpleNamespace(stands=True)
    index = {f"p{number}": answer for number in range(10)}

    def ask(a: Any, b: Any) -> Any:
        return index["p0"](a, b) if grant.stands else None

    manager.set_lazy([("loader", own(ask=impl(ask)))])
    return manager.hook.ask


def _call(hook: Any) -> Callable[[], Any]:
    return lambda: hook(a=1, b=2)


def measure(functions: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the least time of one call of each, in microseconds."""
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(ROUNDS):
        for name, function in functions.items():
            began = perf_counter_ns()
            for _ in range(CALLS):
                function()
            best[name] = min(best[name], (perf_counter_ns() - began) / CALLS / 1000)
    return best


def ratios(tmp_path: Path, plugins: int) -> dict[str, float]:
    """Return the cost of gated calls over plain ones, in units of a stat and an empty wrapper."""
    path = str(tmp_path / "trust.json")
    Path(path).write_text("{}")
    watch = TrustWatch(path)
    hooks = {
        "plain": plain(plugins),
        "wrapped": wrapped(plugins),
        "lazy": lazy(plugins, watch),
        "loader": loader(watch),
    }
    calls: dict[str, Callable[[], Any]] = {name: _call(hook) for name, hook in hooks.items()}
    best = measure({**calls, "stat": lambda: os.stat(path)})
    unit = best["stat"] + best["wrapped"] - best["plain"]
    print(
        f"\n{plugins} plugin(s), microseconds:",
        {name: round(value, 2) for name, value in best.items()},
    )
    found = {name: (best[name] - best["plain"]) / unit for name in ("lazy", "loader")}
    print("overhead in units of (one stat + an empty wrapper):", found)
    return found


@pytest.mark.benchmark
def test_the_gate_costs_a_stat_and_a_wrapper(tmp_path: Path) -> None:
    # The machine may be busy: the best of three runs says what the code costs.
    one = [ratios(tmp_path, 1) for _ in range(3)]
    ten = [ratios(tmp_path, 10) for _ in range(3)]
    assert min(run["loader"] for run in one) <= 1.5
    assert min(run["loader"] for run in ten) <= 1.5
    # Each stand-in adds a function call and a look at its grant of its own.
    assert min(run["lazy"] for run in one) <= 1.6
    assert min(run["lazy"] for run in ten) <= 1.6 + 9 * 0.1
