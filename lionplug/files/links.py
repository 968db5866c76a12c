"""Links inside a tree: relative, never out of it, ending at a file or directory (S4).

One walk, component by component as the kernel does it, serves two sources: the entries of
a pinned tree, and a directory on disk that is asked by descriptor. A ``..`` behind a link
leaves the directory that the link points to, not the one that holds the link; comparing
path texts gets this wrong.
"""

from __future__ import annotations

import os
from errno import EINVAL
from stat import S_ISDIR, S_ISLNK, S_ISREG

from lionplug.errors import UnsafePathError
from lionplug.files.entry import DIRECTORY, FILE, LINK, Entry
from lionplug.files.names import problem_of
from lionplug.files.opening import Directory
from lionplug.text import exact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from lionplug.errors import Problem

    #: Gives the kind of a path free of links, and for a link what it says; ``None`` if
    #: there is nothing.
    Lookup = Callable[[str], tuple[str, str] | None]

#: Links that are followed on the way of one link.
MOST_HOPS = 40

_ROOT = Entry(path="", kind=DIRECTORY)


class _LinkError(Exception):
    """A link or path that does not resolve; carries a code and the rest of a sentence."""

    def __init__(self, code: str, fault: str) -> None:
        super().__init__(code, fault)
        self.code = code
        self.fault = fault


def resolve(entries: Mapping[str, Entry], path: str) -> Entry | None:
    """Follow the links in ``path``, those in the middle and the last one.

    :param entries: The entries of one tree by path.
    :param path: A path relative to the root.
    :returns: The entry of a file or directory at which it ends, or ``None`` if it ends
        nowhere or leaves the tree. The root itself has the empty path.
    """
    try:
        final = _walk([], _relative(path) if path else path, _in_entries(entries))
    except _LinkError:
        return None
    return entries[final] if final else _ROOT


def check_links(entries: Iterable[Entry], left_out: Collection[str] = ()) -> list[Problem]:
    """Check every link of a tree by its entries alone.

    :param entries: All entries of the tree.
    :param left_out: Paths that are neither hashed nor copied, so that the message can say
        why the target is missing.
    :returns: One problem for each link that is refused.
    """
    by_path = {entry.path: entry for entry in entries}
    lookup = _in_entries(by_path, frozenset(left_out))
    problems = (_check(entry, lookup) for entry in by_path.values() if entry.kind == LINK)
    return [problem for problem in problems if problem is not None]


def check_links_on_disk(root: Directory, entries: Iterable[Entry]) -> list[Problem]:
    """Check every link of a tree once more, asking the disk and not the entries.

    :param root: The directory that holds the tree, such as a staged copy. It is asked by
        descriptors that follow no link, so nothing outside is ever touched.
    :param entries: The entries, of which only the paths of links are used.
    :returns: One problem for each link that is refused.
    """
    lookup = _on_disk(root)
    problems = (_check(entry, lookup) for entry in entries if entry.kind == LINK)
    return [problem for problem in problems if problem is not None]


def _check(entry: Entry, lookup: Lookup) -> Problem | None:
    try:
        _walk([], entry.path, lookup)
    except _LinkError as error:
        return problem_of(entry.path, error.code, error.fault)
    return None


def _walk(at: list[str], path: str, lookup: Lookup) -> str:
    """Walk ``path`` from the directory ``at`` and return where it ends, free of links.

    ``at`` is always a directory of the tree and free of links, so that leaving its last
    component is what the kernel does for ``..``.
    """
    pending = _components(path)
    hops = 0
    while pending:
        name = pending.pop()
        if name == ".":
            continue
        if name == "..":
            if not at:
                raise _LinkError(
                    "link-outside", "leads out of the bundle; links have to stay inside it"
                )
            at.pop()
            continue
        here = "/".join([*at, name])
        found = lookup(here)
        if found is None:
            raise _LinkError(
                "link-dangling",
                f"leads to {exact(here)}, which does not exist; remove it or add its target",
            )
        kind, target = found
        if kind == LINK:
            hops += 1
            if hops > MOST_HOPS:
                raise _LinkError(
                    "link-loop", f"needs more than {MOST_HOPS} links to resolve; is it a loop?"
                )
            pending += _components(_relative(target))
        elif kind == DIRECTORY:
            at.append(name)
        elif pending:
            raise _LinkError(
                "link-dangling",
                f"passes through {exact(here)}, which is a file; remove it or mend its target",
            )
        else:
            return here
    return "/".join(at)


def _components(path: str) -> list[str]:
    """Return the components in reverse; a final ``/`` asks for a directory, as ``/.``."""
    parts = [part for part in path.split("/") if part]
    if path.endswith("/"):
        parts.append(".")
    return parts[::-1]


def _relative(target: str) -> str:
    if not target:
        raise _LinkError("link-dangling", "is empty; remove it")
    if target.startswith("/"):
        raise _LinkError(
            "link-absolute",
            f"is the absolute link {exact(target)}; make it relative and inside the bundle",
        )
    return target


def _in_entries(entries: Mapping[str, Entry], left_out: Collection[str] = ()) -> Lookup:
    def lookup(path: str) -> tuple[str, str] | None:
        entry = entries.get(path)
        if entry is not None:
            return entry.kind, entry.target
        if path in left_out:
            raise _LinkError(
                "link-excluded",
                f"leads through {exact(path)}, which is left out of what is approved; "
                "point it elsewhere",
            )
        return None

    return lookup


def _on_disk(root: Directory) -> Lookup:
    def lookup(path: str) -> tuple[str, str] | None:
        folder, _, name = path.rpartition("/")
        try:
            with root.descend(folder) as directory:
                stat = directory.lstat(name)
                if S_ISLNK(stat.st_mode):
                    return LINK, os.readlink(name, dir_fd=directory.fd)
        except (FileNotFoundError, UnsafePathError):
            return None
        except OSError as error:
            if error.errno != EINVAL:
                raise
            return None  # a link a moment ago
        if S_ISDIR(stat.st_mode):
            return DIRECTORY, ""
        return (FILE, "") if S_ISREG(stat.st_mode) else None

    return lookup
