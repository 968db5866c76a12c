"""What discovery hands to the inventory: plugins as they were met, before any judgement."""

from __future__ import annotations

from attrs import frozen

from lionplug.errors import Problem
from lionplug.files.signature import Signature
from lionplug.manifest.model import Manifest


@frozen(kw_only=True)
class ScopeFolder:
    """A folder whose ``plugins/`` directory is searched.

    :param kind: ``user`` or ``project``.
    :param directory: The folder itself, such as ``/home/me/.lionagi``.
    :param root: What the folder belongs to: the home or the project root.
    :param rank: Place in the canonical order: user 0, then projects from outermost to nearest.
    """

    kind: str
    directory: str
    root: str
    rank: int


@frozen(kw_only=True)
class FoundBundle:
    """One directory with a manifest, good or bad.

    :param scope: The folder in which it was met.
    :param location: Resolved path of the bundle.
    :param directory: Name of its directory as met in ``plugins/``.
    :param manifest: The parsed manifest; ``None`` if it can't be used.
    :param problems: Why it can't be used.
    :param manifest_sha256: Hex digest of the manifest's bytes; empty if they could not be read.
    :param manifest_signature: Stat identity of the manifest that was read.
    """

    scope: ScopeFolder
    location: str
    directory: str
    manifest: Manifest | None
    problems: tuple[Problem, ...] = ()
    manifest_sha256: str = ""
    manifest_signature: Signature | None = None

    @property
    def name(self) -> str:
        """The manifest's name; of an invalid bundle the directory's."""
        return self.manifest.name if self.manifest else self.directory
