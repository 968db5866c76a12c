"""Looking at a tree without reading it: names and stat signatures, as fast as it goes.

A look says whether there is a reason to hash, and is no proof (security rule S39). It
checks no names and builds no entries, so that a tree that did not change costs little
more than asking the disk about each of its files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from stat import S_IFMT, S_IMODE, S_ISDIR

from lionplug.errors import Problem, TreeError
from lionplug.files.entry import DIRECTORY, FILE, LINK, Entry
from lionplug.files.opening import Directory
from lionplug.files.signature import Signature, signature_of
from lionplug.text import exact

_Fact = tuple[str, str, int, Signature]

_KINDS = {0o040000: DIRECTORY, 0o100000: FILE, 0o120000: LINK}


def is_unchanged(root: Directory, pinned: Mapping[str, Entry]) -> bool:
    """Tell whether a tree has exactly the pinned names, each with its signature.

    :param root: The tree as it is.
    :param pinned: Its entries when it was last known to be right.
    """
    count = 0
    for path, found in _stats(root, lambda path, is_dir: False):
        entry = pinned.get(path)
        if entry is None or signature_of(found) != entry.signature:
            return False
        count += 1
    return count == len(pinned)


def signature_of_tree(
    root: Directory, excluded: Callable[[str, bool], bool], most_entries: int
) -> str:
    """Return one text for what a look at a whole tree says.

    :param root: The tree.
    :param excluded: Told a relative path and whether it is a directory; says whether to
        leave it out.
    :param most_entries: A tree with more is refused.
    :returns: SHA-256 in hex over path, kind, mode and signature of each entry.
    :raises TreeError: There are more entries, or a directory can't be read.
    """
    facts: list[_Fact] = []
    for path, found in _stats(root, excluded):
        kind = _KINDS.get(S_IFMT(found.st_mode), "?")
        facts.append((path, kind, S_IMODE(found.st_mode), signature_of(found)))
        if len(facts) > most_entries:
            message = (
                f"has more than {most_entries:,} files, links and directories; "
                "leave some out with 'exclude' in the manifest"
            )
            raise TreeError([Problem("too-many", message, file=exact(root.path))])
    return _hash(facts)


def signature_of_entries(entries: Iterable[Entry]) -> str:
    """Return what :func:`signature_of_tree` returned when the entries were walked."""
    return _hash(
        [
            (entry.path, FILE if entry.is_file else entry.kind, entry.mode, entry.signature)
            for entry in entries
        ]
    )


def _hash(facts: list[_Fact]) -> str:
    return sha256(ascii(sorted(facts)).encode()).hexdigest()


def _stats(
    root: Directory, excluded: Callable[[str, bool], bool]
) -> Iterator[tuple[str, os.stat_result]]:
    """Yield path and ``lstat`` of each entry; what vanishes meanwhile is not among them."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        prefix = folder and folder + "/"
        try:
            with root.descend(folder) as directory:
                for item in directory.entries():
                    path = prefix + item.name
                    found = item.stat(follow_symlinks=False)
                    is_dir = S_ISDIR(found.st_mode)
                    if excluded(path, is_dir):
                        continue
                    if is_dir:
                        waiting.append(path)
                    yield path, found
        except FileNotFoundError:
            continue
        except OSError as error:
            message = f"can't be read: {error.strerror or error}; make it readable for you"
            problem = Problem("unreadable", message, file=exact(folder or root.path))
            raise TreeError([problem]) from error
