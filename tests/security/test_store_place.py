"""Where approved trees lie: nobody else's place, a read-only one, and what it costs."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from errno import EROFS
from pathlib import Path

import pytest

from lionplug import Host
from lionplug.errors import StoreError
from lionplug.files import locks
from lionplug.files.descriptors import LOCK_FILE, open_at
from lionplug.files.locks import Lease
from lionplug.trust import trust_file
from tests.support import World

RUN = "def run():\n    return 1\n"
TOOLS = {"run": "t.py:run"}


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o772])
def test_s15_a_store_that_others_can_write_is_not_used(world: World, mode: int) -> None:
    world.bundle("one", {"t.py": RUN}, tools=TOOLS)
    world.approve(world.host(), "one")
    approved = world.user / "approved"
    approved.chmod(mode)
    with pytest.raises(StoreError, match="store of approved copies is not used") as refused:
        world.host().tools.call("run")
    assert refused.value.command is None or refused.value.command.startswith("chmod go-w")
    assert len(os.listdir(approved)) == 1, "nothing is moved aside for it"
    approved.chmod(0o700)
    assert world.host().tools.call("run") == 1


def test_s16_a_lease_can_be_taken_on_a_read_only_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "lease")
    Lease(path).close()

    def read_only(name: str, flags: int, *args: object) -> int:
        if flags == LOCK_FILE:
            raise OSError(EROFS, os.strerror(EROFS), path)
        return open_at(name, flags, *args)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(locks, "open_at", read_only)
        lease = Lease(path)
    with open(path, "rb") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    lease.close()
    with open(path, "rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)

    (tmp_path / "lease").unlink()
    monkeypatch.setattr(locks, "open_at", read_only)
    with pytest.raises(OSError, match="Read-only file system"):
        Lease(path)


def test_s16_closed_hosts_keep_one_lease_for_each_tree(world: World) -> None:
    world.bundle("one", {"t.py": RUN}, tools=TOOLS)
    world.approve(world.host(), "one")
    tree = os.listdir(world.user / "approved")[0]
    for _ in range(8):
        host = Host("lionplug", version="1", user_dir=str(world.user))
        assert host.tools.call("run") == 1
        host.close()
    held = []
    for descriptor in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        with suppress(OSError):
            held.append(os.readlink(f"/proc/self/fd/{descriptor}"))
    assert held.count(str(world.user / "leases" / tree)) <= 3  # the world's hosts are open
    with open(world.user / "leases" / tree, "rb") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


@pytest.mark.parametrize("error", [OSError(EROFS, "Read-only file system"), OSError(28, "full")])
def test_s31_a_disk_that_cannot_be_written_can_be_listed(
    world: World, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    """Also when there is a record to drop, because its bundle is gone."""
    folder = world.bundle("gone", {"t.py": RUN}, tools=TOOLS)
    world.bundle("here", {"t.py": RUN}, tools={"walk": "t.py:run"})
    for name in ("gone", "here"):
        world.approve(world.host(), name)
    folder.rename(world.root / "gone")
    host = world.host()
    with monkeypatch.context() as patched:

        def fail(*args: object, **options: object) -> None:
            raise error

        patched.setattr(trust_file, "exclusive", fail)
        assert host.prune() == []
        assert [plugin.state for plugin in host.plugins.all] == ["active"]
        assert host.tools.call("walk") == 1
    assert [record.name for record in host.prune()] == ["gone"]
