"""Killed at any instant, the user scope is whole and the next command goes on from it."""

from __future__ import annotations

import random
import subprocess
import sys
import textwrap
import time

import pytest

from lionplug.errors import CapabilityNotFoundError
from tests.support import World

VERBS = """
    import random, sys
    import lionplug

    host = lionplug.Host("lionplug", version="1.0.0", user_dir=sys.argv[1])
    names = sys.argv[3:]
    choose = random.Random(int(sys.argv[2]))
    host.plugins.all
    print("ready", flush=True)
    while True:
        name = choose.choice(names)
        try:
            verb = choose.choice(["trust", "trust", "revoke", "disable", "enable", "call"])
            if verb == "trust":
                host.trust(name, approve=lambda disclosure: True)
            elif verb == "call":
                host.tools.call(f"t-{name}")
            else:
                getattr(host, verb)(name)
        except lionplug.LionplugError:
            pass
"""


def start(world: World, seed: int, names: list[str]) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(VERBS), str(world.user), str(seed), *names],
        stdout=subprocess.PIPE,
        text=True,
        cwd=world.project,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


@pytest.mark.long
@pytest.mark.parametrize("processes", [1, 4])
def test_s15_a_kill_at_any_instant_loses_and_invents_nothing(world: World, processes: int) -> None:
    names = [f"p{number}" for number in range(3)]
    for name in names:
        world.bundle(
            name, {"t.py": f"def run(): return {name!r}\n"}, tools={f"t-{name}": "t.py:run"}
        )
    choose = random.Random(7)
    for round_ in range(30 // processes):
        running = [start(world, round_ * 10 + n, names) for n in range(processes)]
        time.sleep(choose.uniform(0.02, 0.6))
        for process in running:
            end(process)
        host = world.host()
        assert host.plugins.notices == ()
        for name in names:
            plugin = host.plugins[name]
            assert plugin.state in ("active", "untrusted", "disabled")
            if plugin.is_active:
                assert host.tools.call(f"t-{name}") == name
            else:
                with pytest.raises(CapabilityNotFoundError):
                    host.tools.call(f"t-{name}")
        host.close()
    host = world.host()
    for name in names:
        host.enable(name)
        host.trust(name, approve=lambda disclosure: True)
        assert host.tools.call(f"t-{name}") == name
    assert list((world.user / "staging").iterdir()) == []
    kept = {plugin.record.tree.rpartition(":")[2] for plugin in host.plugins if plugin.record}
    assert {path.name for path in (world.user / "approved").iterdir()} == kept
