"""Several processes on one user scope: no approval is lost, none is invented."""

from __future__ import annotations

import subprocess
import sys
import textwrap

from tests.support import World

APPROVE = """
    import sys, time
    import lionplug
    user, name = sys.argv[1:]
    host = lionplug.Host("lionplug", version="1.0.0", user_dir=user)
    host.plugins.all
    print("ready", flush=True)
    sys.stdin.read()
    host.trust(name, approve=lambda disclosure: True)
"""

CALL = """
    import sys
    import lionplug
    host = lionplug.Host("lionplug", version="1.0.0", user_dir=sys.argv[1])
    try:
        print(host.tools.call(sys.argv[2]))
    except lionplug.LionplugError as error:
        print(type(error).__name__, getattr(error, "state", ""))
"""


def start(world: World, script: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), str(world.user), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=world.project,
    )


def test_processes_that_approve_different_plugins_at_once_all_succeed(world: World) -> None:
    names = [f"p{number}" for number in range(6)]
    for name in names:
        world.bundle(
            name, {"t.py": f"def run(): return {name!r}\n"}, tools={f"t-{name}": "t.py:run"}
        )
    processes = [start(world, APPROVE, name) for name in names]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
    for process in processes:
        assert process.wait(60) == 0
        assert process.stdout is not None
        process.stdout.close()
    host = world.host()
    assert {plugin.name: plugin.state for plugin in host.plugins} == dict.fromkeys(names, "active")
    assert [host.tools.call(f"t-{name}") for name in names] == names


def test_an_approval_holds_in_the_next_process_and_a_change_is_seen_there(world: World) -> None:
    bundle = world.bundle("one", {"t.py": "def run(): return 'good'\n"}, tools={"run": "t.py:run"})
    world.approve(world.host(), "one")
    assert start(world, CALL, "run").communicate()[0] == "good\n"
    (bundle / "undeclared.txt").write_text("x")
    assert start(world, CALL, "run").communicate()[0] == "CapabilityNotFoundError changed\n"
    (bundle / "undeclared.txt").unlink()
    assert start(world, CALL, "run").communicate()[0] == "good\n"
    world.host().revoke("one")
    assert start(world, CALL, "run").communicate()[0] == "CapabilityNotFoundError untrusted\n"
