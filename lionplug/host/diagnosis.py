"""What a person should know about a host and its plugins, as data: ``host.diagnose()``.

Every command in a finding is built from parts that match strict patterns and is quoted for
a shell (security rule S37). Nothing of a plugin is imported, and nothing is changed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen

from lionplug.activation.bundle_hooks import HOOKIMPLS
from lionplug.files.owners import user_label
from lionplug.host.permissions import unsafe_paths
from lionplug.host.requirements import unmet_requirements
from lionplug.host.surroundings import SETTINGS_FILE
from lionplug.imports import safe_path
from lionplug.inventory import states
from lionplug.settings import Settings, read_settings
from lionplug.text import exact, quote

if TYPE_CHECKING:
    from lionplug.host import Host
    from lionplug.host.core import Core
    from lionplug.inventory.plugin import Plugin

#: How much a finding matters: a fact; worth knowing; a person has to do something.
INFO, WARNING, PROBLEM = "info", "warning", "problem"

#: Names that one finding lists.
_MOST_NAMES = 5

_HOOK_COMMANDS = "hooks_external"


@frozen(kw_only=True)
class Finding:
    """One thing to know.

    :param code: Stable identifier of its kind, such as ``permissions``.
    :param severity: ``info``, ``warning`` or ``problem``; a problem needs a person.
    :param text: A sentence; foreign text in it is made fit to be shown.
    :param command: The one command that mends it; ``None`` where no command does.
    :param plugin: Address of the plugin that it is about.
    """

    code: str
    severity: str
    text: str
    command: str | None = None
    plugin: str | None = None

    def to_dict(self) -> dict[str, str | None]:
        """Return the finding as JSON-ready data."""
        return {
            "code": self.code,
            "severity": self.severity,
            "text": self.text,
            "command": self.command,
            "plugin": self.plugin,
        }


@frozen(kw_only=True)
class Diagnosis:
    """All findings about one host.

    :param host: Name of the host.
    :param version: Its version.
    :param command: What a person types to manage its plugins.
    :param findings: In the order in which they are best read: facts about host, scopes and
        approvals, then what is wrong.
    """

    host: str
    version: str
    command: str
    findings: tuple[Finding, ...]

    @property
    def needs_person(self) -> bool:
        """Whether somebody has to do something."""
        return any(one.severity == PROBLEM for one in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis as JSON-ready data."""
        return {
            "host": self.host,
            "version": self.version,
            "command": self.command,
            "needs_person": self.needs_person,
            "findings": [one.to_dict() for one in self.findings],
        }


def diagnose(host: Host, *, search_path: Sequence[str] | None = None) -> Diagnosis:
    """Look at everything that can keep a plugin from working.

    :param host: The host; the current generation counts, so refresh it first to see
        what changed on disk.
    :param search_path: ``sys.path`` as the process started with it; that of now by default.
    """
    parts = _Parts(host, sys.path if search_path is None else search_path)
    return Diagnosis(
        host=host.name,
        version=host.version,
        command=host.command,
        findings=tuple(dict.fromkeys(parts.findings())),
    )


