"""Locks between processes: always ``flock``, so that a killed holder frees them.

A lock file's existence and content mean nothing (security rule S9).
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from errno import EACCES, EPERM, EROFS
from stat import S_ISREG

from filelock import FileLock, Timeout

from lionplug.errors import LockTimeoutError
from lionplug.files.descriptors import LOCK_FILE, READ_FILE, kind_of, not_of_kind, open_at
from lionplug.text import exact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from typing_extensions import Self

_MODE = 0o600


@contextmanager
def exclusive(path: str, timeout: float = 10.0) -> Iterator[None]:
    """Context in which no other holder, in this process or another, has the lock.

    Not reentrant: inside it, asking for the same lock again waits and fails.

    :param path: The lock file, made with mode 0600 if there is none. A link is refused.
    :param timeout: Seconds to wait.
    :raises LockTimeoutError: if another holder kept the lock for that long.
    :raises UnsafePathError: if something other than a regular file stands there.
    """
    os.close(_open(path))  # our own mode and errors, before filelock sees the path
    # Without flock there is no lock: a fallback on the file's existence would be one that
    # a killed holder never frees, and that anybody's file could hold.
    lock = FileLock(path, mode=_MODE, fallback_to_soft=False)
    try:
        lock.acquire(timeout=timeout)
    except Timeout as error:
        raise LockTimeoutError(
            f"{exact(path)} was held by another process or thread for the {timeout:g} "
            "seconds that were waited; try again, or end the process that holds it",
            file=path,
        ) from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def try_exclusive(path: str) -> Iterator[bool]:
    """Context that has the lock if nobody else had it, without waiting.

    :param path: The lock file, made with mode 0600 if there is none. A link is refused.
    :returns: Whether the lock is held; if not, others hold it, alone or shared.
    :raises UnsafePathError: if something other than a regular file stands there.
    """
    fd = _acquire(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        yield fd is not None
    finally:
        if fd is not None:
            os.close(fd)


class Lease:
    """A shared lock: says that something is in use, for as long as the object is open.

    Children that inherit the descriptor keep the lease after this process ended: those
    that are forked, and programs started with ``pass_fds=(lease.fileno(),)``.

    :param path: The lease file, made with mode 0600 if there is none. A link is refused.
    :raises LockTimeoutError: if somebody holds it exclusively, as while what it stands
        for is being removed.
    :raises UnsafePathError: if something other than a regular file stands there.
    """

    __slots__ = ("_fd", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self._fd = -1
        fd = _acquire(path, fcntl.LOCK_SH | fcntl.LOCK_NB)
        if fd is None:
            raise LockTimeoutError(
                f"{exact(path)} is held by a process that removes what it stands for; try again",
                file=path,
            )
        os.set_inheritable(fd, True)
        self._fd = fd

    def fileno(self) -> int:
        """Return the descriptor, for ``pass_fds``; -1 once closed."""
        return self._fd

    def close(self) -> None:
        """Give the lease up, unless a child still has it; a second time is harmless."""
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)  # not LOCK_UN, which would take it from the children, too

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _acquire(path: str, operation: int) -> int | None:
    """Return a descriptor that holds the lock of the file that stands at ``path`` now."""
    while True:
        fd = _open(path)
        try:
            fcntl.flock(fd, operation)
            # The last holder may have removed the file between our open and its release.
            stands = _stands_at(path, fd)
        except BaseException as error:
            os.close(fd)
            if isinstance(error, BlockingIOError):
                return None
            raise
        if stands:
            return fd
        os.close(fd)


def _stands_at(path: str, fd: int) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.fstat(fd))
    except FileNotFoundError:
        return False


def _open(path: str) -> int:
    try:
        fd = open_at(path, LOCK_FILE, None, path, _MODE)
    except OSError as error:
        if error.errno not in (EROFS, EACCES, EPERM):
            raise
        # Locks need no right to write; the same disk may be writable for somebody else.
        try:
            fd = open_at(path, READ_FILE, None, path)
        except OSError:
            raise error from None
    stat = os.fstat(fd)
    if not S_ISREG(stat.st_mode):
        os.close(fd)
        raise not_of_kind(path, "regular file", kind_of(stat))
    return fd
