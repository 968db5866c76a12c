"""The keys at the top of a manifest."""

from __future__ import annotations

from collections.abc import Mapping as AbstractMapping
from typing import Any

from attrs import Factory, frozen

from lionplug.documents.declare import declared, extensions
from lionplug.documents.fields import INVALID, AnyNode, ListOf, MapOf, Text
from lionplug.documents.nodes import Mapping, Node, Scalar, shown
from lionplug.documents.problems import Problems
from lionplug.files.exclude import check_pattern
from lionplug.manifest.names import (
    HOST_NAME,
    HOST_NAME_HINT,
    PLUGIN_NAME,
    PLUGIN_NAME_HINT,
    RESERVED_PLUGIN_NAMES,
    is_host_name,
    why_not_plugin_name,
)
from lionplug.manifest.specifiers import (
    MAX_LENGTH,
    Requirement,
    parse_requirement,
    why_not_package,
    why_not_requirement,
    why_not_specifier,
)

_VERSION = Text(
    pattern=r"[A-Za-z0-9][A-Za-z0-9.+!_-]{0,63}",
    hint="a version: 1 to 64 of A-Z, a-z, 0-9, '.', '+', '!', '_' and '-'",
    max_length=64,
)

# At least one operator with a version after it; more than that is for PEP 440 to say.
_SPECIFIER_PATTERN = r"^[\s,]*(?:~=|===?|!=|<=?|>=?)\s*[^\s,<>=!~]"

#: A range of versions of a host.
SPECIFIER = Text(
    hint="a version range such as '>=1.2,<2'",
    check=why_not_specifier,
    code="specifier",
    max_length=MAX_LENGTH,
    schema={"pattern": _SPECIFIER_PATTERN},
)


def _why_not_exclude(pattern: str) -> str | None:
    reason = check_pattern(pattern)
    return f"expected a pattern of paths; it {reason}" if reason else None


@frozen(kw_only=True)
class RequirementField(Text):
    """Another plugin that is needed; becomes a :class:`Requirement`."""

    def read(self, node: Node, problems: Problems) -> Any:
        text = super().read(node, problems)
        return INVALID if text is INVALID else parse_requirement(text)


@frozen(kw_only=True)
class Head:
    """The keys that every manifest may have; keys of hosts and sections are read elsewhere."""

    name: str = declared(
        Text(
            hint=PLUGIN_NAME_HINT,
            check=why_not_plugin_name,
            code="name",
            max_length=1000,
            schema={
                "pattern": f"^{PLUGIN_NAME}$",
                "not": {"enum": sorted(RESERVED_PLUGIN_NAMES)},
            },
        ),
        doc="Name of the plugin, which is also its namespace.",
    )
    version: str = declared(_VERSION, doc="The plugin's own version.")
    description: str = declared(
        Text(hint="a description", empty=True, max_length=4000),
        doc="What the plugin is for.",
        default="",
    )
    hosts: AbstractMapping[str, str] = declared(
        MapOf(key=Text(pattern=HOST_NAME, hint=HOST_NAME_HINT, max_length=64), value=SPECIFIER),
        doc="Host to the range of its versions; says the same as a key with the host's name.",
        default=Factory(dict),
    )
    requires: tuple[Requirement, ...] = declared(
        ListOf(
            item=RequirementField(
                hint="a plugin such as 'search' or 'search>=1.2'",
                check=why_not_requirement,
                code="requirement",
                max_length=MAX_LENGTH,
                schema={"pattern": rf"^{PLUGIN_NAME}(?:\s*[~=!<>].*)?$"},
            ),
            what="plugins",
            most=100,
            unique=True,
        ),
        doc="Other plugins that must be present.",
        default=(),
    )
    python_packages: tuple[str, ...] = declared(
        ListOf(
            item=Text(
                hint="a Python package",
                check=why_not_package,
                code="requirement",
                max_length=MAX_LENGTH,
                schema={"pattern": r"^\s*[A-Za-z0-9]"},
            ),
            what="Python packages",
            most=100,
            unique=True,
        ),
        doc="Python packages that must be installed (PEP 508); they are never installed for it.",
        default=(),
    )
    exclude: tuple[str, ...] = declared(
        ListOf(
            item=Text(
                hint="a pattern of paths",
                check=_why_not_exclude,
                code="pattern",
                max_length=1024,
                schema={"pattern": r"^(?![/!])(?!.*(?:^|/)\.{0,2}(?:/|$))[^\[\]\\]+$"},
            ),
            what="patterns",
            most=100,
            unique=True,
        ),
        doc="Patterns of paths that are no part of the plugin: never copied, never read.",
        default=(),
    )
    capabilities: Mapping | None = declared(  # noqa: RUF009 - a field like the others
        AnyNode(), doc="What the plugin offers, by surface.", default=None
    )
    annotations: AbstractMapping[str, Any] = extensions()


class HostKeys:
    """Collects the keys at the top that are names of hosts.

    :param host: The host that reads the manifest: its key must be right. Another key is
        that of another host if a version range stands under it.
    """

    def __init__(self, host: str) -> None:
        self._host = host
        self.found: dict[str, tuple[str, Node]] = {}

    def take(self, key: Scalar, node: Node, problems: Problems) -> bool:
        """Take a key if it is one; see ``TakeKey``."""
        name = key.text
        if name == self._host:
            specifier = SPECIFIER.read(node, problems)
            if specifier is not INVALID:
                self.found[name] = (specifier, node)
            return True
        if not isinstance(node, Scalar) or not is_host_name(name):
            return False
        if why_not_specifier(node.text):
            return False
        self.found[name] = (node.text, node)
        return True

    def merged(self, head: Head, document: Mapping, problems: Problems) -> dict[str, str]:
        """Return host to range, from the keys and from ``hosts``."""
        inner = document.get("hosts")
        for name in head.hosts:
            if name in self.found:
                place = inner.get(name) if isinstance(inner, Mapping) else None
                outer = self.found[name][1]
                problems.at(
                    place or document,
                    "duplicate-key",
                    f"the range of {shown(name)} stands twice, at line {outer.line} and under "
                    "'hosts'; keep one.",
                )
        return {**head.hosts, **{name: text for name, (text, _) in self.found.items()}}
