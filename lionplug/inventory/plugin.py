"""One copy of a plugin, as the inventory sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import field, frozen

from lionplug.discovery.found import FoundBundle
from lionplug.errors import Problem
from lionplug.inventory import states
from lionplug.manifest.capability import Capability
from lionplug.manifest.model import Manifest
from lionplug.sources import SourceSignature
from lionplug.text import exact
from lionplug.trust.record import Record


def _never_failed() -> str | None:
    return None


@frozen(kw_only=True, repr=False)
class Plugin:
    """One copy of a plugin in one generation of the inventory.

    :param found: What discovery met.
    :param state: One of :data:`lionplug.inventory.states.STATES`.
    :param reason: Why it is in that state and what to do; empty when nothing is to be done.
    :param next_command: The command that moves it on, for a person's eyes only.
    :param address: A name that singles this copy out: ``user:NAME``, ``project:NAME`` or its path.
    :param record: The approval of this location, whether or not it is in force.
    :param refused_names: ``surface:name`` of capabilities that are refused, each with the reason.
    """

    found: FoundBundle
    state: str
    reason: str = ""
    next_command: str | None = None
    address: str
    record: Record | None = None
    refused_names: tuple[tuple[str, str], ...] = ()
    _failure: Callable[[], str | None] = field(default=_never_failed, eq=False, repr=False)

    def __repr__(self) -> str:
        return f"<Plugin {exact(self.address)} {exact(self.version)} {self.state}>"

    @property
    def name(self) -> str:
        """The manifest's name; of an invalid bundle its directory's."""
        return self.found.name

    @property
    def version(self) -> str:
        """The manifest's version; empty for an invalid bundle."""
        return self.found.manifest.version if self.found.manifest else ""

    @property
    def description(self) -> str:
        """The manifest's description."""
        return (self.found.manifest.description or "") if self.found.manifest else ""

    @property
    def scope(self) -> str:
        """``user`` or ``project``."""
        return self.found.scope.kind

    @property
    def location(self) -> str:
        """Resolved path of this copy."""
        return self.found.location

    @property
    def manifest(self) -> Manifest | None:
        """The manifest; ``None`` for an invalid bundle."""
        return self.found.manifest

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with an invalid bundle."""
        return self.found.problems

    @property
    def capabilities(self) -> tuple[Capability, ...]:
        """What the manifest declares."""
        return self.found.manifest.capabilities if self.found.manifest else ()

    @property
    def is_active(self) -> bool:
        """Whether it takes part in calls."""
        return self.state == states.ACTIVE

    @property
    def failed(self) -> str | None:
        """The failure of an active plugin whose code could not be imported in this process."""
        return self._failure()

    def to_dict(self) -> dict[str, Any]:
        """Return the copy as JSON-ready data."""
        return {
            "name": self.name,
            "version": self.version,
            "description": self.description,
            "state": self.state,
            "reason": self.reason,
            "next_command": self.next_command,
            "scope": self.scope,
            "location": self.location,
            "address": self.address,
            "failed": self.failed,
            "refused_names": dict(self.refused_names),
            "problems": [problem.to_dict() for problem in self.problems],
        }


def approved_signature(plugin: Plugin, target: str) -> SourceSignature | None:
    """Return what the approved source says of a function, without importing it (S36).

    ``None`` where it is not known, or was written by a version that wrote it otherwise.
    """
    data = plugin.record.signatures.get(target) if plugin.record else None
    try:
        return SourceSignature.from_dict(data) if data is not None else None
    except ValueError:
        return None
