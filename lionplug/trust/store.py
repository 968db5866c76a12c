"""The store: the user's own copies of approved trees, which are what runs.

``approved/<64 hex>/`` is a tree, ``seals/<64 hex>.json`` its seal, ``leases/<64 hex>`` the
file whose lock keeps it from being collected while a process uses it. Nothing in the
store is believed because it exists or because it is read-only (security rule S15): a
tree is right when its content gives its name.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from errno import EACCES, EPERM, EROFS
from weakref import finalize

from lionplug.errors import LionplugError, StoreError, TreeError, UnsafePathError
from lionplug.files.entry import Entry
from lionplug.files.limits import Limits
from lionplug.files.locks import Lease, exclusive, try_exclusive
from lionplug.files.opening import Directory
from lionplug.files.writing import make_private_directory, remove_tree
from lionplug.text import exact
from lionplug.trust.digest import PREFIX, hex_of, is_sha256
from lionplug.trust.looking import is_unchanged
from lionplug.trust.places import Places, move
from lionplug.trust.staging import StagedTree
from lionplug.trust.stored import (
    StoredTree,
    difference,
    move_into_place,
    protect,
    rehash_moved,
    rehashed,
    walk_stored,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lionplug.scopes import UserScope

__all__ = ["Store", "StoredTree"]

#: How long a change of the store waits for another process: it may be hashing a large tree.
LOCK_SECONDS = 60.0

_LOCK = "store.lock"

#: How the system refuses to write: read-only disk, no permission, immutable.
_NOT_WRITABLE = frozenset({EROFS, EACCES, EPERM})

# Leases that outlived their stores, one for each tree: they end with the process (S16).
_kept: dict[str, Lease] = {}


def _keep(leases: dict[str, Lease]) -> None:
    while leases:
        lease = leases.popitem()[1]
        if lease.fileno() >= 0 and _kept.setdefault(lease.path, lease) is not lease:
            lease.close()


class Store:
    """The approved trees of one user scope.

    :param scope: The user scope.
    """

    def __init__(self, scope: UserScope) -> None:
        self._scope = scope
        self._places = Places(scope)
        self._leases: dict[str, Lease] = {}
        finalize(self, _keep, self._leases)

    def publish(self, staged: StagedTree) -> StoredTree:
        """Move a staged copy to where approved trees run from.

        A tree that is there already is hashed in full, and replaced if it is wrong. Killed
        at any point, this leaves nothing that is believed without being hashed.

        :param staged: The copy that was approved; it moves, and can still be read.
        :raises ManifestError: Something that its manifest declares is missing.
        :raises StoreError: The store can't be written, or somebody wrote into the copy.
        :raises LockTimeoutError: Another process held the store for too long.
        """
        staged.require_complete()
        digest = staged.digest
        place = self._places.tree(digest)
        with self._writing(place), self._locked():
            # Held from here on, so that nobody collects a tree that no record names yet.
            self._lease(digest)
            entries = self._right_entries(staged)
            if entries is None:
                self._places.set_aside(digest)
                entries = move_into_place(staged, place)
                if entries is None:
                    raise self._places.refusal(digest, "it changed while it was published")
                staged.root = place
            self._places.seal(digest, entries)
        return StoredTree(place, entries, digest)

    def open(self, digest: str) -> StoredTree:
        """Return an approved tree, by its seal, or hashed in full where that is no good.

        It says nothing about whether the tree was touched since, see :meth:`verify`; each
        read of the tree compares what it reads with the pin.

        :param digest: Tree digest that a record names.
        :raises StoreError: The store has no such tree, or it is not what was approved.
        """
        place = self._places.tree(digest)
        self._require_safe()
        entries = self._places.read_seal(digest)
        try:
            if not stat.S_ISDIR(os.lstat(place).st_mode):
                raise self._places.refusal(digest, "it is no directory")
            if entries is None:
                entries = rehashed(place, digest)
                if entries is None:
                    raise self._places.refusal(digest, "its content has another digest")
                self._places.try_to_seal(digest, entries)
        except (TreeError, OSError) as error:
            raise self._places.failure(digest, error) from error
        return StoredTree(place, entries, digest)

    def has(self, digest: str) -> bool:
        """Tell whether something stands in the place of a tree; it may be wrong.

        :param digest: Tree digest.
        """
        return os.path.lexists(self._places.tree(digest))

    def verify(self, tree: StoredTree) -> None:
        """Compare a stored tree with its pins: signatures, and the bytes where these moved.

        Added names count, too. A ``__pycache__`` that somebody left is deleted (S15).

        :param tree: A tree of this store.
        :raises StoreError: It is not what was approved; what was found is kept aside.
        """
        self._require_safe()
        sealed = list(tree.entries.values())
        seen: os.stat_result | None = None
        try:
            with Directory.open(self._places.tree(tree.digest)) as root:
                seen = root.stat
                if is_unchanged(root, tree.entries):
                    return
                found = walk_stored(root)
                reason = difference(found, sealed)
                if reason is None:
                    found, reason = rehash_moved(root, found, sealed)
        except (TreeError, OSError) as error:
            raise self._places.failure(tree.digest, error, seen) from error
        if reason:
            raise self._places.refusal(tree.digest, reason, seen)
        tree.entries = {entry.path: entry for entry in found}
        self._places.try_to_seal(tree.digest, found)

    def lease(self, digest: str) -> Lease | None:
        """Keep a tree from being collected while this process or a child of it lives (S16).

        Take it before the tree is opened.

        :param digest: Tree digest.
        :returns: ``None`` where this account can't write the lease, as on a read-only disk
            or in a scope without write permission: then nothing holds the tree. Who can't
            write there can't collect there either, and who prepares an image or a shared
            scope for others does not collect while they use it.
        :raises StoreError: The lease can't be had for another reason.
        """
        with self._writing(self._scope.leases):
            try:
                return self._lease(digest)
            except OSError as error:
                if error.errno not in _NOT_WRITABLE:
                    raise
                return None

    def _lease(self, digest: str) -> Lease:
        name = os.path.basename(self._places.tree(digest))
        if name not in self._leases:
            make_private_directory(self._scope.leases)
            self._leases[name] = Lease(os.path.join(self._scope.leases, name))
        return self._leases[name]

    def close(self) -> None:
        """Hand the leases over to the process, whose code may still read from the trees (S16)."""
        _keep(self._leases)

    def collect(self, keep: Collection[str] | Callable[[], Collection[str]]) -> list[str]:
        """Delete the trees that no record names and no process uses (S16).

        :param keep: Tree digests that the records of any host under this user scope name,
            or a function that reads them. It is called under the store's lock, so that an
            approval given at this moment is seen. A caller that can't read every record
            must not collect.
        :returns: Tree digests of the deleted trees.
        :raises StoreError: The store can't be written.
        :raises LockTimeoutError: Another process held the store for too long.
        """
        approved = self._scope.approved
        with self._writing(approved), self._locked():
            named = {hex_of(text) for text in (keep() if callable(keep) else keep)}
            names = [name for name in sorted(os.listdir(approved)) if is_sha256(name)]
            return [
                PREFIX + name for name in names if name not in named and self._collect_one(name)
            ]

    def _collect_one(self, name: str) -> bool:
        lease = os.path.join(self._scope.leases, name)
        with try_exclusive(lease) as unused:
            if not unused:
                return False
            make_private_directory(self._scope.staging)
            # Moved before it is deleted: no process ever opens a tree that is half there.
            gone = os.path.join(self._scope.staging, f"{name}-{secrets.token_hex(8)}")
            move(os.path.join(self._scope.approved, name), gone)
            with suppress(FileNotFoundError):
                os.unlink(self._places.seal_file(PREFIX + name))
            os.unlink(lease)
        with suppress(OSError):  # what is left, the next staging removes
            remove_tree(gone)
        return True

    def _right_entries(self, staged: StagedTree) -> list[Entry] | None:
        """Return the entries of a tree that is in its place already, if it is the right one."""
        place = self._places.tree(staged.digest)
        try:
            entries = rehashed(place, staged.digest, _size_of(staged))
            if entries is not None and protect(place, entries):
                entries = rehashed(place, staged.digest, _size_of(staged))
        except (TreeError, OSError):
            return None  # replaced, whatever it is
        return entries

    def _require_safe(self) -> None:
        """Refuse a store in which somebody else can put or exchange trees (S15, S31).

        What is in it is then not kept aside: where anybody can write, names say nothing.
        """
        approved = self._scope.approved
        try:
            Directory.open_trusted(approved, scope=self._scope.path).close()
        except UnsafePathError as error:
            raise StoreError(
                f"the store of approved copies is not used: {error}",
                file=approved,
                command=error.command,
            ) from error
        except OSError:
            return  # the tree will be missing, or can't be read, and be told as that

    @contextmanager
    def _locked(self) -> Iterator[None]:
        for path in (self._scope.approved, self._scope.leases):
            make_private_directory(path)
        with exclusive(os.path.join(self._scope.leases, _LOCK), LOCK_SECONDS):
            yield

    @contextmanager
    def _writing(self, place: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if isinstance(error, LionplugError):
                raise
            path = os.fsdecode(error.filename) if error.filename else place
            raise StoreError(
                f"{exact(path)}: the store can't be written: {error.strerror or error}. "
                "Make room in the user scope, or make it writable, and try again.",
                file=place,
            ) from error


def _size_of(staged: StagedTree) -> Limits:
    entries = staged.entries.values()
    return Limits(
        entries=len(staged.entries),
        bytes=sum(entry.size for entry in entries if entry.is_file),
        depth=max((entry.path.count("/") + 1 for entry in entries), default=1),
    )
