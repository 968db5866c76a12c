"""Removing a tree by descriptor: no link is followed, and nothing outside is touched (S33)."""

from __future__ import annotations

import os
from stat import S_IMODE, S_ISDIR

from lionplug.errors import UnsafePathError
from lionplug.files.descriptors import PASS_DIRECTORY, READ_DIRECTORY, open_at
from lionplug.files.opening import Directory
from lionplug.text import exact

_OWNER_ALL = 0o700


def remove_tree(path: str, *, scope: str | None = None) -> None:
    """Remove a file, a link (not its target) or a directory with everything in it.

    :param path: An absolute path; nothing there is fine. Links on the way are followed
        and checked, a link at its end is removed.
    :param scope: The directory from which on nothing is excused; by default the one that
        holds ``path``.
    :raises UnsafePathError: if somebody else can write a directory on the way, or the
        tree is moved while it is removed.
    :raises OSError: if something can't be removed.
    """
    folder, name = os.path.split(path.rstrip("/"))
    try:
        directory = Directory.open_trusted(folder, scope=scope)
    except FileNotFoundError:
        return
    with directory:
        remove_at(directory, name)


def remove_at(directory: Directory, name: str) -> None:
    """Remove what stands in an open directory; see :func:`remove_tree`.

    :param directory: The directory; the caller answers for the way to it.
    :param name: One component.
    """
    try:
        stat = directory.lstat(name)
    except FileNotFoundError:
        return
    if S_ISDIR(stat.st_mode):
        _Removal(directory).remove(name)
    else:
        _unlink(directory, name)


class _Removal:
    """Empties directories from the leaves up, holding one descriptor however deep they are."""

    def __init__(self, top: Directory) -> None:
        self._top = top
        self._current = top.descend("")
        self._names: list[str] = []  # the way from the top to the current directory
        self._parents: list[tuple[int, int]] = []
        self._waiting: list[list[str]] = []  # directories still to be removed, by level

    def remove(self, name: str) -> None:
        try:
            self._enter(name)
            while self._names:
                if self._waiting[-1]:
                    self._enter(self._waiting[-1].pop())
                else:
                    self._leave()
        finally:
            self._current.close()

    def _enter(self, name: str) -> None:
        parent = self._current
        try:
            child = _open_child(parent, name)
        except FileNotFoundError:
            return
        self._parents.append((parent.stat.st_dev, parent.stat.st_ino))
        self._names.append(name)
        self._current = child
        parent.close()
        if S_IMODE(child.stat.st_mode) & _OWNER_ALL != _OWNER_ALL:
            os.fchmod(child.fd, _OWNER_ALL)
        self._waiting.append(self._clear())

    def _clear(self) -> list[str]:
        """Remove what is no directory, and return the names of the directories."""
        directories = []
        for entry in self._current.scan():
            if entry.is_dir(follow_symlinks=False):
                directories.append(entry.name)
            else:
                _unlink(self._current, entry.name)
        return directories

    def _leave(self) -> None:
        self._waiting.pop()
        name = self._names.pop()
        child = self._current
        path = os.path.dirname(child.path)
        self._current = Directory(open_at("..", READ_DIRECTORY, child.fd, path), path)
        child.close()
        stat = self._current.stat
        if (stat.st_dev, stat.st_ino) != self._parents.pop():
            raise UnsafePathError(
                f"{exact(child.path)} was moved while it was removed; "
                "see what moved it, then try again",
                file=child.path,
            )
        try:
            os.rmdir(name, dir_fd=self._current.fd)
        except FileNotFoundError:
            pass


def _open_child(parent: Directory, name: str) -> Directory:
    try:
        return parent.child(name)
    except PermissionError as error:
        if isinstance(error, UnsafePathError):
            raise
    _make_readable(parent, name)
    return parent.child(name)


def _make_readable(parent: Directory, name: str) -> None:
    """Give the owner's rights back to a directory that can't even be opened."""
    if os.chmod in os.supports_follow_symlinks:
        os.chmod(name, _OWNER_ALL, dir_fd=parent.fd, follow_symlinks=False)
        return
    # Linux before 6.6 has no chmod that leaves links alone; an O_PATH descriptor needs no
    # right to read, follows no link, and /proc leads to the very object.
    with Directory(os.open(name, PASS_DIRECTORY, dir_fd=parent.fd), parent.path_of(name)) as child:
        os.chmod(f"/proc/self/fd/{child.fd}", _OWNER_ALL)


def _unlink(directory: Directory, name: str) -> None:
    try:
        os.unlink(name, dir_fd=directory.fd)
    except FileNotFoundError:
        pass
