"""The way to a file, followed by descriptor and checked at each step (security rule S31).

A check of the file alone is void: who may write a directory on the way can put another
file there. So the way is walked from ``/``, each directory opened in the one before. A
directory is checked before anything is taken from it; what is taken can then be replaced
only by the user and root, so that a link read there may be followed.
"""

from __future__ import annotations

import os
from stat import S_ISDIR, S_ISLNK, S_ISVTX, S_IWGRP

from lionplug.errors import UnsafePathError, UsageError
from lionplug.files.descriptors import PASS_DIRECTORY, kind_of, not_of_kind, open_at
from lionplug.files.owners import user_label, why_unsafe
from lionplug.text import exact, quote
from lionplug.workdir import is_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from typing_extensions import Self

    #: Makes what is missing: called with a directory's descriptor, a name and the path.
    Maker = Callable[[int, str, str], None]

#: Links that are followed on one way; the limit of Linux.
MOST_LINKS = 40


class Place:
    """Where a path ends: a directory, held open, and a name in it that is no link.

    A context manager that closes the directory.

    :ivar fd: Descriptor of the directory, good for opening something in it and no more.
    :ivar folder: Path of the directory, free of links.
    :ivar name: Name in the directory; empty if the path ends at the directory itself.
    :ivar stat: ``lstat`` of the name; ``None`` if there is nothing.
    """

    __slots__ = ("fd", "folder", "name", "stat")

    def __init__(self) -> None:
        self.fd = open_at("/", PASS_DIRECTORY, None, "/")
        self.folder = "/"
        self.name = ""
        self.stat: os.stat_result | None = None

    @property
    def path(self) -> str:
        """The whole path, free of links."""
        return os.path.join(self.folder, self.name) if self.name else self.folder

    def enter(self, name: str, folder: str) -> None:
        """Go on to a directory in this one (or to ``/``, or up)."""
        fd = open_at(name, PASS_DIRECTORY, self.fd, folder)
        os.close(self.fd)
        self.fd, self.folder = fd, folder

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self.fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def locate(
    path: str,
    *,
    scope: str,
    make: Maker | None = None,
    passed: list[str] | None = None,
    unsafe: list[UnsafePathError] | None = None,
) -> Place:
    """Follow a path, checking every directory from which something is taken.

    :param path: An absolute path. Links in it are followed, the last component too.
    :param scope: The directory from which on nothing is excused.
    :param make: Called for each missing component, the last one too; without it a missing
        directory on the way is an error, and a missing last component is not.
    :param passed: Gets the path of each directory from which something was taken, also if
        the way ends in an error.
    :param unsafe: Gets an error for each directory that somebody else can change, and the
        walk goes on: for a diagnosis, which relies on nothing that it finds.
    :raises FileNotFoundError: if a directory on the way is missing.
    :raises UnsafePathError: naming the component, its owner and mode, and the remedy.
    :raises UsageError: if ``path`` is not absolute.
    """
    if not os.path.isabs(path):
        raise UsageError(f"{exact(path)} is a relative path; give an absolute one")
    place = Place()
    try:
        passed = [] if passed is None else passed
        _Walk(place, os.path.realpath(scope), make, passed, unsafe).to(path)
    except BaseException:
        place.close()
        raise
    return place


