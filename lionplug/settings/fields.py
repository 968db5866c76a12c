"""The keys of ``settings.yaml``: closed lists (S26)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import Factory, frozen

from lionplug.documents.declare import declared, extensions, table_of
from lionplug.documents.fields import Boolean, Choice, Integer, ListOf, MapOf, Nested, Text
from lionplug.manifest.sections.commands import ARGUMENT
from lionplug.manifest.sections.hooks_external import EVENT, HookCommand, HookGroup

_NAME = Text(hint="the name of a plugin", max_length=255)
_SOURCE = Text(hint="a text", empty=True, max_length=255)


@frozen(kw_only=True)
class SettingsCommand(HookCommand):
    """One command of a settings file; it lies in no bundle, so any program will do."""

    command: tuple[str, ...] = declared(
        ListOf(item=ARGUMENT, what="arguments", least=1, most=1000), doc="Program and arguments."
    )
    # Importers of other programs write where an entry came from. Who wrote an entry is
    # never read from the entry (S1).
    source: str = declared(_SOURCE, doc="Has no meaning.", default="")


@frozen(kw_only=True)
class SettingsGroup(HookGroup):
    """Commands that share one matcher."""

    hooks: tuple[SettingsCommand, ...] = declared(
        ListOf(item=Nested(SettingsCommand), what="hooks"), doc="The commands, run in this order."
    )
    source: str = declared(_SOURCE, doc="Has no meaning.", default="")


@frozen(kw_only=True)
class SettingsLimits:
    """Bounds of one tree."""

    files: int | None = declared(
        Integer(minimum=1, maximum=10_000_000), doc="Entries of one tree.", default=None
    )
    bytes: int | None = declared(
        Integer(minimum=1, maximum=2**40), doc="Bytes of one tree.", default=None
    )
    depth: int | None = declared(
        Integer(minimum=1, maximum=1000), doc="Levels of one tree.", default=None
    )


@frozen(kw_only=True)
class SettingsFile:
    """The keys of the user's settings; a project has those in :data:`PROJECT_KEYS`."""

    hooks_external: Mapping[str, tuple[SettingsGroup, ...]] = declared(
        MapOf(key=EVENT, value=ListOf(item=Nested(SettingsGroup), what="groups")),
        doc="Commands that are run when something happens.",
        default=Factory(dict),
    )
    disabled: tuple[str, ...] = declared(
        ListOf(item=_NAME, what="names of plugins"), doc="Plugins that are off.", default=()
    )
    safe_scopes: tuple[str, ...] = declared(
        ListOf(
            item=Text(
                pattern=r"(?:~?/[^\x00]*|~)",
                hint="an absolute path, or one that begins with '~/'",
                max_length=4096,
            ),
            what="paths",
        ),
        doc="Projects whose owners and modes are accepted.",
        default=(),
    )
    hook_env: Mapping[str, tuple[str, ...]] = declared(
        MapOf(
            key=_NAME,
            value=ListOf(
                item=Text(pattern="[A-Za-z_][A-Za-z0-9_]{0,127}", hint="the name of a variable"),
                what="names of variables",
            ),
        ),
        doc="Plugin to variables that its hooks may see.",
        default=Factory(dict),
    )
    on_failure: Mapping[str, str] = declared(
        MapOf(key=_NAME, value=Choice(("deny", "continue"))),
        doc="Plugin or hook to what happens when one of its guards fails.",
        default=Factory(dict),
    )
    pin_interpreters: bool = declared(
        Boolean(), doc="Pin the content of interpreters as well.", default=False
    )
    max_hook_processes: int = declared(
        Integer(minimum=1, maximum=1000), doc="Hooks that run at once.", default=8
    )
    limits: SettingsLimits = declared(  # noqa: RUF009 - a field like the others
        Nested(SettingsLimits), doc="Bounds of one tree.", default=Factory(SettingsLimits)
    )
    annotations: Mapping[str, Any] = extensions()


#: The keys of the user's settings.
USER_KEYS = tuple(table_of(SettingsFile).keys)

#: The keys of a project's settings. A further one needs the proof that it only tightens.
PROJECT_KEYS = ("hooks_external", "disabled")
