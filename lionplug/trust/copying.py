"""Copying a tree by descriptor: the very bytes that are written are hashed.

Nothing is opened by a path of more than one name and no link is followed, so whatever
happens to the live tree meanwhile, what is read lies in it (security rule S3, S4, S33).
The copy is not flushed to the disk: after a power cut it is found out by its hashes and
made again, and a thousand waits for the disk would cost more than all the rest.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from lionplug.errors import Problem, StoreError, TreeError, UnsafePathError
from lionplug.files.descriptors import NEW_FILE, open_at
from lionplug.files.entry import DIRECTORY, EXECUTABLE, LINK, Entry
from lionplug.files.hashing import hash_file
from lionplug.files.opening import Directory
from lionplug.files.signature import signature_of
from lionplug.text import exact

#: How an entry answers that is no longer there, or no longer of its kind.
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EINVAL, errno.ENXIO})


def changed(path: str) -> TreeError:
    """Return the error for a tree that was written to while it was read."""
    message = (
        "changed while it was copied; wait until nothing writes to the directory, and try again"
    )
    return TreeError([Problem("changed-while-copied", message, file=exact(path))])


def copy_entries(
    source: Directory,
    target: Directory,
    entries: Sequence[Entry],
) -> dict[str, str]:
    """Copy the entries of one tree into an empty directory.

    Files get mode 0400, or 0500 where their owner may run them; directories stay 0700
    while the copy is private staging. Set-id bits, attributes and times are not copied.

    :param source: Root of the live tree.
    :param target: Root of the copy.
    :param entries: The live tree as it was walked.
    :returns: SHA-256 in hex of each file's bytes, by path.
    :raises TreeError: An entry is no longer what it was when it was walked, or can't be read.
    :raises StoreError: The copy can't be written.
    """
    hashes: dict[str, str] = {}
    with _DirectoryPairs(source, target) as pairs:
        # Sorted by components, all entries of one directory and those below it stand
        # together: at most one pair of descriptors per level is open.
        for entry in sorted(entries, key=lambda entry: entry.path.split("/")):
            parent, _, name = entry.path.rpartition("/")
            below, into = pairs.enter(parent)
            if entry.kind == DIRECTORY:
                with _writing(entry.path):
                    os.mkdir(name, 0o700, dir_fd=into.fd)
                    os.chmod(name, 0o700, dir_fd=into.fd)  # whatever the umask
            elif entry.kind == LINK:
                _copy_link(below, into, name, entry)
            else:
                hashes[entry.path] = _copy_file(below, into, name, entry)
    return hashes


def hash_entries(source: Directory, entries: Sequence[Entry]) -> dict[str, str]:
    """Return the SHA-256 of each file of a tree, by path, read by descriptor.

    :param source: Root of the tree.
    :param entries: The tree as it was walked.
    :raises TreeError: An entry is no longer what it was when it was walked, or can't be read.
    """
    hashes: dict[str, str] = {}
    with _DirectoryPairs(source, source) as pairs:
        for entry in sorted(entries, key=lambda entry: entry.path.split("/")):
            if entry.is_file:
                parent, _, name = entry.path.rpartition("/")
                hashes[entry.path] = _hash(pairs.enter(parent)[0], name, entry)
    return hashes


def _copy_link(source: Directory, target: Directory, name: str, entry: Entry) -> None:
    with _reading(entry.path):
        link = os.readlink(name, dir_fd=source.fd)
    if link != entry.target:
        raise changed(entry.path)
    with _writing(entry.path):
        os.symlink(link, name, dir_fd=target.fd)


def _copy_file(source: Directory, target: Directory, name: str, entry: Entry) -> str:
    mode = 0o500 if entry.kind == EXECUTABLE else 0o400
    with _writing(entry.path):
        copy = open_at(name, NEW_FILE, target.fd, target.path_of(name), mode)
    try:
        with _writing(entry.path):
            os.fchmod(copy, mode)  # whatever the umask
        return _hash(source, name, entry, lambda piece: _write(copy, piece, entry.path))
    finally:
        os.close(copy)


def _write(copy: int, piece: bytes, path: str) -> None:
    with _writing(path):
        while piece:
            piece = piece[os.write(copy, piece) :]


def _hash(
    source: Directory, name: str, entry: Entry, sink: Callable[[bytes], object] | None = None
) -> str:
    """Hash a file that must be the one that was walked."""
    with _reading(entry.path):
        digest, _, stat = hash_file(source, name, entry.size, path=entry.path, sink=sink)
    if signature_of(stat) != entry.signature:
        raise changed(entry.path)
    return digest


class _DirectoryPairs:
    """The same directory below two roots, with one pair open per level."""

    def __init__(self, source: Directory, target: Directory) -> None:
        self._stack: list[tuple[str, Directory, Directory]] = [("", source, target)]

    def __enter__(self) -> _DirectoryPairs:
        return self

    def __exit__(self, *error: object) -> None:
        self._leave_all_but(1)

    def enter(self, path: str) -> tuple[Directory, Directory]:
        """Return the pair of a directory, entered level by level from the one entered last."""
        parts = path.split("/") if path else []
        common = 0
        for (name, _, _), part in zip(self._stack[1:], parts, strict=False):
            if name != part:
                break
            common += 1
        self._leave_all_but(common + 1)
        for part in parts[common:]:
            self._push(part, path)
        return self._stack[-1][1:]

    def _push(self, name: str, path: str) -> None:
        _, source, target = self._stack[-1]
        with ExitStack() as on_error:
            with _reading(path):
                below = on_error.enter_context(source.child(name))
            with _writing(path):
                into = below if target is source else target.child(name)
            on_error.pop_all()
        self._stack.append((name, below, into))

    def _leave_all_but(self, count: int) -> None:
        while len(self._stack) > count:
            _, source, target = self._stack.pop()
            source.close()
            if target is not source:
                target.close()


@contextmanager
def _reading(path: str) -> Iterator[None]:
    try:
        yield
    except TreeError as error:
        raise changed(path) from error
    except OSError as error:
        # It was there, and of a kind that can be read, when the tree was walked.
        if error.errno in _GONE or isinstance(error, UnsafePathError):
            raise changed(path) from error
        message = f"can't be read: {error.strerror or error}; make it readable for you"
        raise TreeError([Problem("unreadable", message, file=exact(path))]) from error


@contextmanager
def _writing(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{exact(path)}: the private copy can't be written: {error.strerror or error}. "
            "Make room in the user scope, or make it writable, and try again.",
            file=path,
        ) from error
