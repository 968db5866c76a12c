"""The finder that owns every module name below ``lionplug.bundles``.

It stands first on ``sys.meta_path`` and is final below its prefix: it returns a spec or
raises :class:`ModuleNotFoundError`, and never hands on (security rule S17).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from threading import RLock
from types import ModuleType
from typing import Any

from lionplug.activation.isolation import make_builtins
from lionplug.activation.loader import BundleLoader
from lionplug.activation.locate import locate
from lionplug.activation.namespace import PREFIX, Namespace
from lionplug.imports import safe_imports
from lionplug.text import exact


class Attached:
    """A namespace whose modules can be imported now.

    :ivar namespace: The namespace.
    :ivar builtins: The ``__builtins__`` of its modules.
    :ivar holders: The namespaces of the hosts that use it; two hosts may share a scope.
    :ivar values: What references were resolved to, by path and attribute.
    """

    __slots__ = ("builtins", "holders", "namespace", "values")

    def __init__(self, namespace: Namespace) -> None:
        self.namespace = namespace
        self.builtins = make_builtins(namespace, plugin_of)
        self.holders: list[Namespace] = []
        self.values: dict[tuple[str, str], Any] = {}


class BundleFinder:
    """Answers for the modules of attached namespaces."""

    def __init__(self) -> None:
        self._attached: dict[str, Attached] = {}
        self._lock = RLock()

    def install(self) -> None:
        """Stand first, also if something was put in front meanwhile."""
        if not sys.meta_path or sys.meta_path[0] is not self:
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            sys.meta_path.insert(0, self)

    def attach(self, namespace: Namespace, *, held: bool = True) -> tuple[Attached, bool]:
        """Make the modules of a namespace importable; once attached it stays as it is.

        :param held: Whether a host holds it, and will release it.
        :returns: What is attached, and whether it was not before.
        """
        self.install()
        with self._lock:
            attached = self._attached.get(namespace.package)
            fresh = attached is None
            if attached is None:
                attached = self._attached[namespace.package] = Attached(namespace)
            if held and namespace not in attached.holders:
                attached.holders.append(namespace)
            return attached, fresh

    def release(self, namespace: Namespace) -> bool:
        """Let go of a namespace; tell whether nobody holds its package any more."""
        with self._lock:
            attached = self._attached.get(namespace.package)
            if attached is None or namespace not in attached.holders:
                return False
            attached.holders.remove(namespace)
            if attached.holders:
                return False
            del self._attached[namespace.package]
            return True

    def detach(self, package: str) -> Attached | None:
        """Make the modules of a package unknown again, whoever holds it."""
        with self._lock:
            return self._attached.pop(package, None)

    def get(self, package: str) -> Attached | None:
        """Return what is attached as ``package``."""
        return self._attached.get(package)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module below the prefix; ``None`` for all other names.

        :raises ModuleNotFoundError: No namespace in force has this module.
        """
        if not name.startswith(PREFIX):
            return None
        tail, *parts = name[len(PREFIX) :].split(".")
        attached = self._attached.get(PREFIX + tail)
        if attached is None or not attached.holders:
            # Known from a pickle or in a spawned child only: no host watches its approval,
            # so that is looked up for each module.
            attached = self._resolve(PREFIX + tail)
        if attached is None:
            raise ModuleNotFoundError(
                f"No module named {exact(name)!r}: no approval in force is behind it. "
                "The plugin was revoked or changed, or belongs to another user scope.",
                name=name,
            )
        namespace = attached.namespace
        found = locate(namespace.tree, parts)
        if found is None:
            wanted = exact("/".join(parts))
            raise ModuleNotFoundError(
                f"plugin {exact(namespace.plugin)} has no module {wanted!r} "
                f"(neither {wanted}.py nor a folder of this name is part of what was approved)",
                name=name,
            )
        loader = BundleLoader(namespace, found, attached.builtins)
        return loader.spec(name)

    def _resolve(self, package: str) -> Attached | None:
        """Look a package that no host holds up in the approvals."""
        with safe_imports():
            from lionplug.activation.resolving import find_namespace
        namespace = find_namespace(package)
        if namespace is not None:
            return self.attach(namespace, held=False)[0]
        with self._lock:
            attached = self._attached.get(package)
            if attached is not None and not attached.holders:
                del self._attached[package]
                return None
            return attached


#: The one finder of the process; ``sys.modules`` is one for all hosts, too.
finder = BundleFinder()


def plugin_of(package: str) -> str:
    """Return the plugin behind a package, or the package's own last part if not known."""
    attached = finder.get(package)
    return attached.namespace.plugin if attached else package[len(PREFIX) :]
