"""The one walk over a tree: bounded while it goes, by descriptors, following no link (S14)."""

from __future__ import annotations

import os
import sys
from errno import EINVAL
from operator import attrgetter
from stat import S_IMODE, S_ISDIR, S_ISLNK, S_ISREG, S_IXUSR

from lionplug.errors import TreeError, UnsafePathError
from lionplug.files.descriptors import kind_of
from lionplug.files.entry import DIRECTORY, EXECUTABLE, FILE, LINK, Entry
from lionplug.files.names import check_names, problem_of
from lionplug.files.signature import signature_of
from lionplug.text import exact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lionplug.errors import Problem
    from lionplug.files.limits import Limits
    from lionplug.files.opening import Directory

#: Problems that are kept of one tree; of more than that, nobody reads the rest.
MOST_PROBLEMS = 100
# What is left out costs time too, so that it is bounded as well, only less tightly.
_SEEN_PER_ENTRY = 10

_UTF8_NAMES = sys.getfilesystemencoding().lower().replace("-", "") == "utf8"


def walk(root: Directory, limits: Limits, excluded: Callable[[str, bool], bool]) -> list[Entry]:
    """List a tree without reading its files.

    :param root: The tree's root, which is no entry itself.
    :param limits: Bounds; the walk ends as soon as one is passed.
    :param excluded: Told a relative path and whether it is a directory; says whether to
        leave it out, a directory with everything in it.
    :returns: The entries, not hashed, in the order of their paths' UTF-8 bytes. What
        vanishes meanwhile is not among them.
    :raises TreeError: with all problems found: names and sizes that are refused, files
        that are neither regular files, directories nor links, directories that can't be
        read or change meanwhile.
    """
    walk = _Walk(root, limits, excluded)
    try:
        walk.run()
    except _EnoughError:
        pass
    problems = walk.problems + check_names(walk.entries)
    if problems:
        raise _tree_error(problems, root.path)
    # Code points sort as their UTF-8 does.
    return sorted(walk.entries, key=attrgetter("path"))


_ROOT = Entry(path="", kind=DIRECTORY)


class _EnoughError(Exception):
    """A limit is passed; there is no point in going on."""


