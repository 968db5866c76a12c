"""The first call of a tool, which imports it, against importing the same module."""

from __future__ import annotations

import compileall
import sys
from collections.abc import Callable, Iterator
from importlib import import_module, invalidate_caches
from pathlib import Path

import pytest

from lionplug import Host
from tests.benchmarks.conftest import Worlds
from tests.benchmarks.paired import interleave, once
from tests.benchmarks.places import approve_all
from tests.benchmarks.table import Table

pytestmark = pytest.mark.benchmark

SECTION = "Activation"

ROUNDS, WARM_UP = 21, 3

FUNCTION = '''
def step_{number}(values, limit=10):
    """Keep the values below a limit."""
    kept = []
    for value in values:
        if value < limit and value != {number}:
            kept.append(value * {number})
    return sorted(kept)

'''


def source(lines: int) -> str:
    functions = lines // len(FUNCTION.splitlines())
    return "def run(): return 1\n\n" + "".join(
        FUNCTION.format(number=number) for number in range(functions)
    )


def compile_and_run(path: Path) -> None:
    """Do what an import without a cache can't do without."""
    text = path.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "floor"}
    exec(compile(text, str(path), "exec"), names)


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def one_by_one(names: list[str], function: Callable[[str], object]) -> Callable[[], object]:
    """Return a function that does something with the next name each time."""
    rest: Iterator[str] = iter(names)
    return lambda: function(next(rest))


def make_host(worlds: Worlds, names: list[str], text: str) -> Host:
    world = worlds.make(f"activation-{len(text)}")
    for name in names:
        plugin = name.replace("_", "-")
        world.bundle(plugin, {"tool.py": text}, tools={name: "tool.py:run"})
    approve_all(world, store=[name.replace("_", "-") for name in names])
    host = world.host()
    assert len(list(host.tools)) == len(names)
    return host


@pytest.mark.parametrize("lines", [2, 50, 2_000])
def test_first_call(table: Table, worlds: Worlds, modules: Path, lines: int) -> None:
    names = [f"module_{lines}_{number}" for number in range(ROUNDS + WARM_UP)]
    text = source(lines)
    for name in names:
        (modules / f"{name}.py").write_text(text, encoding="utf-8")
    compileall.compile_dir(modules, quiet=2)
    invalidate_caches()
    host = make_host(worlds, names, text)
    times = interleave(
        {
            "first": once(one_by_one(names, host.tools.call)),
            "import": once(one_by_one(names, lambda name: import_module(name).run())),
            "compile": once(
                one_by_one(names, lambda name: compile_and_run(modules / f"{name}.py"))
            ),
        },
        ROUNDS,
        WARM_UP,
    )
    for name in names:
        del sys.modules[name]
    what = f"first call of a tool, {lines:,} lines"
    table.compare(
        SECTION,
        ("first", "compile"),
        (what, "floor without a code cache: read, compile, execute"),
        times,
    )
    table.compare(SECTION, ("first", "import"), (what, "importing it with its `.pyc`"), times)