class _Parts:
    """The parts of one diagnosis."""

    def __init__(self, host: Host, search_path: Sequence[str]) -> None:
        self._host = host
        self._core: Core = host._core
        self._search_path = search_path
        self._plugins = host.plugins.all
        self._unsafe = unsafe_paths(host.name, host.user_scope)
        self._distrust = self._why_nothing_is_trusted()

    def findings(self) -> Iterator[Finding]:
        yield Finding(
            code="host",
            severity=INFO,
            text=f"{self._host.name} {self._host.version} (command: {self._host.command})",
        )
        yield from self._user_scope()
        yield from self._projects()
        yield from self._approvals()
        yield from self._hook_knowledge()
        yield from self._permissions()
        yield from self._settings()
        for plugin in self._plugins:
            yield from self._plugin(plugin)
        yield from self._path()
        yield from self._other_notices()

    # -- scopes ------------------------------------------------------------------------

    def _why_nothing_is_trusted(self) -> str | None:
        problem = self._core.grants.state.problem
        return self._host.user_scope.problem or (
            f"nothing is trusted: {problem}" if problem else None
        )

    def _user_scope(self) -> Iterator[Finding]:
        scope = self._host.user_scope
        if scope.path is None:
            yield Finding(code="user-scope", severity=INFO, text="user scope: none")
        else:
            origin = f"from {'the ' if ' ' in scope.source else ''}{scope.source}"
            state = "" if os.path.isdir(scope.path) else "; made with the first approval"
            text = f"user scope: {exact(scope.path)} ({origin}{state})"
            yield Finding(code="user-scope", severity=INFO, text=text)
            if os.path.isdir(scope.path) and not os.access(
                scope.path, os.W_OK, effective_ids=os.access in os.supports_effective_ids
            ):
                yield Finding(
                    code="read-only",
                    severity=WARNING,
                    text=f"{exact(scope.path)} can't be written by you: what is approved there "
                    "counts, and nothing can be approved, revoked or switched off.",
                )
        if scope.problem and not self._is_told(scope.problem):
            yield Finding(code="user-scope-problem", severity=PROBLEM, text=scope.problem)
        for warning in scope.warnings:
            yield Finding(code="environment", severity=WARNING, text=warning)

    def _projects(self) -> Iterator[Finding]:
        for scope in self._host.project_scopes:
            if scope.problem is None:
                text = f"project scope: {exact(scope.directory)}"
                yield Finding(code="project-scope", severity=INFO, text=text)
            else:
                yield Finding(
                    code="foreign-scope",
                    severity=WARNING,
                    text=f"{exact(scope.directory)} offers nothing: {scope.problem} "
                    f"(owner: {user_label(scope.owner)})",
                )

    def _approvals(self) -> Iterator[Finding]:
        path, state = self._core.trust_file.path, self._core.grants.state
        if path is None:
            return
        if state.problem:
            if not self._is_told(state.problem):
                text = f"nothing is trusted: {state.problem}"
                yield Finding(code="approvals-problem", severity=PROBLEM, text=text)
            return
        count = len(state.records)
        what = f"{count} approval{'' if count == 1 else 's'}, {len(state.disabled)} switched off"
        text = f"approvals: {exact(path)} ({what if os.path.exists(path) else 'no file yet'})"
        yield Finding(code="approvals", severity=INFO, text=text)
        present = {plugin.location for plugin in self._plugins}
        for place, reason in state.unreadable.items():
            if place not in present:  # else its plugin is told to be changed
                yield Finding(
                    code="approval-unreadable",
                    severity=WARNING,
                    text=f"an approval in {exact(path)} can't be read and approves nothing: "
                    f"{exact(place)}: {reason}",
                )

    def _permissions(self) -> Iterator[Finding]:
        for one in self._unsafe:
            text = one.reason.removesuffix(f"; run: {one.command}")
            yield Finding(code="permissions", severity=PROBLEM, text=text, command=one.command)

    def _is_told(self, text: str) -> bool:
        """Tell whether a sentence only repeats what a path's permissions are told for."""
        return any(one.reason in text for one in self._unsafe)

    # -- settings ----------------------------------------------------------------------

    def _settings(self) -> Iterator[Finding]:
        scope = self._host.user_scope
        files = []
        if scope.path is not None and not scope.problem:
            files.append(read_settings(scope.settings_file, "user"))
        files += [
            read_settings(os.path.join(project.directory, SETTINGS_FILE), "project")
            for project in self._host.project_scopes
            if project.problem is None
        ]
        for settings in files:
            yield from self._settings_file(settings)

    def _settings_file(self, settings: Settings) -> Iterator[Finding]:
        severity = PROBLEM if settings.kind == "user" else WARNING
        for problem in settings.problems:
            if not self._is_told(str(problem)):
                yield Finding(code="settings", severity=severity, text=str(problem))
        if settings.hooks_external:
            places = [hook.place for hook in settings.hooks_external]
            text = f"not run: {_listed(places)} of {exact(settings.path)}; {_NO_COMMANDS}"
            yield Finding(code="not-run", severity=WARNING, text=text)

    # -- plugins -----------------------------------------------------------------------

    def _plugin(self, plugin: Plugin) -> Iterator[Finding]:
        if plugin.failed:
            yield _about(
                plugin,
                "activation-failed",
                f"is active and its code can't be imported: {plugin.failed}",
                self._command("info", plugin),
            )
        elif plugin.state == states.INCOMPATIBLE:
            yield from self._incompatible(plugin)
        elif plugin.state in states.NEED_ATTENTION and not self._waits_for_trust(plugin):
            yield _about(
                plugin,
                f"plugin-{plugin.state}",
                f"is {plugin.state}: {plugin.reason}",
                plugin.next_command or self._after_collision(plugin),
            )
        for name, why in plugin.refused_names:
            text = f"is refused for {exact(name)}: {why}"
            yield _about(plugin, "refused-name", text, None, WARNING)
        yield from self._not_run(plugin)

    def _waits_for_trust(self, plugin: Plugin) -> bool:
        """Tell whether it is what is trusted at all that has to be mended first."""
        return plugin.state == states.UNTRUSTED and plugin.reason == self._distrust

    def _incompatible(self, plugin: Plugin) -> Iterator[Finding]:
        for unmet in unmet_requirements(plugin, self._plugins, self._core):
            yield _about(plugin, "requirement", unmet.reason, unmet.command)

    def _after_collision(self, plugin: Plugin) -> str | None:
        """Return the command that switches one copy of a collision off: all but the first."""
        if plugin.state != states.COLLISION:
            return None
        first = next(
            one
            for one in self._plugins
            if one.state == states.COLLISION
            and (one.name, one.found.scope) == (plugin.name, plugin.found.scope)
        )
        return None if plugin is first else self._command("disable", plugin)

    def _not_run(self, plugin: Plugin) -> Iterator[Finding]:
        commands = [one.name for one in plugin.capabilities if one.surface == _HOOK_COMMANDS]
        if commands:
            text = f"not run: {_listed(commands)} of {exact(plugin.address)}; {_NO_COMMANDS}"
            yield Finding(code="not-run", severity=WARNING, text=text, plugin=plugin.address)
        optional = (
            self._core.builder.missing_hooks(plugin.manifest, optional=True)
            if plugin.manifest is not None
            else []
        )
        if optional:
            text = (
                f"not run: {_listed(optional)} of {exact(plugin.address)}; "
                f"{self._host.name} {self._host.version} does not have what is optional there"
            )
            yield Finding(code="not-run", severity=WARNING, text=text, plugin=plugin.address)

    def _hook_knowledge(self) -> Iterator[Finding]:
        implement = any(
            one.surface == HOOKIMPLS for plugin in self._plugins for one in plugin.capabilities
        )
        if implement and not self._core.builder.knows_hooks:
            text = (
                f"the hooks of {self._host.name} are not known here, so those that plugins "
                "implement are not checked"
            )
            yield Finding(code="hooks-unchecked", severity=INFO, text=text)

    def _command(self, verb: str, plugin: Plugin) -> str:
        return f"{self._host.command} {verb} {quote(plugin.address)}"

    # -- the rest ----------------------------------------------------------------------

    def _path(self) -> Iterator[Finding]:
        """Tell of entries from which a project could put its modules before others (S19)."""
        safe = set(safe_path())
        for entry in dict.fromkeys(self._search_path):
            if isinstance(entry, str) and entry not in safe and _could_hold_modules(entry):
                shown = exact(entry) if entry else "'' (the working directory)"
                yield Finding(
                    code="search-path",
                    severity=WARNING,
                    text=f"{shown} is on sys.path: a file of the project can take the place of "
                    "an installed module. lionplug imports nothing from there; other code in "
                    "this process may. Start by the script of a program or by 'python -P -m', "
                    "and look at PYTHONPATH.",
                )

    def _other_notices(self) -> Iterator[Finding]:
        told = {str(problem) for problem in self._settings_problems()}
        told |= {
            f"{exact(scope.directory)} offers nothing: {scope.problem}"
            for scope in self._host.project_scopes
        }
        told |= {self._distrust or "", *self._host.user_scope.warnings}
        for notice in self._host.plugins.notices:
            if notice in told or notice.startswith("user scope: ") or self._is_told(notice):
                continue
            yield Finding(code="notice", severity=WARNING, text=notice)

    def _settings_problems(self) -> Iterator[str]:
        for finding in self._settings():
            if finding.code == "settings":
                yield finding.text


_NO_COMMANDS = "this version of lionplug runs no hook commands"


def _about(
    plugin: Plugin, code: str, text: str, command: str | None, severity: str = PROBLEM
) -> Finding:
    name = " ".join(filter(None, (exact(plugin.address), exact(plugin.version))))
    return Finding(
        code=code,
        severity=severity,
        text=f"{name} {text}",
        command=command,
        plugin=plugin.address,
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(exact, names[:_MOST_NAMES]))
    more = len(names) - _MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def _could_hold_modules(entry: str) -> bool:
    """Tell whether an entry leads somewhere, and not only to this interpreter's own scripts."""
    return not entry or (entry != os.path.dirname(sys.executable) and os.path.exists(entry))
