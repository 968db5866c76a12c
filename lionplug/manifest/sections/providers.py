"""``providers``: Python files that register model providers when they are imported."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from lionplug.documents.declare import declared
from lionplug.documents.fields import ListOf, Text
from lionplug.manifest.capability import Capability, without_defaults
from lionplug.manifest.section import Entry, Section
from lionplug.manifest.sections.common import MODULE

_PROVIDER_NAME = Text(
    pattern=r"[A-Za-z0-9][A-Za-z0-9._/-]{0,99}",
    hint="the name of a provider: 1 to 100 of A-Z, a-z, 0-9, '.', '_', '/' and '-'",
    max_length=100,
)


@frozen(kw_only=True)
class Provider(Entry):
    """One module."""

    module: str = declared(MODULE, doc="Python file that registers the provider.")
    names: tuple[str, ...] = declared(
        ListOf(item=_PROVIDER_NAME, what="names", most=100, unique=True),
        doc="Names of the providers that it registers; it is imported for these only.",
        default=(),
    )

    def capability(self, section: Section, key: str) -> Capability:
        """Return the capability, whose name is the path of the module."""
        return Capability(
            surface=section.key,
            name=self.module,
            danger=section.danger,
            files=(self.module,),
            detail={**without_defaults({"names": list(self.names)}), **self.annotations},
        )

    def claims(self) -> Iterable[str]:
        """Return the names of the providers."""
        return self.names


PROVIDERS = Section(
    key="providers",
    entry=Provider,
    danger="executes",
    doc="Python files that register model providers.",
)
