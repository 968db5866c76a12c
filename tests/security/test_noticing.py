"""What one process changes, every other one takes up: in both directions, and each time."""

from __future__ import annotations

import threading

import pytest

from lionplug import Host, hookspec
from lionplug.errors import CapabilityNotFoundError
from tests.support import World, write

RUN = "def run():\n    return 1\n"
TOOLS = {"run": "t.py:run"}
GUARD = "capabilities:\n  hookimpls:\n    - {hook: check, target: 'g.py:check'}\n"


class Specs:
    @hookspec
    def check(self, command: str) -> str:
        """Ask every guard."""
        raise AssertionError


def test_s34_a_guard_that_is_approved_anew_elsewhere_answers_who_kept_the_hook(
    world: World,
) -> None:
    folder = world.bundle("guard", {"g.py": "def check(): return 1\n"}, manifest=GUARD)
    world.approve(world.host(), "guard")
    host = world.host()
    host.add_hookspecs(Specs)
    kept = host.hook.check
    assert kept(command="x") == [1]

    write(folder / "g.py", "def check(): return 2\n")
    world.approve(world.host(), "guard")
    kept(command="notices it")
    assert kept(command="x") == [2]

    world.host().disable("guard")
    assert kept(command="x") == []
    world.host().enable("guard")
    kept(command="notices it")
    assert kept(command="x") == [2]


def test_s34_a_tool_that_is_approved_anew_elsewhere_answers_at_once(world: World) -> None:
    folder = world.bundle("one", {"t.py": RUN}, tools=TOOLS)
    host = world.host()
    world.approve(world.host(), "one")
    assert host.tools.call("run") == 1
    for number in range(2, 6):
        write(folder / "t.py", f"def run():\n    return {number}\n")
        world.approve(world.host(), "one")
        assert host.tools.call("run") == number


def test_s18_what_waited_in_a_queue_runs_the_bytes_that_are_approved_by_then(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    anyio = pytest.importorskip("anyio")
    folder = world.bundle("one", {"t.py": "def run():\n    return 'old'\n"}, tools=TOOLS)
    host = world.host()
    world.approve(host, "one")
    run_sync = anyio.to_thread.run_sync

    async def late(function, *args):
        write(folder / "t.py", "def run():\n    return 'new'\n")
        thread = threading.Thread(target=world.approve, args=(world.host(), "one"))
        thread.start()
        thread.join()
        return await run_sync(function, *args)

    monkeypatch.setattr(anyio.to_thread, "run_sync", late)
    assert anyio.run(host.tools.acall, "run") == "new"


def states(host: Host) -> list[str]:
    return [plugin.state for plugin in host.plugins.all]


def test_s31_a_scope_that_went_away_and_came_back_counts_again(world: World) -> None:
    """As with a home directory on a network; its file has the stamp that it had before."""
    world.bundle("one", {"t.py": RUN}, tools=TOOLS)
    host = world.host()
    world.approve(host, "one")
    away = world.user.with_name("away")
    world.user.rename(away)
    with pytest.raises(CapabilityNotFoundError):
        host.tools.call("run")
    away.rename(world.user)
    assert host.tools.call("run") == 1


def test_s31_refresh_looks_at_the_directories_on_the_way_again(world: World) -> None:
    """They are no part of the file's stamp."""
    world.bundle("one", {"t.py": RUN}, tools=TOOLS)
    world.approve(world.host(), "one")
    world.user.chmod(0o777)
    host = world.host()
    assert any("nothing is trusted" in notice for notice in host.plugins.notices)
    world.user.chmod(0o700)
    host.plugins.refresh()
    assert states(host) == ["active"]
    world.user.chmod(0o777)
    host.plugins.refresh()
    assert any("nothing is trusted" in notice for notice in host.plugins.notices)
    with pytest.raises(CapabilityNotFoundError):
        host.tools.call("run")


@pytest.mark.parametrize("noticed_by", ["call", "refresh"])
def test_s34_a_change_that_was_noticed_ends_with_an_approval_elsewhere(
    world: World, noticed_by: str
) -> None:
    folder = world.bundle("one", {"t.py": RUN}, tools=TOOLS)
    host = world.host()
    world.approve(world.host(), "one")
    assert host.tools.call("run") == 1
    for number in (2, 3):
        write(folder / "t.py", f"def run():\n    return {number}\n")
        if noticed_by == "refresh":
            host.plugins.refresh()
        with pytest.raises(CapabilityNotFoundError, match="which is changed"):
            host.tools.call("run")
        world.approve(world.host(), "one")
        assert host.tools.call("run") == number
        assert states(host) == ["active"]
