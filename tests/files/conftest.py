"""Helpers for tests of files: other users, trees, children."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
from pathlib import Path

import pytest

from lionplug.errors import LionplugError

#: A user id without an account.
STRANGER = 54321


@pytest.fixture
def stranger() -> int:
    """The number of another user, to whom files can be given."""
    if os.geteuid() != 0:
        pytest.skip("only root can give files to another user")
    return STRANGER


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A directory whose whole way is safe, with the usual mode of a home directory."""
    tmp_path.chmod(0o755)
    return tmp_path


@pytest.fixture
def public():
    """A directory that other users reach, which pytest's own temporary ones are not."""
    path = Path(tempfile.mkdtemp(prefix="lionplug-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def umask():
    """Return a function that sets the umask; the old one comes back after the test."""
    old = os.umask(0o022)
    yield os.umask
    os.umask(old)


@pytest.fixture
def as_stranger(stranger):
    """Return a function that calls another one in a child with no rights of root."""

    def call(function, *arguments):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([])
                os.setgid(stranger)
                os.setuid(stranger)
                try:
                    answer = ("value", function(*arguments))
                except (OSError, LionplugError) as error:
                    answer = ("error", error)
                os.write(writer, pickle.dumps(answer))
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            kind, value = pickle.load(pipe)
        os.waitpid(child, 0)
        if kind == "error":
            raise value
        return value

    return call


@pytest.fixture
def no_leaked_descriptors():
    """Fail the test if it leaves more descriptors open than there were."""
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    yield
    after = len(os.listdir("/proc/self/fd")) if before else 0
    assert after <= before
