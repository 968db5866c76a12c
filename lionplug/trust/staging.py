"""Staging: the private copy that is hashed, shown, asked about and published.

The copy comes first (security rule S3). Everything that a person is shown and that a
record pins is taken from the copy alone; the live tree is looked at twice, before and
after the copying, and a tree that differs between the two is refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256

from attrs import evolve

from lionplug.errors import LionplugError, ManifestError, Problem, StoreError, TreeError
from lionplug.files.entry import Entry
from lionplug.files.exclude import Exclusion
from lionplug.files.limits import Limits
from lionplug.files.links import check_links, check_links_on_disk
from lionplug.files.opening import Directory
from lionplug.files.signature import signature_of
from lionplug.files.trees import Tree, check_hard_links
from lionplug.files.walking import walk
from lionplug.manifest.files_check import check_files
from lionplug.manifest.parse import MANIFEST_FILE
from lionplug.text import exact
from lionplug.trust.copying import changed, copy_entries, hash_entries
from lionplug.trust.digest import tree_digest
from lionplug.trust.looking import signature_of_entries, signature_of_tree
from lionplug.trust.workspace import workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lionplug.manifest.model import Manifest
    from lionplug.scopes import UserScope

#: Bytes that a manifest may have; more is refused before anything is read of it.
MANIFEST_BYTES = 2**20

ReadManifest = Callable[[bytes], "Manifest"]


class StagedTree(Tree):
    """A private copy of a live tree: hashed, checked, not yet approved.

    :ivar digest: Tree digest of the copy.
    :ivar location: Path of the live directory, links resolved.
    :ivar name_of_directory: Its last part.
    :ivar manifest: The manifest, parsed from the copy.
    :ivar manifest_sha256: SHA-256 of the manifest's bytes, in hex.
    :ivar excluded: Paths that were left out; of a directory only its own.
    :ivar live_signature: See :func:`live_signature`, of the moment after the copying.
    :ivar device: Device number of the directory that holds the live directory.
    :ivar problems: What the manifest declares and the tree does not hold. A tree that has
        any can be looked at and compared, and can't be approved.
    """

    def __init__(
        self,
        root: str,
        entries: Sequence[Entry],
        *,
        location: str,
        manifest: Manifest,
        excluded: Sequence[str],
        live: Sequence[Entry],
        device: int,
        manifest_bytes: bytes,
    ) -> None:
        super().__init__(root, entries)
        self.digest = tree_digest(entries)
        self.location = location
        self.name_of_directory = os.path.basename(location)
        self.manifest = manifest
        self.manifest_sha256 = self.entries[MANIFEST_FILE].sha256
        self.excluded = tuple(excluded)
        self.live_signature = signature_of_entries(live)
        self.device = device
        self.problems = check_files(manifest, self, manifest_bytes)

    def require_complete(self) -> None:
        """Refuse an approval of a tree that lacks what its manifest declares.

        :raises ManifestError: Something is missing; names what, and where it is declared.
        """
        if self.problems:
            raise ManifestError(
                self.problems,
                f"{self.manifest.name}: what the manifest declares is not in the bundle",
                plugin=self.manifest.name,
            )


@contextmanager
def stage(
    location: str,
    scope: UserScope,
    limits: Limits,
    read_manifest: ReadManifest,
    *,
    for_approval: bool = True,
) -> Iterator[StagedTree]:
    """Copy a live tree into private staging and check the copy (S3, S4, S13, S14).

    :param location: The live directory; the path may lead through links.
    :param scope: The user scope, in which the copy is made.
    :param limits: How large the tree may be.
    :param read_manifest: Parses the manifest's bytes.
    :param for_approval: Whether to refuse a tree in which something is missing that its
        manifest declares. Without, such a tree can be looked at and compared with what is
        approved; its :attr:`StagedTree.problems` say what is missing.
    :returns: The copy. Leaving the context deletes it unless it was published.
    :raises ManifestError: The manifest is faulty, or a file that it declares is missing.
    :raises TreeError: A name, link, kind or size is refused; a file can't be read; or the
        tree changed while it was copied.
    :raises StoreError: The copy can't be written.
    :raises ScopeError: There is no user scope.
    """
    location = os.path.realpath(location)
    with workspace(scope) as root:
        staged = _copy(location, root, limits, read_manifest)
        if for_approval:
            staged.require_complete()
        yield staged


def live_signature(location: str, limits: Limits, exclude: Sequence[str]) -> str:
    """Return what one walk says about a live tree: a reason to look again, no proof (S39).

    :param location: The live directory.
    :param limits: How large the tree may be.
    :param exclude: Patterns of the approved manifest.
    :returns: SHA-256 in hex over path, kind, stat signature and mode of every entry.
    :raises TreeError: The tree is too large or can't be read.
    """
    with _opened(location) as source:
        return signature_of_tree(source, Exclusion(exclude), limits.entries)


def live_digest(location: str, limits: Limits, read_manifest: ReadManifest) -> str:
    """Return the tree digest of a live tree, read in full, without a copy.

    For comparing only: what is shown and what runs comes from a copy.

    :param location: The live directory.
    :param limits: How large the tree may be.
    :param read_manifest: Parses the manifest's bytes.
    :raises ManifestError: The manifest is faulty.
    :raises TreeError: The tree is refused, or changed while it was read.
    """
    with _opened(location) as source:
        data, _ = _read_manifest_file(source)
        exclude = read_manifest(data).exclude
        entries = walk(source, limits, Exclusion(exclude))
        hashes = hash_entries(source, entries)
        if hashes.get(MANIFEST_FILE) != sha256(data).hexdigest():
            raise changed(MANIFEST_FILE)
        return tree_digest(_hashed(entries, hashes))


def _copy(
    location: str,
    root: str,
    limits: Limits,
    read_manifest: ReadManifest,
) -> StagedTree:
    with _opened(location) as source, Directory.open(root) as target:
        data, stat = _read_manifest_file(source)
        manifest = read_manifest(data)
        exclusion = Exclusion(manifest.exclude)
        live = walk(source, limits, exclusion)
        _refuse(check_hard_links(live), location)
        _refuse_moved_manifest(live, stat)
        hashes = copy_entries(source, target, live)
        entries = _hashed(_walk_copy(target, limits, live), hashes)
        # Twice: what the entries say, and where the kernel's own names lead in the copy.
        _refuse(
            check_links(entries, exclusion.found) or check_links_on_disk(target, entries), location
        )
        _refuse_changes(location, source, live, limits, exclusion)
    if hashes[MANIFEST_FILE] != sha256(data).hexdigest():
        raise changed(MANIFEST_FILE)
    return StagedTree(
        root,
        entries,
        location=location,
        manifest=manifest,
        excluded=exclusion.found,
        live=live,
        device=os.stat(os.path.dirname(location)).st_dev,
        manifest_bytes=data,
    )


@contextmanager
def _opened(location: str) -> Iterator[Directory]:
    try:
        directory = Directory.open(location)
    except OSError as error:
        reason = str(error) if isinstance(error, LionplugError) else error.strerror or str(error)
        message = f"can't be opened: {reason}; expected a directory that you can read"
        raise TreeError([Problem("unreadable", message, file=exact(location))]) from error
    with directory:
        yield directory


def _read_manifest_file(source: Directory) -> tuple[bytes, os.stat_result]:
    """Read the bytes that are parsed; the copy of the file must turn out to be the same."""
    try:
        return source.read(MANIFEST_FILE, MANIFEST_BYTES)
    except OSError as error:
        reason = str(error) if isinstance(error, LionplugError) else error.strerror or str(error)
        message = f"can't be read: {reason}; expected a regular file of at most 1 MiB"
        raise TreeError([Problem("manifest-unreadable", message, file=MANIFEST_FILE)]) from error


def _walk_copy(target: Directory, limits: Limits, live: Sequence[Entry]) -> list[Entry]:
    """Walk the copy, in which nothing is excluded; it must have the entries of the original."""
    copy = walk(target, limits, lambda path, is_dir: False)
    if list(map(_shape, copy)) != list(map(_shape, live)):
        raise StoreError(
            f"{exact(target.path)}: the private copy is not what was written to it. "
            "Another program of yours writes into the user scope; end it, and try again."
        )
    return copy


def _shape(entry: Entry) -> tuple[str, str, int, str]:
    return entry.path, entry.kind, entry.size if entry.is_file else 0, entry.target


def _hashed(entries: Sequence[Entry], hashes: Mapping[str, str]) -> list[Entry]:
    return [
        evolve(entry, sha256=hashes[entry.path]) if entry.path in hashes else entry
        for entry in entries
    ]


def _refuse(problems: Sequence[Problem], location: str) -> None:
    if problems:
        raise TreeError(problems, f"{exact(location)} can't be approved")


def _refuse_moved_manifest(live: Sequence[Entry], stat: os.stat_result) -> None:
    """The manifest decided what is excluded, so it must be the one that is in the tree."""
    found = [entry.signature for entry in live if entry.path == MANIFEST_FILE]
    if found != [signature_of(stat)]:
        raise changed(MANIFEST_FILE)


def _refuse_changes(
    location: str, source: Directory, live: Sequence[Entry], limits: Limits, excluded: Exclusion
) -> None:
    """Walk the live tree again, by its path; refuse any difference, naming the first."""
    with _opened(location) as again:
        if not os.path.samestat(source.stat, again.stat):
            raise changed(".")
        after = {entry.path: entry for entry in walk(again, limits, excluded)}
    before = {entry.path: entry for entry in live}
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            raise changed(path)
