"""Every error that lionplug raises: one tree under :class:`LionplugError`.

A message names the plugin, the file (relative to the bundle) and the field, says
what was expected and found, and ends with what to do next; the attributes carry
the same facts as data. The command that mends a refusal is only an attribute,
because messages reach language models and a model must not be told how to approve
a plugin. Every error can be pickled.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class LionplugError(Exception):
    """Base of all errors.

    :param message: The whole message, one or more lines of text.
    :param plugin: Name of the plugin at fault.
    :param file: Path of the file at fault, relative to the bundle where it lies in one.
    :param field: Path of the field at fault, such as ``capabilities.tools[0].name``.
    :param command: The command that a person can run next, as text.
    """

    def __init__(
        self,
        message: str,
        *,
        plugin: str | None = None,
        file: str | None = None,
        field: str | None = None,
        command: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.plugin = plugin
        self.file = file
        self.field = field
        self.command = command

    def __str__(self) -> str:
        # KeyError, which some subclasses mix in, would show a repr.
        return self.message


class Problem:
    """One thing that is wrong with a file: where, and what was expected and found.

    :param code: Stable identifier of the rule, such as ``duplicate-key``.
    :param message: A sentence that says what was expected and found, and what to do.
    :param file: Path relative to the bundle, or as the user named it.
    :param line: Line, counted from 1; 0 where the problem has no place.
    :param column: Column, counted from 1; 0 where the problem has no place.
    :param field: Path of the field, such as ``capabilities.tools[0].name``.
    """

    __slots__ = ("code", "column", "field", "file", "line", "message")

    def __init__(
        self,
        code: str,
        message: str,
        *,
        file: str,
        line: int = 0,
        column: int = 0,
        field: str = "",
    ) -> None:
        self.code = code
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        self.field = field

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        field = f" {self.field}:" if self.field else ""
        return f"{place}:{field} {self.message}"

    def __repr__(self) -> str:
        return f"<Problem {self.code} {self}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.code, self.file, self.line, self.column, self.field, self.message))

    def to_dict(self) -> dict[str, str | int]:
        """Return the problem as JSON-ready data."""
        return {name: getattr(self, name) for name in self.__slots__}


class UsageError(LionplugError, ValueError):
    """An argument is not of the form that is asked for."""


class ProblemsError(LionplugError, ValueError):
    """A file, or several, broke rules; all problems are reported together.

    :param problems: What is wrong, in the order of the file.
    :param summary: First line of the message.
    """

    def __init__(
        self,
        problems: Sequence[Problem] = (),
        summary: str = "",
        *,
        plugin: str | None = None,
        file: str | None = None,
        command: str | None = None,
    ) -> None:
        lines = [summary] if summary else []
        lines += [str(problem) for problem in problems]
        first = problems[0] if problems else None
        super().__init__(
            "\n".join(lines),
            plugin=plugin,
            file=file or (first.file if first else None),
            field=(first.field or None) if first else None,
            command=command,
        )
        self.problems = tuple(problems)
        self.summary = summary

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.problems, self.summary), self.__dict__


class ManifestError(ProblemsError):
    """A manifest can't be used."""


class SettingsError(ProblemsError):
    """A settings file can't be used."""


class ContentError(ProblemsError):
    """A file that a plugin or the user offers as text or data can't be read as such."""


class TreeError(ProblemsError):
    """A directory tree can't be pinned: a name, a link or a size is refused, or it changed."""


class PluginNotFoundError(LionplugError, LookupError):
    """No plugin has the name or path that was asked for."""


class AmbiguousNameError(UsageError, LookupError):
    """A name fits several plugins, or several copies of one.

    :param choices: The names that single each of them out.
    """

    def __init__(
        self, message: str, *, choices: Sequence[str] = (), plugin: str | None = None
    ) -> None:
        super().__init__(message, plugin=plugin)
        self.choices = tuple(choices)


class CapabilityNotFoundError(LionplugError, KeyError):
    """No active plugin offers the capability; says which inactive one would.

    :param surface: The surface, such as ``tools``.
    :param name: The capability that was asked for.
    :param state: State of the plugin that declares it, where one does.
    """

    def __init__(
        self,
        message: str,
        *,
        surface: str = "",
        name: str = "",
        state: str | None = None,
        plugin: str | None = None,
        command: str | None = None,
    ) -> None:
        super().__init__(message, plugin=plugin, command=command)
        self.surface = surface
        self.name = name
        self.state = state


class NotGrantedError(LionplugError, PermissionError):
    """A plugin may not run now and here: untrusted, changed, disabled, revoked.

    :param state: The state that the plugin is in.
    """

    def __init__(
        self,
        message: str,
        *,
        state: str = "",
        plugin: str | None = None,
        command: str | None = None,
    ) -> None:
        super().__init__(message, plugin=plugin, command=command)
        self.state = state


class TrustError(LionplugError):
    """A plugin can't be approved or an approval can't be kept."""


class TrustFileError(TrustError):
    """The file of approvals can't be believed; nothing is trusted until it is mended."""


class StoreError(TrustError):
    """An approved tree is missing from the store or is not what was approved."""


class LockTimeoutError(LionplugError, TimeoutError):
    """Another process held a lock for longer than the wait allowed."""


class UnsafePathError(LionplugError, PermissionError):
    """A path that trust depends on can be written by somebody else, or is no plain file."""


class ScopeError(LionplugError):
    """There is no user scope in which anything could be kept."""


class ActivationError(LionplugError, ImportError):
    """A plugin's code could not be imported, or lacks what its manifest names.

    :ivar line: Line of the plugin's file at which it failed; 0 where there is none.
    :ivar details: The traceback as text; kept as text so that it keeps nothing alive.
    """

    line: int = 0
    details: str = ""


class ArgumentsError(LionplugError, ValueError):
    """The arguments of a tool call don't fit the tool's schema.

    :param problems: One sentence each, with the place in the arguments.
    """

    def __init__(
        self, message: str, *, problems: Sequence[str] = (), plugin: str | None = None
    ) -> None:
        super().__init__(message, plugin=plugin)
        self.problems = tuple(problems)


class AsyncToolError(LionplugError, TypeError):
    """An ``async def`` tool was called without ``await``."""
