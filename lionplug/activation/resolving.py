"""Finding the approval behind a module name that this process has not attached.

A child process that was spawned, or a pickle, names a module of a bundle. The name is a
hash, so the user's own scopes are searched for the record in force that gives it.
"""

from __future__ import annotations

import os

from lionplug.activation.namespace import Namespace, data_directory, package_name
from lionplug.errors import LionplugError
from lionplug.scopes import UserScope, find_user_scope
from lionplug.trust.record import Record
from lionplug.trust.store import Store
from lionplug.trust.trust_file import TrustFile


def find_namespace(package: str) -> Namespace | None:
    """Return the namespace of a package if a record in force is behind it.

    Searched are the user scopes below the home directory, each as strictly as its host
    would read it; a scope that a host's program placed elsewhere is not known here.

    :param package: Full name, ``lionplug.bundles.…``.
    """
    for scope in _user_scopes():
        state = TrustFile(scope).read()
        for record in state.records.values():
            name = package_name(record.name, str(scope.path), record.location, record.tree)
            if name == package and (record.name, record.location) not in state.disabled:
                return _open(scope, record)
    return None


def _user_scopes() -> list[UserScope]:
    home = find_user_scope("lionplug").home
    if home is None:
        return []
    try:
        names = sorted(os.listdir(home))
    except OSError:
        return []
    hosts = [
        name[1:]
        for name in names
        if name.strip(".") and name[0] == "." and os.path.exists(f"{home}/{name}/trust.json")
    ]
    scopes = [find_user_scope(host) for host in hosts]
    return [scope for scope in scopes if scope.path is not None and not scope.problem]


def _open(scope: UserScope, record: Record) -> Namespace | None:
    store = Store(scope)
    try:
        store.lease(record.tree)
        tree = store.open(record.tree)
        store.verify(tree)
    except (LionplugError, OSError):
        return None
    return Namespace(
        plugin=record.name,
        user_dir=str(scope.path),
        location=record.location,
        tree=tree,
        data_dir=data_directory(scope.data, record.name, record.location),
    )
