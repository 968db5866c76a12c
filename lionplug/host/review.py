"""A review: the staged copy of a plugin with all that a person needs to decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen

from lionplug.errors import TrustError
from lionplug.inventory.plugin import Plugin
from lionplug.sources import SourceSignature, read_signatures
from lionplug.text import exact
from lionplug.trust.diff import TreeDiff
from lionplug.trust.disclosure import Disclosure
from lionplug.trust.staging import StagedTree


@frozen(kw_only=True)
class Revocation:
    """What a revocation did.

    :param name: Name of the plugin.
    :param location: The copy whose approval was taken back.
    :param was_imported: Whether its code was imported in this process: it goes on running.
    """

    name: str
    location: str
    was_imported: bool


class Review:
    """A staged copy of a plugin with all that a person needs to decide.

    :param plugin: The copy under review.
    :param staged: The private copy; the only thing that :meth:`approve` approves.
    :param disclosure: What the plugin brings, from the staged copy.
    :param signatures: What the staged source says of the functions that it names.
    :param diff: The difference from the approved tree; ``None`` at a first approval.
    """

    def __init__(
        self,
        plugin: Plugin,
        staged: StagedTree,
        disclosure: Disclosure,
        signatures: Mapping[str, SourceSignature | None],
        diff: TreeDiff | None,
        approve: Callable[[], Plugin],
    ) -> None:
        self.plugin = plugin
        self.staged = staged
        self.disclosure = disclosure
        self.signatures = signatures
        self.diff = diff
        self._approve: Callable[[], Plugin] | None = approve

    def approve(self) -> Plugin:
        """Move the staged copy into the store and write the record.

        :returns: The plugin in its new state.
        :raises TrustError: if the disclosure says that it can't be approved, or the review
            is over.
        """
        if self._approve is None:
            raise TrustError(
                f"the review of {exact(self.plugin.name)} is over and its copy is gone; "
                "review it again.",
                plugin=self.plugin.name,
            )
        return self._approve()

    def end(self) -> None:
        """Approve nothing from now on: the staged copy is about to be deleted."""
        self._approve = None


def signatures_of(staged: StagedTree) -> dict[str, SourceSignature | None]:
    """Read the signatures of everything that is called by function, importing nothing (S36)."""
    targets = []
    files: dict[str, bytes] = {}
    for capability in staged.manifest.capabilities:
        path, colon, attribute = capability.target.partition(":")
        if colon:
            targets.append((path, attribute))
            if path not in files and staged.is_file(path):
                files[path] = staged.read(path)
    return read_signatures(files, targets)
