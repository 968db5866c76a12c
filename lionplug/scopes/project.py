"""Project scopes: ``.HOST`` directories from the working directory up to the VCS root (S11)."""

from __future__ import annotations

import os

from attrs import frozen

from lionplug.errors import UnsafePathError
from lionplug.files.chain import check_safe
from lionplug.files.opening import Directory
from lionplug.scopes.environment import environment_value
from lionplug.scopes.model import UserScope
from lionplug.scopes.user import account_home
from lionplug.text import exact
from lionplug.workdir import is_inside, project_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: What a scope's plugins are in.
PLUGINS = "plugins"

PROJECT, FOREIGN = "project", "foreign"


@frozen(kw_only=True)
class ProjectScope:
    """A ``.HOST`` directory of a project.

    :param root: The directory that holds it, links resolved.
    :param directory: The ``.HOST`` directory, links resolved.
    :param kind: ``project``; or ``foreign`` if somebody else can write it: then it is
        listed and offers nothing, not even settings.
    :param owner: User id of the owner of what was found at fault, else of the directory.
    :param problem: Why it is foreign, and what to do.
    """

    root: str
    directory: str
    kind: str
    owner: int
    problem: str | None


def find_project_scopes(
    host: str, start: str, user: UserScope, safe_scopes: Sequence[str] = ()
) -> list[ProjectScope]:
    """Return the project scopes that are seen from a directory, nearest first.

    The walk ends at the VCS root; without one it is ``start`` alone. It never reaches the
    home directory or a directory above that, and crosses no mount. No program is run and
    no variable of a version control system is read.

    :param host: Name of the host.
    :param start: Absolute path, as a rule the working directory.
    :param user: The user scope, which is no project scope even where it is met on the way.
    :param safe_scopes: Absolute paths (or ``~/...``), from the user's settings, of project
        roots or of their ``.HOST`` directories, whose owners and modes are accepted.
    """
    excused = _resolved(safe_scopes, user)
    scopes = []
    for root in _roots(start, user):
        directory = os.path.realpath(os.path.join(root, f".{host}"))
        if os.path.isdir(directory) and not _same(directory, user.path):
            scopes.append(_examine(root, directory, excused))
    return scopes


def _roots(start: str, user: UserScope) -> Iterator[str]:
    directory = os.path.realpath(start)
    homes = _homes(user)
    top = project_root(directory) or directory
    while not any(is_inside(home, directory) for home in homes):
        yield directory
        if directory == top:
            return
        directory = os.path.dirname(directory)


def _homes(user: UserScope) -> set[str]:
    """Return what counts as home: where the user scope is, and where it would be unmoved."""
    candidates = (user.home, environment_value("HOME")[0], account_home())
    return {os.path.realpath(home) for home in candidates if home and os.path.isabs(home)}


def _resolved(safe_scopes: Sequence[str], user: UserScope) -> set[str]:
    paths = [
        os.path.join(user.home, path[2:]) if path.startswith("~/") and user.home else path
        for path in safe_scopes
    ]
    return {os.path.realpath(path) for path in paths if os.path.isabs(path)}


def _same(directory: str, other: str | None) -> bool:
    try:
        return other is not None and os.path.samefile(directory, other)
    except OSError:
        return False


def _examine(root: str, directory: str, excused: set[str]) -> ProjectScope:
    plugins = os.path.realpath(os.path.join(directory, PLUGINS))
    owner, problem = os.stat(directory).st_uid, None
    for path in (directory, plugins):
        if not is_inside(path, root):
            problem = (
                f"{exact(path)} lies outside of the project {exact(root)}, to which a link in it "
                "leads; replace the link by a directory"
            )
            break
    else:
        if not excused & {root, directory}:
            ways = [directory, plugins] if os.path.isdir(plugins) else [directory]
            unsafe = next(filter(None, (_check_way(root, way) for way in ways)), None)
            if unsafe is not None:
                owner, problem = unsafe
    return ProjectScope(
        root=root,
        directory=directory,
        kind=PROJECT if problem is None else FOREIGN,
        owner=owner,
        problem=problem,
    )


def _check_way(root: str, path: str) -> tuple[int, str] | None:
    """Check each directory from the root on, and return what is wrong with the first bad one."""
    names = os.path.relpath(path, root).split(os.sep) if path != root else []
    owner = -1
    try:
        directory = Directory.open(root)
        while True:
            with directory:
                owner = directory.stat.st_uid
                check_safe(directory.fd, directory.stat, directory.path, inside_scope=True)
                if not names:
                    return None
                directory = directory.child(names.pop(0))
    except UnsafePathError as error:
        return owner, (
            f"{error}; or, if you trust whoever can write there, list {exact(root)} under "
            "safe_scopes in your own settings.yaml"
        )
    except OSError as error:
        return owner, (
            f"{exact(str(error.filename or path))} can't be opened: {error.strerror}; "
            "change its owner or mode"
        )
