"""The user scope: the one place whose content approves anything (security rule S6).

Where it is must not be decided by a repository, so the way to it is short and closed:
no ``XDG_*`` variable and no variable of a host is read, and a place other than the one
that follows from the password database is refused where a repository could have chosen it.
"""

from __future__ import annotations

import os

from attrs import evolve

from lionplug.errors import UnsafePathError, UsageError
from lionplug.files.chain import locate
from lionplug.imports import safe_imports
from lionplug.scopes.environment import environment_value
from lionplug.scopes.model import UserScope
from lionplug.text import exact
from lionplug.workdir import is_inside, project_root

#: Moves the user scopes of all hosts to another folder.
VARIABLE = "LIONPLUG_HOME"

ARGUMENT, HOME, PASSWORDS, NONE = "argument", "HOME", "password database", "none"


class UserScopes:
    """Finds user scopes, each once per process, so that nothing later can move one."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str | None, int], UserScope] = {}

    def find(self, host: str, user_dir: str | None = None) -> UserScope:
        """Return the user scope of a host; see :func:`find_user_scope`."""
        key = (host, user_dir, os.geteuid())
        if key not in self._found:
            self._found[key] = _Search(host).run(user_dir)
        return self._found[key]

    def clear(self) -> None:
        """Forget what was found; for tests."""
        self._found.clear()


#: The scopes that were found in this process.
user_scopes = UserScopes()


def find_user_scope(host: str, user_dir: str | None = None) -> UserScope:
    """Return where a user's settings and approvals are.

    The first that applies: ``user_dir``; ``$LIONPLUG_HOME/.HOST``; ``$HOME/.HOST``;
    ``.HOST`` in the home directory of the password database. Variables count with the
    value that they had when the process started. Refused, so that nothing is trusted, is
    a place given by a variable that differs from the last of these and is not absolute or
    lies in the working directory, a project, a checkout or site-packages; also a home
    directory that does not exist or that somebody else can change.

    :param host: Name of the host.
    :param user_dir: Absolute path of the scope itself, given by the host's program.
    :raises UsageError: if ``user_dir`` is not absolute.
    """
    return user_scopes.find(host, user_dir)


class _RefusedError(Exception):
    """A place can't be the user scope; carries the whole sentence."""


class _Search:
    def __init__(self, host: str) -> None:
        if not host or "/" in host or "\0" in host or host.strip(".") == "":
            raise UsageError(f"{exact(host)!r} can't be the name of a host; use a-z, 0-9 and '-'")
        self._directory = f".{host}"
        self._warnings: list[str] = []
        self._account_home = account_home()

    def run(self, user_dir: str | None) -> UserScope:
        if user_dir is not None:
            return self._given(user_dir)
        source, home = self._home()
        scope = UserScope(
            path=None,
            source=source,
            home=None,
            moved=False,
            problem=None,
            warnings=tuple(self._warnings),
        )
        if home is None:
            return evolve(scope, problem=_NO_HOME)
        try:
            real_home = os.path.realpath(home)
            path = os.path.realpath(os.path.join(home, self._directory))
        except OSError as error:  # a link of /proc that is not for this user
            return evolve(scope, problem=_unreachable(home, error))
        scope = evolve(scope, home=real_home, moved=self._is_moved(path))
        way, unsafe = _explore(os.path.join(home, self._directory))
        try:
            if scope.moved:
                _refuse_foreign_choice(home, [*way, path], source)
            _refuse_missing_home(home, source)
        except _RefusedError as refusal:
            return evolve(scope, problem=str(refusal))
        return evolve(scope, path=None if unsafe else path, problem=unsafe)

    def _given(self, user_dir: str) -> UserScope:
        if not os.path.isabs(user_dir):
            raise UsageError(
                f"user_dir={exact(user_dir)} is a relative path; give Host an absolute one",
                field="user_dir",
            )
        path = os.path.realpath(user_dir)
        return UserScope(
            path=path,
            source=ARGUMENT,
            home=None,
            moved=self._is_moved(path),
            problem=None,
        )

    def _home(self) -> tuple[str, str | None]:
        """Return what decides, and the folder that it names."""
        for variable in (VARIABLE, HOME):
            value, warning = environment_value(variable)
            if warning is not None:
                self._warnings.append(warning)
            if value is not None:
                return variable, value
        return (PASSWORDS, self._account_home) if self._account_home else (NONE, None)

    def _is_moved(self, path: str) -> bool:
        if self._account_home is None:
            return True
        return path != os.path.realpath(os.path.join(self._account_home, self._directory))


