"""One tree in the store: how it is moved there, looked at and compared with its pins.

The store has no exclusions (security rule S13): every name in a stored tree is one that
was approved. The one exception is a directory ``__pycache__``, which no approved tree has
and which an interpreter may leave behind; it is deleted.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence

from attrs import evolve

from lionplug.errors import TreeError
from lionplug.files.entry import DIRECTORY, FILE, LINK, Entry
from lionplug.files.exclude import BYTECODE_DIRECTORY
from lionplug.files.limits import Limits
from lionplug.files.opening import Directory
from lionplug.files.trees import Tree
from lionplug.files.walking import walk
from lionplug.files.writing import remove_tree
from lionplug.text import exact
from lionplug.trust.copying import hash_entries
from lionplug.trust.digest import same_digest, tree_digest
from lionplug.trust.staging import StagedTree

# Trees were within the user's limits when they were approved, and those may have been
# lowered since; what was planted must still not be read without end.
LIMITS = Limits(entries=1_000_000, bytes=64 * 2**30, depth=1_000)


class StoredTree(Tree):
    """An approved tree in the store.

    :ivar digest: Its tree digest.
    """

    def __init__(self, root: str, entries: Sequence[Entry], digest: str) -> None:
        super().__init__(root, entries)
        self.digest = digest


def walk_stored(root: Directory, limits: Limits = LIMITS) -> list[Entry]:
    """Walk a stored tree; a ``__pycache__`` in it is deleted first.

    :raises TreeError: It holds what no approved tree holds.
    :raises OSError: It can't be read.
    """
    bytecode: list[str] = []

    def left_out(path: str, is_dir: bool) -> bool:
        if not is_dir or path.rpartition("/")[2] != BYTECODE_DIRECTORY:
            return False
        bytecode.append(path)
        return True

    entries = walk(root, limits, left_out)
    if not bytecode:
        return entries
    for path in bytecode:
        _remove_inside(os.path.join(root.path, path))
    # Deleting moved the signatures of the directories above.
    return walk(root, limits, lambda path, is_dir: False)


def _remove_inside(path: str) -> None:
    above = os.path.dirname(path)
    os.chmod(above, 0o700)  # ordinary users can't delete from a read-only directory
    try:
        remove_tree(path)
    finally:
        os.chmod(above, 0o500)


def rehashed(place: str, digest: str, limits: Limits = LIMITS) -> list[Entry] | None:
    """Hash a stored tree in full.

    :param place: Its path.
    :param digest: The tree digest that it must have.
    :param limits: How large it is at most; a larger one is wrong.
    :returns: Its entries, or ``None`` if it has another digest.
    :raises TreeError: It holds what no approved tree holds, or can't be read.
    :raises OSError: It can't be read.
    """
    with Directory.open(place) as root:
        found = walk_stored(root, limits)
        hashes = hash_entries(root, found)
    entries = [_pinned(entry, hashes.get(entry.path, "")) for entry in found]
    return entries if same_digest(tree_digest(entries), digest) else None


def move_into_place(staged: StagedTree, place: str) -> list[Entry] | None:
    """Rename a staged copy to its final place and make it read-only.

    :returns: The entries as they now are, or ``None`` if a file or link is no longer the
        one that was staged. A name's own signature does not change when a directory above
        it is renamed, so an equal signature says that the hash still holds.
    """
    # All but the root: ordinary users can't rename a directory that they can't write.
    protect(
        staged.root, [entry for entry in staged.entries.values() if entry.kind == DIRECTORY], 0o700
    )
    os.rename(staged.root, place)
    os.chmod(place, 0o500)
    try:
        with Directory.open(place) as root:
            found = walk_stored(root)
    except TreeError:
        return None
    before = list(staged.entries.values())
    if difference(found, before) is not None:
        return None
    pairs = list(zip(found, before, strict=True))
    if any(one.signature != other.signature for one, other in pairs if one.kind != DIRECTORY):
        return None
    return [_pinned(one, other.sha256) for one, other in pairs]


def protect(place: str, entries: Iterable[Entry], root_mode: int = 0o500) -> bool:
    """Make a tree read-only: 0500 for directories and what may run, 0400 for other files.

    This stops mistakes, not root or the user's own programs; those are found by hashes.

    :returns: Whether a mode had to be changed.
    """
    wanted = [
        (os.path.join(place, entry.path), 0o400 if entry.kind == FILE else 0o500, entry.mode)
        for entry in entries
        if entry.kind != LINK
    ]
    wanted.append((place, root_mode, stat.S_IMODE(os.stat(place).st_mode)))
    wrong = [(path, mode) for path, mode, found in wanted if mode != found]
    for path, mode in wrong:
        os.chmod(path, mode)
    return bool(wrong)


def difference(found: Sequence[Entry], pinned: Sequence[Entry]) -> str | None:
    """Say in a few words how names, kinds, sizes and link targets differ, hashes aside.

    :param found: The tree as it is, in byte order of its paths.
    :param pinned: The tree as it was approved, in the same order.
    """
    new = {entry.path: entry for entry in found}
    old = {entry.path: entry for entry in pinned}
    for path in sorted(new.keys() | old.keys()):
        if path not in old:
            return f"{exact(path)} was added"
        if path not in new:
            return f"{exact(path)} is missing"
        if _shape(new[path]) != _shape(old[path]):
            return f"{exact(path)} is another file, link or directory"
    return None


def rehash_moved(
    root: Directory, found: Sequence[Entry], pinned: Sequence[Entry]
) -> tuple[list[Entry], str | None]:
    """Hash the files whose signatures moved.

    :param root: The stored tree.
    :param found: The tree as it is; :func:`difference` found none.
    :param pinned: The tree as it was approved.
    :returns: The entries as they are, hashed, and, in a few words, a file with other bytes.
    """
    pairs = list(zip(found, pinned, strict=True))
    hashes = hash_entries(root, [one for one, old in pairs if one.signature != old.signature])
    entries = [_pinned(one, hashes.get(one.path, old.sha256)) for one, old in pairs]
    wrong = [one.path for one, old in zip(entries, pinned, strict=True) if one.sha256 != old.sha256]
    return entries, f"{exact(wrong[0])} has other bytes" if wrong else None


def _shape(entry: Entry) -> tuple[str, int, str]:
    return entry.kind, entry.size if entry.is_file else 0, entry.target


def _pinned(entry: Entry, sha256: str) -> Entry:
    return evolve(entry, sha256=sha256) if sha256 else entry