class _Walk:
    def __init__(
        self,
        place: Place,
        scope: str,
        make: Maker | None,
        passed: list[str],
        unsafe: list[UnsafePathError] | None,
    ) -> None:
        self._place = place
        self._scope = scope
        self._make = make
        self._passed = passed
        self._unsafe = unsafe
        self._pending: list[str] = []  # components that are still to be taken, last one first
        self._links = 0

    def to(self, path: str) -> None:
        self._queue(path)
        while self._pending:
            self._step(self._pending.pop())
        if not self._place.name:
            self._place.stat = os.fstat(self._place.fd)

    def _queue(self, path: str) -> None:
        self._pending += [part for part in reversed(path.split("/")) if part not in ("", ".")]

    def _step(self, name: str) -> None:
        place = self._place
        if name == "..":
            place.enter("..", os.path.dirname(place.folder))
            return
        self._passed.append(place.folder)
        path = os.path.join(place.folder, name)
        stat = self._look(name, path)
        self._check(stat)
        if stat is None and self._make is not None:
            self._make(place.fd, name, path)
            self._pending.append(name)  # looked at like everything else
        elif stat is not None and S_ISLNK(stat.st_mode):
            self._follow(name, path, stat)
        elif not self._pending:
            place.name, place.stat = name, stat
        elif stat is None:
            raise FileNotFoundError(2, os.strerror(2), path)
        elif S_ISDIR(stat.st_mode):
            place.enter(name, path)
        else:
            raise not_of_kind(path, "directory", kind_of(stat))

    def _check(self, next_stat: os.stat_result | None) -> None:
        place = self._place
        try:
            check_safe(
                place.fd,
                os.fstat(place.fd),
                place.folder,
                inside_scope=is_inside(place.folder, self._scope),
                next_stat=next_stat,
            )
        except UnsafePathError as error:
            if self._unsafe is None:
                raise
            self._unsafe.append(error)

    def _look(self, name: str, path: str) -> os.stat_result | None:
        try:
            return os.lstat(name, dir_fd=self._place.fd)
        except FileNotFoundError:
            return None
        except OSError as error:
            error.filename = path
            raise

    def _follow(self, name: str, path: str, stat: os.stat_result) -> None:
        if stat.st_uid not in (os.geteuid(), 0):
            raise UnsafePathError(
                f"{exact(path)} is a link of {user_label(stat.st_uid)}, expected one of you or "
                "root; remove it",
                file=path,
            )
        self._links += 1
        if self._links > MOST_LINKS:
            raise UnsafePathError(
                f"{exact(path)}: more than {MOST_LINKS} links on the way; "
                "point the link at its final target",
                file=path,
            )
        target = os.readlink(name, dir_fd=self._place.fd)
        if target.startswith("/"):
            self._place.enter("/", "/")
        self._queue(target)


def check_safe(
    fd: int,
    stat: os.stat_result,
    path: str,
    *,
    inside_scope: bool,
    next_stat: os.stat_result | None = None,
) -> None:
    """Raise if somebody else can change what ``fd`` is open on.

    :param fd: The open descriptor.
    :param stat: Its ``fstat``.
    :param path: The path by which messages name it.
    :param inside_scope: See :func:`lionplug.files.owners.why_unsafe`.
    :param next_stat: See there.
    :raises UnsafePathError: naming ``path``, the owner and mode, and the remedy.
    """
    reason = why_unsafe(
        stat,
        inside_scope=inside_scope,
        next_stat=next_stat,
        shared_by_acl=bool(stat.st_mode & S_IWGRP) and _has_access_list(fd),
    )
    if reason is None:
        return
    command = None
    if stat.st_uid not in (os.geteuid(), 0):
        remedy = "use a place of your own, or have root give this one to you"
    elif stat.st_mode & S_ISVTX and stat.st_uid == 0 and S_ISDIR(stat.st_mode):
        # Taking everybody's right to write from /tmp would help nobody.
        remedy = "use a directory in it that is your own and that only you can write"
    else:
        command = f"chmod go-w {quote(path)}"
        remedy = f"run: {command}"
    raise UnsafePathError(f"{exact(path)} {reason}; {remedy}", file=path, command=command)


def _has_access_list(fd: int) -> bool:
    """Tell whether a POSIX access list stands behind the mode's group bits."""
    if not hasattr(os, "getxattr"):
        return False
    try:
        # By way of /proc, because the descriptor may be one that only passes through.
        os.getxattr(f"/proc/self/fd/{fd}", "system.posix_acl_access")
    except OSError:
        return False
    return True
