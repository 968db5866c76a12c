"""``hooks_external``: commands that are run when something happens.

The same classes read ``hooks_external`` of settings files.
"""

from __future__ import annotations

from attrs import frozen

from lionplug.documents.declare import declared
from lionplug.documents.fields import Choice, ListOf, Nested, Number, Text
from lionplug.manifest.capability import Capability, without_defaults
from lionplug.manifest.matchers import why_not_matcher
from lionplug.manifest.section import Entry, Section
from lionplug.manifest.sections.commands import COMMAND, program_file

#: The events that a hook can be declared for.
EVENTS = (
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
)

#: The events, as keys of a mapping.
EVENT = Choice(EVENTS)


@frozen(kw_only=True)
class HookCommand(Entry):
    """One command."""

    type: str = declared(Choice(("command",)), doc="The only kind there is.")
    command: tuple[str, ...] = declared(COMMAND, doc="Program and arguments.")
    timeout: float | None = declared(
        Number(minimum=0.001, maximum=3600),
        doc="Seconds after which it is ended; without it, 60.",
        default=None,
    )


@frozen(kw_only=True)
class HookGroup(Entry):
    """Commands that share one matcher."""

    matcher: str = declared(
        Text(hint="a matcher", check=why_not_matcher, code="matcher", empty=True),
        doc="Names of tools, or a regular expression (RE2); all tools without it.",
        default="",
    )
    hooks: tuple[HookCommand, ...] = declared(
        ListOf(item=Nested(HookCommand), what="hooks"), doc="The commands, run in this order."
    )


@frozen(kw_only=True)
class HookEvent(Entry):
    """All groups of one event."""

    groups: tuple[HookGroup, ...] = declared(
        ListOf(item=Nested(HookGroup), what="groups"), doc="Groups of commands."
    )

    def capabilities(self, section: Section, key: str) -> list[Capability]:
        """Return one capability for each command, named by its place: ``PreToolUse[0][1]``."""
        return [
            Capability(
                surface=section.key,
                name=f"{key}[{number}][{position}]",
                danger=section.danger,
                argv=hook.command,
                files=program_file(hook.command),
                detail={
                    "event": key,
                    **without_defaults({"matcher": group.matcher, "timeout": hook.timeout}),
                    **group.annotations,
                    **hook.annotations,
                },
            )
            for number, group in enumerate(self.groups)
            for position, hook in enumerate(group.hooks)
        ]


HOOKS_EXTERNAL = Section(
    key="hooks_external",
    entry=HookEvent,
    layout="mapping",
    danger="executes",
    doc="Commands that are run when something happens.",
    bare="groups",
    keys=EVENT,
)