def _explore(path: str) -> tuple[list[str], str | None]:
    """Follow the way to a scope, links included, because only its end is kept (S31).

    :returns: The directories on the way, and why the way is not safe. Whether others can
        write in the scope itself is checked whenever something is read from it, so that
        what is in it can still be listed.
    """
    passed: list[str] = []
    if not os.path.isabs(path):
        return passed, None  # refused for that
    try:
        locate(path, scope=path, passed=passed).close()
    except FileNotFoundError:
        return passed, None  # a place that is made when it is needed
    except UnsafePathError as error:
        return passed, (
            f"Nothing is trusted, because the way to {exact(path)} is not safe: {error}."
        )
    except OSError as error:
        return passed, _unreachable(path, error)
    return passed, None


def _unreachable(path: str, error: OSError) -> str:
    return (
        f"Nothing is trusted, because {exact(path)} can't be reached: {error.strerror}. "
        f"Make it accessible, or start with {VARIABLE} set to a directory of your own."
    )


def _refuse_missing_home(home: str, source: str) -> None:
    if source != VARIABLE and not os.path.isdir(home):
        raise _RefusedError(
            f"Nothing is trusted, because the home directory {exact(home)} (from the {source}) "
            f"does not exist. Create it, or start with {VARIABLE} set to a directory of your own."
        )


def _refuse_foreign_choice(home: str, way: list[str], source: str) -> None:
    """Refuse a place that a repository could have chosen and filled, or leads to by a link."""
    remedy = f"Set {source} to a directory of your own outside every checkout before you start."
    if not os.path.isabs(home):
        raise _RefusedError(
            f"Nothing is trusted, because {source}={exact(home)} is a relative path. {remedy}"
        )
    for place in way:
        inside = _untrustworthy_folder(place)
        if inside is not None:
            raise _RefusedError(
                f"Nothing is trusted, because {source}={exact(home)} puts the user scope into "
                f"{inside}. {remedy}"
            )


def _untrustworthy_folder(path: str) -> str | None:
    for what, folder in _repository_folders():
        if is_inside(path, folder):
            return f"{what} {exact(folder)}"
    existing = path
    while not os.path.exists(existing):
        existing = os.path.dirname(existing)
    checkout = project_root(existing)
    if checkout is not None:
        return f"the checkout {exact(checkout)}"
    return None


def _repository_folders() -> list[tuple[str, str]]:
    folders = []
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:
        pass  # deleted, so nothing can lie in it
    else:
        if here != "/":  # where services start: everything lies in it, and it is no repository
            folders.append(("the working directory", here))
        root = project_root(here)
        if root is not None:
            folders.append(("the project", root))
    folders += [("site-packages", folder) for folder in _site_packages()]
    return folders


def _site_packages() -> list[str]:
    with safe_imports():
        import site
        import sysconfig
    paths = sysconfig.get_paths()
    found = [
        paths["purelib"],
        paths["platlib"],
        *site.getsitepackages(),
        site.getusersitepackages(),
    ]
    return sorted(set(map(os.path.realpath, found)))


def account_home() -> str | None:
    """Return the home directory that the password database gives for this user."""
    with safe_imports():
        import pwd
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir or None
    except KeyError:
        return None


_NO_HOME = (
    "Nothing is trusted, because there is no place to keep approvals: HOME is not set and this "
    f"user is not in the password database. Start with {VARIABLE} set to a directory of your own."
)
