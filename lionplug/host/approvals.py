"""The verbs of trust: review, approve, revoke, enable, disable, compare, show.

An approval is one sequence (security rule S3): the live tree is copied into private
staging; digest, manifest and disclosure come from that copy alone; the question is
asked; the same copy moves into the store; the record names its digest. Nothing live is
read again.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lionplug.documents.suggest import did_you_mean
from lionplug.errors import (
    AmbiguousNameError,
    LionplugError,
    LockTimeoutError,
    PluginNotFoundError,
    StoreError,
    TrustError,
    UsageError,
)
from lionplug.host.answers import declined, digest_problem, require_digest
from lionplug.host.review import Review, Revocation, signatures_of
from lionplug.host.snapshots import capability_set
from lionplug.inventory.plugin import Plugin
from lionplug.sources import SourceSignature
from lionplug.text import exact, quote
from lionplug.trust.copying import changed
from lionplug.trust.diff import TreeDiff, diff_trees
from lionplug.trust.digest import same_digest
from lionplug.trust.disclosure import Disclosure, Relation, disclose
from lionplug.trust.gone import is_gone
from lionplug.trust.record import Record
from lionplug.trust.staging import StagedTree, live_digest, stage
from lionplug.trust.store import StoredTree

if TYPE_CHECKING:
    from lionplug.host.core import Core


_logger = logging.getLogger("lionplug")


class Approvals:
    """The verbs of trust of one host."""

    def __init__(self, core: Core) -> None:
        self._core = core

    # -- approving -------------------------------------------------------------------

    @contextmanager
    def review(self, plugin: Plugin) -> Iterator[Review]:
        """Stage and disclose a copy; leaving the context deletes it unless approved."""
        core = self._core
        with self._staged(plugin.location) as staged:
            signatures = signatures_of(staged)
            record = core.grants.state.records.get(plugin.location)
            disclosure = disclose(
                staged,
                scope=plugin.scope,
                relation=self._relation(staged.manifest.name, plugin.location),
                signatures=signatures,
                previous=record,
            )
            review = Review(
                plugin,
                staged,
                disclosure,
                signatures,
                self._difference(record, staged) if record else None,
                lambda: self._approve(plugin, staged, disclosure, signatures),
            )
            try:
                yield review
            finally:
                review.end()

    def trust(
        self,
        name: str,
        *,
        approve: Callable[[Disclosure], bool] | None,
        expect: str | None,
    ) -> Plugin:
        if (approve is None) == (expect is None):
            raise TrustError(
                "nobody decides, or two do: pass approve=, a function that is shown the "
                "disclosure, or expect=, the digest of the tree to approve.",
                plugin=name,
            )
        problem = digest_problem(expect) if expect is not None else None
        if problem:
            raise TrustError(problem, plugin=name)
        with self.review(self._core.inventory.find(name)) as review:
            if expect is not None:
                require_digest(review.plugin, review.disclosure.digest, expect, self._core.command)
            if approve is not None and approve(review.disclosure) is not True:
                raise declined(review.plugin)
            return review.approve()

    def _approve(
        self,
        plugin: Plugin,
        staged: StagedTree,
        disclosure: Disclosure,
        signatures: dict[str, SourceSignature | None],
    ) -> Plugin:
        core = self._core
        if disclosure.refusals:
            raise TrustError(
                f"{exact(plugin.name)} can't be approved: " + "; ".join(disclosure.refusals),
                plugin=plugin.name,
            )
        core.store.publish(staged)
        core.trust_file.approve(
            Record.of(
                staged,
                scope_kind=plugin.scope,
                signatures={
                    target: signature.to_dict()
                    for target, signature in signatures.items()
                    if signature is not None
                },
            )
        )
        core.collect_garbage()
        core.approvals_changed(plugin.location)
        return core.inventory.find(plugin.location)

    @contextmanager
    def _staged(self, location: str) -> Iterator[StagedTree]:
        core = self._core
        core.require_user_scope()
        with stage(
            location,
            core.user_scope,
            core.builder.limits,
            core.read_manifest,
            for_approval=False,  # the disclosure refuses what is incomplete, and so does the store
        ) as staged:
            if staged.location != location:
                # It was found as a directory. A link in its place could lead out of the
                # project, and the approval would be one of another copy (S22).
                raise changed(location)
            yield staged

    def _relation(self, name: str, location: str) -> Relation:
        records = self._core.grants.state.records
        here = records.get(location)
        others = sorted(
            record.location
            for record in records.values()
            if record.name == name and record.location != location
        )
        return Relation(approved_at=here.approved_at if here else None, others=tuple(others))

    def _difference(self, record: Record, staged: StagedTree) -> TreeDiff:
        return diff_trees(
            self._approved_tree(record),
            staged,
            record.capabilities,
            capability_set(staged.manifest),
        )

    def _approved_tree(self, record: Record) -> StoredTree | None:
        try:
            tree = self._core.store.open(record.tree)
            self._core.store.verify(tree)
        except StoreError:
            return None
        return tree

    def restore(self, record: Record) -> None:
        """Put an approved tree that is missing back into the store, without asking.

        Only the very bytes that were approved are kept; where the live tree is another,
        nothing happens.
        """
        with self._staged(record.location) as staged:
            if same_digest(staged.digest, record.tree):
                self._core.store.publish(staged)

    # -- taking back -----------------------------------------------------------------

    def revoke(self, name: str) -> Revocation:
        core = self._core
        core.require_user_scope()
        location = self._location_of_record(name)
        was_imported = core.was_imported(location)
        unreadable = location in core.grants.state.unreadable
        record = core.trust_file.revoke(location=location)
        if record is None and not unreadable:
            raise PluginNotFoundError(
                f"{exact(name)} is not approved, so there is nothing to take back.", plugin=name
            )
        core.approvals_changed(location)
        core.collect_garbage()
        return Revocation(
            name=record.name if record else name, location=location, was_imported=was_imported
        )

    def _location_of_record(self, name: str) -> str:
        """Find what to revoke, also if the plugin itself is gone or broken (S22)."""
        core = self._core
        core.grants.look()
        records = core.grants.state.records
        if name in records:
            return name
        places = {record.location for record in records.values() if record.name == name}
        try:
            places.add(core.inventory.find(name).location)
        except PluginNotFoundError:
            if not places:
                raise
        if len(places) == 1:
            return places.pop()
        choices = sorted(places)
        raise AmbiguousNameError(
            f"{exact(name)} stands for {len(choices)} places; name one of: "
            + ", ".join(map(exact, choices)),
            choices=choices,
            plugin=name,
        )

    def set_disabled(self, name: str, value: bool) -> Plugin:
        core = self._core
        core.require_user_scope()
        core.outdate()  # what lies there may have another name than when it was last seen
        plugin = core.inventory.find(name)
        if not value:
            reason = core.builder.disabled_by(plugin)
            if reason:
                raise TrustError(
                    f"{exact(plugin.name)} stays disabled: {reason}. "
                    "A file that a person writes is never changed by a command.",
                    plugin=plugin.name,
                )
        core.trust_file.set_disabled(plugin.name, plugin.location, value)
        core.approvals_changed(plugin.location)
        return core.inventory.find(plugin.location)

    def prune(self) -> list[Record]:
        core = self._core
        if core.user_scope.path is None:
            return []
        try:
            gone = core.trust_file.prune(lambda record: is_gone(record.location, record.device))
        except (TrustError, LockTimeoutError) as error:
            # A record of nothing approves nothing; listing must not fail for it.
            _logger.info("records of bundles that are gone were not dropped: %s", error)
            return []
        if gone:
            core.grants.look()
            core.ready()
        return gone

    # -- looking ---------------------------------------------------------------------

    def diff(self, name: str) -> TreeDiff:
        core = self._core
        plugin = core.inventory.find(name)
        record = core.grants.state.records.get(plugin.location)
        if record is None:
            raise TrustError(
                f"{exact(plugin.name)} at {exact(plugin.location)} was never approved, so there is "
                "nothing to compare with.",
                plugin=plugin.name,
                command=f"{core.command} info {quote(name)}",
            )
        with self._staged(plugin.location) as staged:
            return self._difference(record, staged)

    def show(self, name: str, file: str, *, approved: bool) -> bytes:
        core = self._core
        plugin = core.inventory.find(name)
        if not approved:
            with self._staged(plugin.location) as staged:
                return _read(staged, file, plugin)
        record = core.grants.state.records.get(plugin.location)
        if record is None:
            raise TrustError(
                f"{exact(plugin.name)} was never approved, so there is no approved file to show; "
                "leave approved out to see the live one.",
                plugin=plugin.name,
            )
        tree = core.store.open(record.tree)
        core.store.verify(tree)
        return _read(tree, file, plugin)

    def digest(self, path: str) -> str:
        try:
            location = os.path.realpath(path)
        except (OSError, ValueError) as error:  # the working directory was deleted; or no path
            why = error.strerror if isinstance(error, OSError) else error
            raise UsageError(
                f"{exact(path)} can't be found: {why}; give an absolute path"
            ) from error
        try:
            with self._staged(location) as staged:
                return str(staged.digest)
        except StoreError:  # as on a read-only disk; to compare with, a copy is not needed
            core = self._core
            return live_digest(location, core.builder.limits, core.read_manifest)


def _read(tree: StagedTree | StoredTree, file: str, plugin: Plugin) -> bytes:
    if not tree.is_file(file):
        files = [exact(path) for path in tree.entries if tree.is_file(path)]
        raise LionplugError(
            f"{exact(plugin.name)} has no file {exact(file)}{did_you_mean(exact(file), files)}. "
            "'info' lists the files it has.",
            plugin=plugin.name,
            file=file,
        )
    return tree.read(file)
