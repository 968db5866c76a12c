"""Who else can write in the user scope: every path that is refused, and mending them (S31).

Reading stops at the first path that somebody else can change. A person who mends wants to
see them all, so the same walk goes on here, and nothing is read on the way.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from stat import S_IMODE, S_ISDIR, S_ISREG, S_IWGRP, S_IWOTH
from typing import TYPE_CHECKING

from attrs import frozen

from lionplug.errors import UnsafePathError
from lionplug.files.chain import Place, check_safe, locate
from lionplug.files.descriptors import PASS_DIRECTORY, open_at
from lionplug.files.opening import Directory
from lionplug.scopes import UserScope
from lionplug.text import exact
from lionplug.workdir import is_inside, project_root

if TYPE_CHECKING:
    from lionplug.host import Host

#: Opens whatever it is without reading it; enough to look at it and to change its mode.
_PASS = PASS_DIRECTORY & ~os.O_DIRECTORY

#: What is looked at in a directory of the scope.
_MOST = 10_000


@frozen(kw_only=True)
class UnsafePath:
    """A path that somebody else can change.

    :param path: The path, links resolved.
    :param reason: Who can change it, and what to do about it.
    :param command: The command that mends it, if the user can.
    """

    path: str
    reason: str
    command: str | None


@frozen(kw_only=True)
class Mended:
    """What was done about an unsafe path.

    :param path: The path.
    :param before: Its permissions before.
    :param after: Its permissions now.
    :param problem: Why it was left alone; ``None`` if it was mended.
    """

    path: str
    before: int = 0
    after: int = 0
    problem: str | None = None


def unsafe_paths(host: str, scope: UserScope) -> list[UnsafePath]:
    """Return every path of a user scope that is refused, outermost first.

    Those are the directories on the way, the scope, and what is read or made in it. A
    scope that is refused for the place where it is has none: nothing there counts.

    :param host: Name of the host.
    :param scope: Its user scope.
    """
    if scope.path is not None and scope.problem:
        return []
    root = scope_root(host, scope)
    if root is None:
        return []
    found: dict[str, UnsafePath] = {}
    for path in _candidates(root):
        for error in _errors(path, root):
            known = UnsafePath(path=error.file or path, reason=error.message, command=error.command)
            found.setdefault(known.path, known)
    return list(found.values())


def scope_root(host: str, scope: UserScope) -> str | None:
    """Return where the scope is, or would be if the way to it were safe."""
    if scope.path is not None:
        return scope.path
    return os.path.realpath(os.path.join(scope.home, f".{host}")) if scope.home else None


def _candidates(root: str) -> Iterator[str]:
    """Yield what is read or made in a scope, outer paths first."""
    yield root
    for name in ("settings.yaml", "trust.json", "approved", "leases", "staging", "aside"):
        yield os.path.join(root, name)
    for name in ("seals", "data"):
        folder = os.path.join(root, name)
        yield folder
        yield from _names(folder)


def _names(folder: str) -> Iterator[str]:
    try:
        with Directory.open(folder) as directory:
            for _, entry in zip(range(_MOST), directory.entries(), strict=False):
                yield os.path.join(folder, entry.name)
    except (OSError, UnsafePathError):
        return  # told as it is looked at itself


def _errors(path: str, root: str) -> Sequence[UnsafePathError]:
    """Return what is at fault on the way to a path, and at its end."""
    errors: list[UnsafePathError] = []
    try:
        with locate(path, scope=root, unsafe=errors) as place:
            if place.stat is None:
                return errors
            if is_inside(path, root) and path != root:
                # As where it is read: a link leads to a directory without excuse, too.
                _check(place.fd, place.folder, errors)
            with _Opened(place) as opened:
                _check(opened.fd, place.path, errors)
    except UnsafePathError as error:
        errors.append(error)
    except OSError:
        pass  # not there, or not for this user: no question of who else can write it
    return errors


def _check(fd: int, path: str, errors: list[UnsafePathError]) -> None:
    try:
        check_safe(fd, os.fstat(fd), path, inside_scope=True)
    except UnsafePathError as error:
        errors.append(error)


class _Opened:
    """What stands at a place, open for looking and for changing its mode only."""

    def __init__(self, place: Place) -> None:
        self.fd = open_at(place.name or ".", _PASS, place.fd, place.path)

    def close(self) -> None:
        os.close(self.fd)

    def __enter__(self) -> _Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def mend_permissions(host: Host) -> list[Mended]:
    """Take the right to write of group and others from unsafe paths of the user.

    Only directories on the way to the user scope, the scope, and what lies in it are
    touched: no link is followed, and nothing in a project is changed. Each is looked at
    again on the descriptor through which its mode is changed, after its own way was found
    safe; so the outer ones come first.

    :param host: The host.
    :returns: One row for each path of :func:`unsafe_paths`.
    """
    scope = host.user_scope
    root = scope_root(host.name, scope)
    if root is None:
        return []
    projects = [project.root for project in host.project_scopes]
    return [
        _mend(one.path, root, _why_not(one, root, scope, projects))
        for one in unsafe_paths(host.name, scope)
    ]


def _why_not(
    unsafe: UnsafePath, root: str, scope: UserScope, projects: Iterable[str]
) -> str | None:
    """Say why a path is not for this command to change."""
    path = unsafe.path
    if unsafe.command is None:
        return "only another user can mend it"
    if not (is_inside(path, root) or is_inside(root, path)):
        return "a link leads there"
    checkout = project_root(path if os.path.isdir(path) else os.path.dirname(path))
    if checkout is not None and not (scope.home and is_inside(scope.home, checkout)):
        return f"it lies in the project {exact(checkout)}"
    for project in projects:
        if is_inside(path, project):
            return f"it lies in the project {exact(project)}"
    return None


def _mend(path: str, root: str, problem: str | None) -> Mended:
    if problem is not None:
        return Mended(path=path, problem=problem)
    try:
        with locate(path, scope=root) as place, closing(_Opened(place)) as opened:
            stat = os.fstat(opened.fd)
            problem = _unfit(stat) if place.path == path else "a link leads there"
            if problem is not None:
                return Mended(path=path, problem=problem)
            before = S_IMODE(stat.st_mode)
            after = before & ~(S_IWGRP | S_IWOTH)
            # By way of /proc, because the descriptor only passes through.
            os.chmod(f"/proc/self/fd/{opened.fd}", after)
            return Mended(path=path, before=before, after=after)
    except UnsafePathError as error:
        return Mended(path=path, problem=error.message)
    except OSError as error:
        return Mended(path=path, problem=error.strerror or str(error))


def _unfit(stat: os.stat_result) -> str | None:
    if stat.st_uid != os.geteuid():
        return "it is not yours"
    if S_ISDIR(stat.st_mode):
        return None
    if not S_ISREG(stat.st_mode):
        return "it is neither a directory nor a regular file"
    if stat.st_nlink > 1:
        return "the file has another name elsewhere; look at it first"
    return None
