"""Project scopes: ``.HOST`` directories from the working directory up to the VCS root (S11)."""

from __future__ import annotations

import os
from stat import S_ISLNK

from attrs import frozen

from lionplug.errors import UnsafePathError
from lionplug.files.chain import check_safe
from lionplug.files.opening import Directory
from lionplug.scopes.user import UserScope
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
    :param safe_scopes: Paths, from the user's settings, of project roots or of their
        ``.HOST`` directories whose owner and mode are accepted as they are.
    """
    excused = {os.path.realpath(os.path.expanduser(path)) for path in safe_scopes}
    found = (_examine(root, f".{host}", excused) for root in _roots(start, user))
    return [scope for scope in found if scope is not None and not _is_user_scope(scope, user)]


def _roots(start: str, user: UserScope) -> Iterator[str]:
    directory = os.path.realpath(start)
    homes = _homes(user)
    top = project_root(directory) or directory
    while not any(is_inside(home, directory) for home in homes):
        yield directory
        if directory == top:
            return
        directory = os.path.dirname(directory)


def _homes(user: UserScope) -> list[str]:
    """Return what counts as home: where the scope is, and where it would be unless moved."""
    found = {os.path.realpath(os.path.expanduser("~")), *user.account_homes()}
    return sorted(found)
