"""What must not grow, counted: one machine is as good as another for these."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from lionplug import Host, hookspec
from lionplug.discovery.bundles import BundleScanner
from lionplug.discovery.found import ScopeFolder
from lionplug.manifest.parse import parse_manifest
from tests.benchmarks.places import ROOT, approve_all, write_tools
from tests.performance.counting import Counts, count
from tests.support import World


class Specs:
    @hookspec
    def ask(self, a: int) -> int:
        """Ask everybody."""
        raise AssertionError


def with_hooks(world: World, plugins: int) -> Host:
    names = [f"p{number:02}" for number in range(plugins)]
    for name in names:
        world.bundle(
            name,
            {"h.py": "def ask(a):\n    return a\n"},
            manifest="capabilities:\n  hookimpls:\n    - {hook: ask, target: 'h.py:ask'}\n",
        )
    approve_all(world, store=names)
    host = world.host()
    host.add_hookspecs(Specs)
    assert host.hook.ask(a=1) == [1] * plugins
    return host


@pytest.mark.parametrize("plugins", [1, 20])
def test_a_gated_call_asks_the_system_once(world: World, plugins: int) -> None:
    host = with_hooks(world, plugins)
    assert count(lambda: host.hook.ask(a=1)).system == Counter(stat=1)


def test_each_further_plugin_costs_a_hook_call_the_same(tmp_path: Path) -> None:
    functions = []
    for plugins in (1, 2, 12):
        folder = tmp_path / str(plugins)
        folder.mkdir(mode=0o700)
        host = with_hooks(World(folder), plugins)
        functions.append(count(partial(host.hook.ask, a=1)).functions)
        host.close()
    one, two, twelve = functions
    each = two - one
    assert twelve - two == 10 * each
    assert each <= 3  # the proxy, the question for the grant, the plugin's function


def of_a_tool_call(world: World, plugins: int) -> Counts:
    write_tools(world, plugins)
    approve_all(world, store=["bundle-0000"])
    host = world.host()
    assert sum(plugin.is_active for plugin in host.plugins.all) == plugins
    assert host.tools.call("tool_0000") == 1
    return count(lambda: host.tools.call("tool_0000"))


def test_a_tool_call_does_the_same_with_200_other_plugins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("alone", "among"):
        (tmp_path / name).mkdir(mode=0o700)
    alone, among = World(tmp_path / "alone"), World(tmp_path / "among")
    monkeypatch.chdir(alone.project)
    try:
        few, many = of_a_tool_call(alone, 1), of_a_tool_call(among, 201)
    finally:
        for world in (alone, among):
            world.hosts[0].close()
    assert few == many
    # The file of approvals, the live manifest, the tool's own file.
    assert many.system == Counter(stat=3)


@pytest.mark.parametrize("bundles", [3, 60])
def test_a_second_scan_opens_no_manifest(world: World, bundles: int) -> None:
    write_tools(world, bundles)
    scanner = BundleScanner(partial(parse_manifest, host="lionplug"))
    user = str(world.user)
    scopes = [ScopeFolder(kind="user", directory=user, root=user, rank=0)]

    def scan() -> None:
        assert len(scanner.scan(scopes).bundles) == bundles

    first, second = count(scan).system, count(scan).system
    assert second["open"] < first["open"]
    assert second["open"] == 1  # the folder itself
    assert second["stat"] == bundles
    assert second["read"] == 0


PROGRAM = """
import __future__, json, sys  # the first: a name for the compiler, used everywhere
sys.path[:0] = json.loads(sys.argv[1])
before = set(sys.modules)
opened = []
sys.addaudithook(lambda event, args: opened.append(args[0]) if event == "open" else None)
exec(sys.argv[2])
modules = sorted(set(sys.modules) - before)
print(json.dumps([modules, [path for path in opened if isinstance(path, str)]]))
"""


def run_fresh(code: str) -> tuple[list[str], list[str]]:
    """Return the modules that a line of code loads in a fresh process, and what it opens."""
    paths = json.dumps([str(ROOT), str(ROOT / "hookspecs"), str(ROOT / "contrib")])
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", PROGRAM, paths, code],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    modules, opened = json.loads(done.stdout)
    return modules, opened


def test_importing_lionplug_loads_lionplug_alone() -> None:
    modules, opened = run_fresh("import lionplug")
    assert modules == ["lionplug"]
    assert all(path.startswith(str(ROOT / "lionplug")) for path in opened)


def test_making_a_host_opens_no_file_but_its_own_modules() -> None:
    modules, opened = run_fresh("from lionplug import Host; Host('app', version='1.0')")
    own = [name for name in modules if name.partition(".")[0] == "lionplug"]
    assert own == ["lionplug", "lionplug.host", "lionplug.imports", "lionplug.workdir"]
    assert not {"yaml", "json", "re", "pluggy", "attr", "inspect", "logging"} & set(modules)
    # Python 3.10 has ``os`` and its like in files, not in the interpreter.
    known = (str(ROOT / "lionplug"), os.path.dirname(os.__file__))
    assert [path for path in opened if not path.startswith(known)] == []
