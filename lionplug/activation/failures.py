"""What could not be activated, kept by content: the same bytes fail the same way.

A failure is told once in full and then repeated without running anything again. It is
kept under the package of its tree, whose name holds the digest, so that other bytes
begin anew.
"""

from __future__ import annotations

import os
import sys
import traceback

from attrs import evolve, frozen

from lionplug.activation.namespace import Namespace
from lionplug.errors import ActivationError
from lionplug.text import exact

_MAX_CAUSE = 300
_MAX_DETAILS = 20_000


@frozen(kw_only=True)
class Failure:
    """Why a module could not be imported, or a reference not be resolved.

    :ivar plugin: Name of the plugin.
    :ivar file: Path relative to the bundle.
    :ivar line: Line in it, or 0.
    :ivar cause: What was raised or found.
    :ivar advice: What to do about it.
    :ivar details: The traceback as text, or empty.
    """

    plugin: str
    file: str
    line: int
    cause: str
    advice: str
    details: str = ""

    def error(self, what: str = "") -> ActivationError:
        """Return a new exception that tells it.

        :param what: What was asked for, such as ``tool web_search``.
        """
        place = f"{exact(self.file)}:{self.line}" if self.line else exact(self.file)
        error = ActivationError(
            f"plugin {exact(self.plugin)}: {exact(what) or 'its code'} can't be used: "
            f"{place}: {self.cause}. {self.advice} "
            "It is not tried again before the plugin changes.",
            plugin=self.plugin,
            file=self.file,
        )
        error.line = self.line
        error.details = self.details
        return error


class KnownFailureError(ActivationError):
    """A module is not run again, because it failed before."""


class Failures:
    """Failures by package, and within it by the path or reference that failed."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, Failure]] = {}

    def get(self, package: str, target: str) -> Failure | None:
        """Return what is known of a target."""
        known = self._known.get(package)
        return known.get(target) if known else None

    def of(self, package: str) -> tuple[Failure, ...]:
        """Return all failures of a package, oldest first."""
        return tuple(self._known.get(package, {}).values())

    def record(self, namespace: Namespace, file: str, error: BaseException) -> Failure:
        """Keep the failure to import a file; the first one stays."""
        return self.keep(namespace.package, file, describe(namespace, file, error))

    def keep(self, package: str, target: str, failure: Failure) -> Failure:
        """Keep a failure; the first one of a target stays."""
        return self._known.setdefault(package, {}).setdefault(target, failure)

    def raise_known(self, package: str, target: str) -> None:
        """Raise :class:`KnownFailureError` if a target failed before."""
        if self.get(package, target) is not None:
            raise KnownFailureError(f"{exact(target)} failed before")

    def forget(self, package: str) -> None:
        """Drop what is known of a package: its approval ended or was given anew."""
        self._known.pop(package, None)


#: The failures of this process.
failures = Failures()


def describe(namespace: Namespace, file: str, error: BaseException) -> Failure:
    """Say in the plugin's own terms what went wrong while ``file`` was imported."""
    root = namespace.tree.root + os.sep
    place, line = _place(root, error)
    failure = Failure(
        plugin=namespace.plugin,
        file=place or file,
        line=line,
        cause=_cause(namespace, root, error),
        advice=_advice(error),
    )
    return evolve(failure, details="".join(traceback.format_exception(error))[-_MAX_DETAILS:])


def _place(root: str, error: BaseException) -> tuple[str, int]:
    """Return the innermost place in the bundle that the error came through."""
    if isinstance(error, SyntaxError) and (error.filename or "").startswith(root):
        return str(error.filename)[len(root) :], error.lineno or 0
    place, line = "", 0
    step = error.__traceback__
    while step is not None:
        path = step.tb_frame.f_code.co_filename
        if path.startswith(root):
            place, line = path[len(root) :], step.tb_lineno
        step = step.tb_next
    return place, line


def _cause(namespace: Namespace, root: str, error: BaseException) -> str:
    try:
        text = str(error.msg if isinstance(error, SyntaxError) else error)
    except Exception:  # noqa: BLE001 - the plugin's exception class may be broken, too
        text = "(its text can't be shown)"
    # The names that a person knows: not those of the store.
    text = text.replace(namespace.package + ".", "").replace(root, "")
    if len(text) > _MAX_CAUSE:
        text = text[:_MAX_CAUSE] + "..."
    return exact(f"{type(error).__name__}: {text}" if text else type(error).__name__)


def _advice(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError):
        return "Install what the plugin needs into this environment, or disable the plugin."
    if isinstance(error, SyntaxError):
        version = ".".join(map(str, sys.version_info[:2]))
        return f"Ask its author for a version for Python {version}, or disable the plugin."
    return "Report this to its author, or disable the plugin."
