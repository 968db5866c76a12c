"""Trees: what a directory consists of, and reading from one whose content is pinned."""

from __future__ import annotations

import hashlib

from lionplug.errors import Problem, StoreError, UnsafePathError
from lionplug.files.entry import Entry
from lionplug.files.links import check_links, check_links_on_disk, resolve
from lionplug.files.names import check_names, problem_of
from lionplug.files.opening import Directory
from lionplug.files.walking import walk
from lionplug.text import exact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "Entry",
    "Tree",
    "check_hard_links",
    "check_links",
    "check_links_on_disk",
    "check_names",
    "resolve",
    "walk",
]


def check_hard_links(entries: Iterable[Entry]) -> list[Problem]:
    """Check that no file of a tree has a second name, by which it could be changed.

    For bundles and archives; the installers of distributions make hard links (S14).

    :returns: One problem for each file with several names.
    """
    return [
        problem_of(
            entry.path,
            "hard-link",
            f"is a file with {entry.links} names (hard links), expected one; replace it by a copy",
        )
        for entry in entries
        if entry.is_file and entry.links > 1
    ]


class Tree:
    """A tree on disk whose entries, with their hashes, are known.

    What is read is compared with the entries, so that a file which was changed, added or
    replaced by a link after they were taken is never handed out.

    :param root: Path of the directory that holds the tree, itself free of links.
    :param entries: All entries, hashed.
    """

    def __init__(self, root: str, entries: Iterable[Entry]) -> None:
        self.root = root
        self.entries: Mapping[str, Entry] = {entry.path: entry for entry in entries}

    def read(self, path: str, limit: int | None = None) -> bytes:
        """Return the bytes of a file.

        :param path: Path relative to the root; links inside the tree are followed.
        :param limit: The greatest size in bytes, if there is one.
        :raises StoreError: if the tree has no such file, it is larger than ``limit``, or
            what is on disk is not what the entries say.
        """
        entry = resolve(self.entries, path)
        if entry is None or not entry.is_file:
            found = "nothing" if entry is None else "a directory"
            raise StoreError(
                f"{exact(path)}: expected a file of the pinned tree, found {found}; "
                "name a file that the tree has",
                file=path,
            )
        if limit is not None and entry.size > limit:
            raise StoreError(
                f"{exact(path)}: expected at most {limit:,} bytes, found {entry.size:,}; "
                "make it smaller",
                file=path,
            )
        data = self._bytes_of(entry)
        if data is None or hashlib.sha256(data).hexdigest() != entry.sha256:
            raise StoreError(
                f"{exact(path)}: {exact(self.root)} does not hold the bytes that were pinned; "
                "something that runs as you or root changed them",
                file=path,
            )
        return data

    def _bytes_of(self, entry: Entry) -> bytes | None:
        """Read the file of a final entry; no link is left in its path, so none is followed."""
        folder, _, name = entry.path.rpartition("/")
        try:
            with Directory.open(self.root) as root, root.descend(folder) as directory:
                return directory.read(name, entry.size)[0]
        except (OSError, UnsafePathError):
            return None

    def is_file(self, path: str) -> bool:
        """Tell whether ``path`` leads to a file, through links of the tree or without."""
        entry = resolve(self.entries, path)
        return entry is not None and entry.is_file

    def is_dir(self, path: str) -> bool:
        """Tell whether ``path`` leads to a directory, through links of the tree or without."""
        entry = resolve(self.entries, path)
        return entry is not None and not entry.is_file
