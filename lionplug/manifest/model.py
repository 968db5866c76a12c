"""A manifest that has been read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from lionplug.documents.canonical import canonical_digest
from lionplug.manifest.capability import Capability, without_defaults
from lionplug.manifest.specifiers import Requirement


@frozen(kw_only=True)
class Manifest:
    """What a plugin declares.

    :param name: Its name.
    :param version: Its version, in its own words.
    :param description: What it is for; foreign text.
    :param hosts: Host to PEP 440 range, wherever in the manifest it stands.
    :param requires: Other plugins that it needs.
    :param python_packages: PEP 508 requirements.
    :param exclude: Patterns of paths that are no part of it.
    :param capabilities: What it offers, in the order of the manifest.
    :param annotations: The keys at the top that begin with ``x-``.
    """

    name: str
    version: str
    description: str = ""
    hosts: Mapping[str, str] = field(factory=dict)
    requires: tuple[Requirement, ...] = ()
    python_packages: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    capabilities: tuple[Capability, ...] = ()
    annotations: Mapping[str, Any] = field(factory=dict)

    @property
    def digest(self) -> str:
        """``sha256:`` and the hex digest of the canonical JSON of :meth:`to_dict`."""
        return canonical_digest(self.to_dict())

    def capability(self, surface: str, name: str) -> Capability | None:
        """Return one capability, or ``None``."""
        for capability in self.capabilities:
            if capability.surface == surface and capability.name == name:
                return capability
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the manifest as JSON-ready data, defaults left out (S12)."""
        values = {
            "name": self.name,
            "version": self.version,
            "description": self.description,
            "hosts": dict(self.hosts),
            "requires": [str(one) for one in self.requires],
            "python_packages": list(self.python_packages),
            "exclude": list(self.exclude),
            "capabilities": [capability.to_dict() for capability in self.capabilities],
        }
        return {**without_defaults(values), **self.annotations}
