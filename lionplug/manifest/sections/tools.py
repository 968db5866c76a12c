"""``tools``: functions and commands that a model can call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from attrs import frozen

from lionplug.documents.declare import declared
from lionplug.manifest.capability import Capability, without_defaults
from lionplug.manifest.references import path_of
from lionplug.manifest.section import Entry, Section
from lionplug.manifest.sections.commands import COMMAND, program_file
from lionplug.manifest.sections.common import DESCRIPTION, NAME, REFERENCE
from lionplug.manifest.sections.schemas import ParametersSchema


@frozen(kw_only=True)
class Tool(Entry):
    """One tool."""

    name: str = declared(NAME, doc="Name by which the tool is called.")
    target: str = declared(REFERENCE, doc="Function that is called, path.py:function.", default="")
    command: tuple[str, ...] = declared(
        COMMAND, doc="Command that is run instead of a function.", default=()
    )
    description: str = declared(
        DESCRIPTION,
        doc="What the tool does; without it, the function's docstring.",
        default="",
    )
    parameters: Mapping[str, Any] | None = declared(
        ParametersSchema(),
        doc="JSON Schema (2020-12) of the arguments; without it, the function's signature.",
        default=None,
    )

    SCHEMA: ClassVar[dict[str, Any]] = {
        "oneOf": [{"required": ["target"]}, {"required": ["command"]}]
    }

    def contradictions(self) -> Iterator[tuple[str, str, str]]:
        """Yield what is wrong with the keys taken together."""
        if bool(self.target) == bool(self.command):
            found = "both" if self.target else "neither"
            yield "", "value", f"expected either 'target' or 'command', found {found}."

    def capability(self, section: Section, key: str) -> Capability:
        """Return the capability."""
        files = program_file(self.command) if self.command else (path_of(self.target),)
        return Capability(
            surface=section.key,
            name=self.name,
            danger=section.danger,
            target=self.target,
            argv=self.command,
            files=files,
            detail={
                **without_defaults(
                    {"description": self.description, "parameters": self.parameters}
                ),
                **self.annotations,
            },
        )


TOOLS = Section(
    key="tools", entry=Tool, danger="executes", doc="Functions and commands that a model can call."
)