class _Walk:
    def __init__(
        self, root: Directory, limits: Limits, excluded: Callable[[str, bool], bool]
    ) -> None:
        self.entries: list[Entry] = []
        self.problems: list[Problem] = []
        self._root = root
        self._limits = limits
        self._excluded = excluded
        self._bytes = 0
        self._seen = 0

    def run(self) -> None:
        # One open directory for each level that the walk is in, however wide the levels are,
        # with the directories in it that are still to be entered.
        levels = [(self._root.descend(""), [_ROOT])]
        try:
            while levels:
                directory, waiting = levels[-1]
                if not waiting:
                    levels.pop()
                    directory.close()
                    continue
                entry = waiting.pop()
                child = directory.descend("") if entry is _ROOT else self._open(directory, entry)
                if child is not None:
                    found: list[Entry] = []
                    levels.append((child, found))
                    self._list(child, entry.path, len(levels) - 1, found)
        finally:
            for directory, _ in levels:
                directory.close()

    def _open(self, parent: Directory, entry: Entry) -> Directory | None:
        try:
            child = parent.child(entry.path.rpartition("/")[2])
        except FileNotFoundError:
            self.entries.remove(entry)
            return None
        except UnsafePathError:  # another kind of thing by now
            self._add(entry.path, "changed", _CHANGED)
            return None
        except PermissionError:
            self._add(entry.path, "unreadable", "can't be read; change its mode or owner")
            return None
        if (child.stat.st_dev, child.stat.st_ino) != entry.signature[:2]:
            self._add(entry.path, "changed", _CHANGED)
        return child

    def _list(self, directory: Directory, at: str, depth: int, found: list[Entry]) -> None:
        """Add the entries of one directory, and to ``found`` those that are directories."""
        prefix = f"{at}/" if at else ""
        with os.scandir(directory.fd) as items:
            for item in items:
                path = prefix + item.name
                self._count(path)
                if self._excluded(path, item.is_dir(follow_symlinks=False)):
                    continue
                if depth > self._limits.depth:
                    self._add(path, "too-deep", _too_deep(self._limits.depth))
                    break
                entry = self._entry(item, path, directory)
                if entry is not None:
                    self.entries.append(entry)
                    if entry.kind == DIRECTORY:
                        found.append(entry)

    def _entry(self, item: os.DirEntry[str], path: str, directory: Directory) -> Entry | None:
        if len(self.entries) >= self._limits.entries:
            self._stop(path, "too-many", _too_many(self._limits.entries))
        if not (_UTF8_NAMES or item.name.isascii()):
            self._add(path, "name-encoding", _LOCALE)
            return None
        try:
            stat = item.stat(follow_symlinks=False)
            mode = stat.st_mode
            target = os.readlink(item.name, dir_fd=directory.fd) if S_ISLNK(mode) else ""
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno != EINVAL:
                raise
            self._add(path, "changed", _CHANGED)  # a link a moment ago
            return None
        size = stat.st_size
        if S_ISREG(mode):
            kind = EXECUTABLE if mode & S_IXUSR else FILE
            self._bytes += size
            if self._bytes > self._limits.bytes:
                self._stop(path, "too-large", _too_large(self._limits.bytes))
        elif S_ISDIR(mode):
            kind, size = DIRECTORY, 0
        elif S_ISLNK(mode):
            kind, size = LINK, len(os.fsencode(target))
        else:
            fault = f"is a {kind_of(stat)}, expected a regular file, directory or link; remove it"
            self._add(path, "special-file", fault)
            return None
        return Entry(
            path=path,
            kind=kind,
            size=size,
            target=target,
            signature=signature_of(stat),
            mode=S_IMODE(mode),
            links=stat.st_nlink,
        )

    def _count(self, path: str) -> None:
        self._seen += 1
        if self._seen > self._limits.entries * _SEEN_PER_ENTRY:
            self._stop(path, "too-many", _too_many(self._limits.entries))

    def _stop(self, path: str, code: str, fault: str) -> None:
        self._add(path, code, fault)
        raise _EnoughError

    def _add(self, path: str, code: str, fault: str) -> None:
        self.problems.append(problem_of(path, code, fault))
        if len(self.problems) >= MOST_PROBLEMS:
            raise _EnoughError


_CHANGED = "changed while the tree was listed; try again when it is at rest"
_LOCALE = (
    "has a name beyond ASCII, which can't be read in the encoding of this process "
    f"({sys.getfilesystemencoding()}); set LC_ALL=C.UTF-8"
)


def _too_many(limit: int) -> str:
    return (
        f"with this one the tree has more than {limit:,} files, links and directories; leave "
        f"some out with 'exclude' in the manifest, or {_raise_limit('files', limit)}"
    )


def _too_large(limit: int) -> str:
    return (
        f"with this one the files of the tree have more than {limit:,} bytes; leave some out "
        f"with 'exclude' in the manifest, or {_raise_limit('bytes', limit)}"
    )


def _too_deep(limit: int) -> str:
    return (
        f"lies deeper than {limit:,} levels; move it up, leave its directory out with "
        f"'exclude' in the manifest, or {_raise_limit('depth', limit)}"
    )


def _raise_limit(setting: str, limit: int) -> str:
    return (
        f"raise the limit in the settings.yaml of your user scope: "
        f"limits: {{{setting}: {2 * limit}}} (now {limit})"
    )


def _tree_error(problems: list[Problem], root: str) -> TreeError:
    kept = problems[:MOST_PROBLEMS]
    count = f"{len(kept)} problems" if len(kept) > 1 else "a problem"
    if len(problems) > len(kept) or len(kept) == MOST_PROBLEMS:
        count = f"the first {len(kept)} problems"
    return TreeError(kept, f"{exact(root)} can't be pinned; {count}:")
