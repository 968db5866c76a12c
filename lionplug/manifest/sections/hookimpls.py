"""``hookimpls``: functions that answer the host's own hooks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from attrs import frozen

from lionplug.documents.declare import declared
from lionplug.documents.fields import Boolean, Text
from lionplug.manifest.capability import Capability, without_defaults
from lionplug.manifest.references import path_of
from lionplug.manifest.section import Entry, Section
from lionplug.manifest.sections.common import REFERENCE

HOOK_NAME = "[A-Za-z_][A-Za-z0-9_]{0,127}"


@frozen(kw_only=True)
class HookImpl(Entry):
    """One function for one hook."""

    hook: str = declared(
        Text(pattern=HOOK_NAME, hint="the name of a hook", max_length=128),
        doc="Name of the hook.",
    )
    target: str = declared(REFERENCE, doc="Function that answers it, path.py:function.")
    tryfirst: bool = declared(Boolean(), doc="Call it as early as possible.", default=False)
    trylast: bool = declared(Boolean(), doc="Call it as late as possible.", default=False)
    wrapper: bool = declared(
        Boolean(), doc="It is a generator that wraps the other implementations.", default=False
    )
    optional: bool = declared(
        Boolean(), doc="The plugin works with hosts that lack the hook.", default=False
    )

    SCHEMA: ClassVar[dict[str, Any]] = {
        "not": {
            "properties": {"tryfirst": {"const": True}, "trylast": {"const": True}},
            "required": ["tryfirst", "trylast"],
        }
    }

    def contradictions(self) -> Iterator[tuple[str, str, str]]:
        """Yield what is wrong with the keys taken together."""
        if self.tryfirst and self.trylast:
            yield "trylast", "value", "expected 'tryfirst' or 'trylast', found both."

    def capability(self, section: Section, key: str) -> Capability:
        """Return the capability."""
        flags = {
            "tryfirst": self.tryfirst,
            "trylast": self.trylast,
            "wrapper": self.wrapper,
            "optional": self.optional,
        }
        return Capability(
            surface=section.key,
            name=self.hook,
            danger=section.danger,
            target=self.target,
            files=(path_of(self.target),),
            detail={**without_defaults(flags), **self.annotations},
        )


HOOKIMPLS = Section(
    key="hookimpls",
    entry=HookImpl,
    danger="executes",
    doc="Functions that answer hooks of the host, at most one for each hook.",
)
