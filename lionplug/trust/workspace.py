"""Private staging directories, each held by a lease, and the end of abandoned ones.

A staging directory lives for one question to a person. A process that was killed leaves
it behind; the kernel drops its lease, and whoever stages next removes what no lease holds.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from lionplug.errors import LionplugError, LockTimeoutError, ScopeError, StoreError
from lionplug.files.locks import Lease, try_exclusive
from lionplug.files.writing import make_private_directory, remove_tree
from lionplug.text import exact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lionplug.scopes import UserScope

_LEASE_SUFFIX = ".lease"


@contextmanager
def workspace(scope: UserScope) -> Iterator[str]:
    """Make an empty private directory (0700) in the user scope and remove it at the end.

    :param scope: The user scope.
    :returns: Path of the directory. It may be renamed away; then nothing is removed.
    :raises ScopeError: There is no user scope.
    :raises StoreError: The user scope can't be written.
    """
    if scope.problem:
        raise ScopeError(scope.problem)
    with ExitStack() as stack:
        try:
            make_private_directory(scope.staging)
            remove_abandoned(scope)
            path, lease = _lease_new_name(scope)
            stack.callback(lease.close)
            stack.callback(_remove, path)
            make_private_directory(path)
        except OSError as error:
            if isinstance(error, LionplugError):
                raise
            place = exact(os.fsdecode(error.filename or scope.staging))
            raise StoreError(
                f"{place}: no private copy can be made: {error.strerror or error}. "
                "Make room in the user scope, or make it writable, and try again."
            ) from error
        yield path


def remove_abandoned(scope: UserScope) -> list[str]:
    """Remove the staging directories of processes that are gone; return their names."""
    removed = []
    names = {name.removesuffix(_LEASE_SUFFIX) for name in os.listdir(scope.staging)}
    for name in sorted(names):
        path = os.path.join(scope.staging, name)
        with suppress(OSError), try_exclusive(path + _LEASE_SUFFIX) as mine:
            if mine:
                _remove(path)
                removed.append(name)
    return removed


def _lease_new_name(scope: UserScope) -> tuple[str, Lease]:
    """The lease comes first and goes last: a directory that it does not hold is nobody's."""
    while True:
        path = os.path.join(scope.staging, secrets.token_hex(16))
        try:
            return path, Lease(path + _LEASE_SUFFIX)
        except LockTimeoutError:
            continue  # between its making and our lock, another process took it for a leftover


def _remove(path: str) -> None:
    """Remove a staging directory, then its lease; what can't be removed, the next one tries."""
    with suppress(OSError):
        remove_tree(path)
        os.unlink(path + _LEASE_SUFFIX)
