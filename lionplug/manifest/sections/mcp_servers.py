"""``mcp_servers``: servers that are started, or connected to, for their tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from attrs import Factory, frozen

from lionplug.documents.declare import declared
from lionplug.documents.fields import Choice, ListOf, MapOf, Text
from lionplug.manifest.capability import Capability, without_defaults
from lionplug.manifest.section import Entry, Section
from lionplug.manifest.sections.commands import PROGRAM, program_file
from lionplug.manifest.sections.common import NAME, PATH

_URL_PATTERN = r"https?://[A-Za-z0-9.\-\[\]:]+(?:[/?][!-~]*)?"
_VARIABLE = Text(
    pattern="[A-Za-z_][A-Za-z0-9_]{0,127}", hint="the name of a variable", max_length=128
)
_HEADER = Text(
    pattern=r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}", hint="the name of a header", max_length=128
)
_HEADER_VALUE = Text(
    pattern=r"[ -~]*", hint="printable ASCII on one line", empty=True, max_length=8000
)
_VALUE = Text(hint="a value", empty=True, max_length=100_000)
_LOCAL_KEYS = ("args", "env", "cwd")


@frozen(kw_only=True)
class McpServer(Entry):
    """One server."""

    type: str = declared(
        Choice(("stdio", "streamable-http", "sse")),
        doc="How to talk to it; without it, stdio for a command, streamable-http for an address.",
        default="",
    )
    command: str = declared(PROGRAM, doc="Program that is started.", default="")
    args: tuple[str, ...] = declared(
        ListOf(item=_VALUE, what="arguments", most=1000), doc="Its arguments.", default=()
    )
    env: Mapping[str, str] = declared(
        MapOf(key=_VARIABLE, value=_VALUE),
        doc="Variables of its environment.",
        default=Factory(dict),
    )
    cwd: str = declared(PATH, doc="Its working directory, in the bundle.", default="")
    url: str = declared(
        Text(pattern=_URL_PATTERN, hint="an http:// or https:// address in ASCII"),
        doc="Address that is connected to.",
        default="",
    )
    headers: Mapping[str, str] = declared(
        MapOf(key=_HEADER, value=_HEADER_VALUE),
        doc="Headers of every request.",
        default=Factory(dict),
    )

    SCHEMA: ClassVar[dict[str, Any]] = {
        "oneOf": [
            {
                "required": ["command"],
                "properties": {"type": {"const": "stdio"}, "url": False, "headers": False},
            },
            {
                "required": ["url"],
                "properties": {
                    "type": {"enum": ["streamable-http", "sse"]},
                    **dict.fromkeys(("command", *_LOCAL_KEYS), False),
                },
            },
        ]
    }

    def contradictions(self) -> Iterator[tuple[str, str, str]]:
        """Yield what is wrong with the keys taken together."""
        if bool(self.command) == bool(self.url):
            found = "both" if self.url else "neither"
            yield "", "value", f"expected either 'command' or 'url', found {found}."
            return
        kind, others = ("url", _LOCAL_KEYS) if self.url else ("command", ("headers",))
        for key in others:
            if getattr(self, key):
                yield key, "value", f"expected no '{key}' beside '{kind}'."
        if self.type and (self.type == "stdio") == bool(self.url):
            yield "type", "value", f"expected a type that fits '{kind}', found '{self.type}'."

    def capability(self, section: Section, key: str) -> Capability:
        """Return the capability."""
        argv = (self.command, *self.args) if self.command else ()
        detail = {
            "type": self.type,
            "env": dict(self.env),
            "cwd": self.cwd,
            "headers": dict(self.headers),
        }
        return Capability(
            surface=section.key,
            name=key,
            danger=section.danger if argv else "connects",
            argv=argv,
            url=self.url,
            files=program_file(argv) if argv else (),
            detail={**without_defaults(detail), **self.annotations},
        )


MCP_SERVERS = Section(
    key="mcp_servers",
    entry=McpServer,
    layout="mapping",
    danger="executes",
    doc="Servers that are started, or connected to, for their tools.",
    keys=NAME,
)
