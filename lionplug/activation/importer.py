"""Importing what a reference names, from the approved tree and nowhere else.

This is the one door: :func:`attach` makes the modules of a tree importable, :func:`load`
imports and hands out what a manifest names, :func:`detach` ends it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any, Protocol

from lionplug.activation.failures import Failure, KnownFailureError, describe, failures
from lionplug.activation.finder import Attached, finder
from lionplug.activation.loader import Loading, current_loading, forget_modules
from lionplug.activation.locate import locate
from lionplug.activation.namespace import Namespace
from lionplug.errors import NotGrantedError, StoreError
from lionplug.text import exact

__all__ = ["Namespace", "Reference", "attach", "detach", "failures_of", "load", "release"]


class Reference(Protocol):
    """What is needed of :class:`lionplug.manifest.references.Reference`."""

    @property
    def path(self) -> str:
        """Path of a ``.py`` file relative to the root."""

    @property
    def attribute(self) -> str:
        """Name in the module; empty for the module itself."""


def attach(namespace: Namespace) -> None:
    """Make the modules of an approved tree importable; nothing is imported by it.

    A package that is attached already stays as it is: its name stands for the same bytes.
    """
    _, fresh = finder.attach(namespace)
    if fresh:
        failures.forget(namespace.package)


def release(namespace: Namespace) -> None:
    """Let go of an attached namespace; the last host that does so detaches its package.

    For a host whose grant ended: another host of the same user scope in this process may
    use the package still, or again after a new approval.
    """
    if finder.release(namespace):
        _forget(namespace.package)


def detach(package: str) -> None:
    """Forget the modules of a package, whoever uses it: its names leave ``sys.modules`` (S17).

    Code of it that runs goes on, but imports no further module of the package.
    """
    finder.detach(package)
    _forget(package)


def _forget(package: str) -> None:
    forget_modules(package)
    failures.forget(package)


def failures_of(package: str) -> tuple[Failure, ...]:
    """Return what of a package could not be activated, oldest first."""
    return failures.of(package)


def load(
    namespace: Namespace,
    reference: Reference,
    *,
    hook: str = "",
    what: str = "",
    check: Callable[[], bool] | None = None,
) -> Any:
    """Return what a reference names, importing its module if this is the first time.

    Threads that ask at once wait for one import. A failure is kept: it is told again
    without running the module a second time, until the package is detached.

    :param namespace: The attached namespace.
    :param reference: What the manifest names.
    :param hook: The hook whose call asks; for the log.
    :param what: What is asked for, such as ``tool web_search``; for messages.
    :param check: Asked right before code is imported; a false answer refuses.
    :returns: The callable, the same object every time; the module if no attribute is named.
    :raises ActivationError: The module can't be imported, or has no such callable.
    :raises NotGrantedError: The namespace is not attached, or ``check`` said no.
    :raises StoreError: The stored bytes are not those that were approved; not kept, because
        a store can be mended.
    """
    attached = finder.get(namespace.package)
    if attached is None:
        raise _no_longer_granted(namespace, what)
    key = (reference.path, reference.attribute)
    if key in attached.values:
        return attached.values[key]
    target = f"{reference.path}:{reference.attribute}"
    known = failures.get(namespace.package, reference.path) or failures.get(
        namespace.package, target
    )
    if known is not None:
        raise known.error(what)
    if check is not None and not check():
        raise _no_longer_granted(namespace, what)
    module = _import(attached, namespace, reference.path, hook, what)
    value = _take(namespace, module, reference, target, what)
    return attached.values.setdefault(key, value)


def _import(
    attached: Attached, namespace: Namespace, path: str, hook: str, what: str
) -> ModuleType:
    name = _module_name(namespace, path, what)
    token = current_loading.set(Loading(namespace, name, path, hook))
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        if finder.get(namespace.package) is not attached:
            raise _no_longer_granted(namespace, what) from error
        if isinstance(error, StoreError):
            raise
        failure = failures.get(namespace.package, path) or failures.record(namespace, path, error)
        told = isinstance(error, KnownFailureError)
        raise failure.error(what) from (None if told else error)
    finally:
        current_loading.reset(token)
    if finder.get(namespace.package) is not attached:
        # It ended while the module ran, which may have entered its name afterwards.
        forget_modules(namespace.package)
        raise _no_longer_granted(namespace, what)
    return module


def _module_name(namespace: Namespace, path: str, what: str) -> str:
    """Return the full name of the module in a file, which must be what Python finds by it."""
    stem = path.removesuffix(".py")
    parts = stem.split("/")
    if parts[-1] == "__init__":
        del parts[-1]
    found = None if stem == path or "." in stem else locate(namespace.tree, parts)
    if found is not None and found.file == path:
        return ".".join([namespace.package, *parts])
    if found is not None and found.file:
        cause = f"is hidden by {exact(found.file)}, which has the same module name"
    elif found is None and stem != path and "." not in stem:
        cause = "is not a file of what was approved"
    else:
        cause = "is not the path of a Python module (names with a dot are none)"
    raise Failure(
        plugin=namespace.plugin,
        file=path,
        line=0,
        cause=cause,
        advice="Its author must rename a file and the reference in plugin.yaml.",
    ).error(what)


def _take(
    namespace: Namespace, module: ModuleType, reference: Reference, target: str, what: str
) -> Any:
    """Return the attribute of the module, which must be callable."""
    if not reference.attribute:
        return module
    try:
        value = getattr(module, reference.attribute)
    except (Exception, SystemExit) as error:  # a module may have a __getattr__ of its own
        missing = isinstance(error, AttributeError)
        cause = f"has no {exact(reference.attribute)}" if missing else None
        failure = _unusable(namespace, reference, cause, error)
        raise failures.keep(namespace.package, target, failure).error(what) from error
    if not callable(value):
        cause = f"{exact(reference.attribute)} is a {type(value).__name__}, expected a callable"
        failure = _unusable(namespace, reference, cause)
        raise failures.keep(namespace.package, target, failure).error(what)
    return value


def _unusable(
    namespace: Namespace,
    reference: Reference,
    cause: str | None,
    error: BaseException | None = None,
) -> Failure:
    if cause is None and error is not None:
        return describe(namespace, reference.path, error)
    return Failure(
        plugin=namespace.plugin,
        file=reference.path,
        line=0,
        cause=cause or "",
        advice="Its author must correct the file or the reference in plugin.yaml.",
    )


def _no_longer_granted(namespace: Namespace, what: str) -> NotGrantedError:
    return NotGrantedError(
        f"plugin {exact(namespace.plugin)}: {exact(what) or 'its code'} can't be used: the "
        "approval of these bytes ended. Look at the state of the plugin.",
        plugin=namespace.plugin,
    )
