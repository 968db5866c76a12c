"""Locks are ``flock``, never existence (security rule S9, S16)."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from lionplug.errors import LockTimeoutError, UnsafePathError
from lionplug.files import locks
from lionplug.files.locks import Lease, exclusive, try_exclusive

pytestmark = pytest.mark.usefixtures("no_leaked_descriptors")


@pytest.fixture
def holder():
    """Return a function that starts a child which holds a lock until it is killed."""
    children = []

    def hold(code: str) -> subprocess.Popen:
        script = (
            "import sys, time\nfrom lionplug.files.locks import *\n"
            + textwrap.dedent(code)
            + "\nprint('held', flush=True)\ntime.sleep(60)\n"
        )
        child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
        children.append(child)
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        return child

    yield hold
    for child in children:
        child.kill()
        child.wait()
        child.stdout.close()


def is_free(path: Path) -> bool:
    with try_exclusive(str(path)) as held:
        return held


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_lock_files_are_private_whatever_the_umask(home, umask, mask):
    umask(mask)
    for name, make in (("a", exclusive), ("b", try_exclusive), ("c", Lease)):
        with make(str(home / name)):
            assert (home / name).stat().st_mode & 0o7777 == 0o600
        assert (home / name).exists()


def test_an_exclusive_lock_keeps_threads_apart(home):
    path = str(home / "lock")
    inside, most = [], []

    def work():
        for _ in range(5):
            with exclusive(path):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.001)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 20


def test_an_exclusive_lock_is_not_reentrant(home):
    path = str(home / "lock")
    with exclusive(path), pytest.raises(LockTimeoutError) as caught:
        with exclusive(path, timeout=0.05):
            pass
    assert caught.value.file == path
    assert str(caught.value) == (
        f"{path} was held by another process or thread for the 0.05 seconds that were waited; "
        "try again, or end the process that holds it"
    )
    with exclusive(path, timeout=0):
        pass


def test_s9_a_lock_that_another_process_holds_is_waited_for_and_named(home, holder):
    path = home / "lock"
    holder(f"lock = exclusive({str(path)!r}); lock.__enter__()")
    start = time.monotonic()
    with pytest.raises(LockTimeoutError, match=r"for the 0\.2 seconds"):
        with exclusive(str(path), timeout=0.2):
            pass
    assert 0.15 < time.monotonic() - start < 3
    assert not is_free(path)


@pytest.mark.parametrize(
    "code",
    [
        "lock = exclusive({path!r}); lock.__enter__()",
        "lock = try_exclusive({path!r}); lock.__enter__()",
        "lease = Lease({path!r})",
    ],
)
def test_s16_a_killed_holder_frees_the_lock(home, holder, code):
    path = home / "lock"
    child = holder(code.format(path=str(path)))
    assert not is_free(path)
    child.kill()
    child.wait()
    with exclusive(str(path), timeout=5):
        pass
    assert is_free(path)


def test_s9_a_committed_lock_file_blocks_nobody(home):
    path = home / "lock"
    path.write_text("pid 1\nhost elsewhere\n")
    with exclusive(str(path), timeout=0):
        pass
    assert is_free(path)


@pytest.mark.parametrize("make", [exclusive, try_exclusive, Lease])
@pytest.mark.parametrize("kind", ["link", "directory", "FIFO"])
def test_s33_a_planted_lock_file_is_refused(home, make, kind):
    path = home / "lock"
    if kind == "link":
        path.symlink_to(home / "victim")
    elif kind == "directory":
        path.mkdir()
    else:
        os.mkfifo(path)
    with pytest.raises(UnsafePathError) as caught:
        with make(str(path)):
            pass
    assert str(caught.value) == (
        f"{path}: expected a regular file, found a {kind}; replace or remove it"
    )
    assert os.listdir(home) == ["lock"]


def test_a_lock_that_can_not_be_made_says_where(home):
    with pytest.raises(FileNotFoundError) as caught:
        with exclusive(str(home / "no" / "lock")):
            pass
    assert caught.value.filename == str(home / "no" / "lock")


def test_s16_leases_are_shared_and_keep_removal_out(home):
    path = home / "lease"
    with Lease(str(path)) as one:
        with Lease(str(path)):
            assert not is_free(path)
        assert not is_free(path)
        one.close()
        one.close()
        assert one.fileno() == -1
        assert is_free(path)


def test_s16_a_lease_is_not_given_while_the_tree_is_removed(home):
    path = str(home / "lease")
    with try_exclusive(path) as held:
        assert held
        with pytest.raises(LockTimeoutError) as caught:
            Lease(path)
    assert str(caught.value) == (
        f"{path} is held by a process that removes what it stands for; try again"
    )


def test_s16_children_inherit_the_lease(home):
    path = home / "lease"
    with Lease(str(path)) as lease:
        child = subprocess.Popen(
            [sys.executable, "-I", "-c", "input()"],
            stdin=subprocess.PIPE,
            pass_fds=(lease.fileno(),),
        )
    try:
        assert not is_free(path)
    finally:
        child.communicate(b"\n")
    assert is_free(path)


def test_s16_a_forked_child_keeps_the_lease(home):
    path = home / "lease"
    reader, writer = os.pipe()
    with Lease(str(path)):
        child = os.fork()
        if child == 0:
            os.close(writer)
            os.read(reader, 1)
            os._exit(0)
    os.close(reader)
    assert not is_free(path)
    os.close(writer)
    os.waitpid(child, 0)
    assert is_free(path)


def test_s16_a_lease_file_removed_by_the_last_holder_is_made_again(home, monkeypatch):
    """Between the open and the lock of one process, another removes the file."""
    path = home / "lease"
    original = locks._open
    removed = []

    def remove_after_open(name):
        fd = original(name)
        if not removed:
            path.unlink()
            removed.append(name)
        return fd

    monkeypatch.setattr(locks, "_open", remove_after_open)
    with Lease(str(path)) as lease:
        assert removed
        assert os.path.samestat(path.stat(), os.fstat(lease.fileno()))


def test_an_error_inside_frees_the_lock(home):
    path = home / "lock"
    for make in (exclusive, try_exclusive, Lease):
        with pytest.raises(ZeroDivisionError), make(str(path)):
            raise ZeroDivisionError
        assert is_free(path)


def test_a_system_that_can_not_lock_says_so(home, monkeypatch):
    def no_locks(fd, operation):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(locks.fcntl, "flock", no_locks)
    for make in (exclusive, try_exclusive, Lease):
        with pytest.raises(OSError, match="Function not implemented"):
            with make(str(home / "lock")):
                pass
    assert os.listdir(home) == ["lock"]
