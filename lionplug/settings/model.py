"""What one settings file says."""

from __future__ import annotations

from collections.abc import Container, Mapping

from attrs import field, frozen

from lionplug.errors import Problem
from lionplug.files.limits import Limits


class Everything(Container[str]):
    """What is disabled when that can't be known."""

    def __contains__(self, name: object) -> bool:
        return True

    def __repr__(self) -> str:
        return "Everything()"


@frozen(kw_only=True)
class ExternalHook:
    """One command of ``hooks_external``.

    :param event: The event.
    :param place: Where it stands: ``PreToolUse[0][1]``.
    :param matcher: For which tools; empty for all.
    :param argv: Program and arguments.
    :param timeout: Seconds, or ``None`` for the default.
    :param line: Line in the file.
    """

    event: str
    place: str
    matcher: str
    argv: tuple[str, ...]
    timeout: float | None
    line: int


@frozen(kw_only=True)
class Settings:
    """What one settings file says.

    :param path: The file.
    :param kind: Whose it is, ``user`` or ``project``.
    :param disabled: Names of plugins that are off, for ``in``.
    :param problems: Everything that is wrong or ignored.
    :param unreadable: Keys about which the file may say something that can't be read.
    :param lines: ``(key, name)`` to line.
    """

    path: str = ""
    kind: str = "user"
    disabled: Container[str] = ()
    hooks_external: tuple[ExternalHook, ...] = ()
    safe_scopes: tuple[str, ...] = ()
    hook_env: Mapping[str, tuple[str, ...]] = field(factory=dict)
    on_failure: Mapping[str, str] = field(factory=dict)
    pin_interpreters: bool = False
    max_hook_processes: int = 8
    limits: Limits = field(factory=Limits)
    problems: tuple[Problem, ...] = ()
    unreadable: frozenset[str] = frozenset()
    lines: Mapping[tuple[str, str], int] = field(factory=dict)

    def line_of(self, key: str, name: str) -> int:
        """Return the line at which a key names something; else that of the first problem.

        :param key: Such as ``disabled``.
        :param name: A plugin, the place of a hook, or a key of the mapping.
        :returns: The line, or 0 if there is none.
        """
        line = self.lines.get((key, name))
        if line is None and self.problems:
            line = self.problems[0].line
        return line or 0
