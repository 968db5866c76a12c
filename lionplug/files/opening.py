"""Directories and regular files by descriptor, so that what is checked is what is read."""

from __future__ import annotations

import os
from stat import S_ISREG

from lionplug.errors import UnsafePathError
from lionplug.files.chain import check_safe, locate
from lionplug.files.descriptors import (
    CHUNK,
    READ_DIRECTORY,
    READ_FILE,
    kind_of,
    not_of_kind,
    open_at,
)
from lionplug.text import exact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from typing_extensions import Self


class _Open:
    """Something open, with the path by which messages name it; closes itself."""

    __slots__ = ("fd", "path", "stat")

    def __init__(self, fd: int, path: str) -> None:
        self.fd = fd
        self.path = path
        self.stat = os.fstat(fd)

    def close(self) -> None:
        """Close the descriptor; a second time is harmless."""
        if self.fd >= 0:
            fd, self.fd = self.fd, -1
            os.close(fd)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path!r}>"


class Directory(_Open):
    """An open directory; a context manager that closes it.

    :ivar fd: The descriptor.
    :ivar path: The path by which messages name the directory.
    :ivar stat: Its ``fstat`` when it was opened.
    """

    __slots__ = ()

    @classmethod
    def open(cls, path: str) -> Directory:
        """Open a directory for reading.

        :param path: The last component may not be a link; those before it are followed,
            so the caller resolves the path first.
        :raises FileNotFoundError: if there is nothing at ``path``.
        :raises UnsafePathError: if it is a link or no directory.
        """
        return cls(open_at(path, READ_DIRECTORY, None, path), path)

    @classmethod
    def open_trusted(cls, path: str, *, scope: str | None = None) -> Directory:
        """Open a directory that nobody but the user and root can change or replace.

        Links are followed, and each directory on the way, of links' targets too, is
        checked through the descriptor by which the next one is opened (S31).

        :param path: An absolute path.
        :param scope: The directory from which on nothing is excused; ``path`` itself
            never is.
        :raises FileNotFoundError: if there is nothing at ``path``.
        :raises UnsafePathError: naming the component, its owner and mode, and the remedy.
        """
        with locate(path, scope=path if scope is None else scope) as place:
            fd = open_at(place.name or ".", READ_DIRECTORY, place.fd, place.path)
            directory = cls(fd, place.path)
        try:
            check_safe(fd, directory.stat, directory.path, inside_scope=True)
        except BaseException:
            directory.close()
            raise
        return directory

    def child(self, name: str) -> Directory:
        """Open a directory in this one.

        :param name: One component; a link is refused.
        :raises FileNotFoundError: if there is nothing of that name.
        :raises UnsafePathError: if it is a link or no directory.
        """
        path = self.path_of(name)
        return Directory(open_at(name, READ_DIRECTORY, self.fd, path), path)

    def descend(self, path: str) -> Directory:
        """Open a directory below this one, or this one again for an empty path.

        :param path: Components joined by ``/``; none may be a link, ``.`` or ``..``.
        :raises FileNotFoundError: if one is missing.
        :raises UnsafePathError: if one is a link or no directory.
        """
        directory = Directory(open_at(".", READ_DIRECTORY, self.fd, self.path), self.path)
        for name in path.split("/") if path else ():
            with directory as parent:
                directory = parent.child(name)
        return directory

    def path_of(self, name: str) -> str:
        """Return the path by which messages name something in this directory."""
        return os.path.join(self.path, name)

    def read(self, name: str, limit: int) -> tuple[bytes, os.stat_result]:
        """Read a regular file.

        :param name: One component; a link is refused.
        :param limit: The greatest size in bytes.
        :returns: The bytes, and the ``stat`` of the file from which they were read.
        :raises FileNotFoundError: if there is nothing of that name.
        :raises UnsafePathError: if it is no regular file, or larger than ``limit``.
        """
        with self.open_file(name) as file:
            return file.read(limit), file.stat

    def open_file(self, name: str) -> RegularFile:
        """Open a regular file for reading; see :meth:`read` for the errors."""
        path = self.path_of(name)
        # Opening a device can have effects of its own (a tape rewinds), so ask first.
        stat = self.lstat(name)
        if not S_ISREG(stat.st_mode):
            raise not_of_kind(path, "regular file", kind_of(stat))
        return RegularFile.adopt(open_at(name, READ_FILE, self.fd, path), path)

    def scan(self) -> list[os.DirEntry[str]]:
        """Return the entries of the directory, unsorted.

        They ask through this directory's descriptor: use them while it is open. Where
        somebody else may have filled the directory, iterate over :meth:`entries`.
        """
        return list(self.entries())

    def entries(self) -> Iterator[os.DirEntry[str]]:
        """Iterate over the entries of the directory without holding them all in memory."""
        with os.scandir(self.fd) as entries:
            yield from entries

    def lstat(self, name: str) -> os.stat_result:
        """Return the ``stat`` of something in this directory; of a link, not its target."""
        try:
            return os.lstat(name, dir_fd=self.fd)
        except OSError as error:
            error.filename = self.path_of(name)
            raise

    def __enter__(self) -> Self:
        return self


class RegularFile(_Open):
    """A regular file that is open for reading; a context manager that closes it.

    :ivar fd: The descriptor.
    :ivar path: The path by which messages name the file.
    :ivar stat: Its ``fstat`` when it was opened.
    """

    __slots__ = ()

    @classmethod
    def adopt(cls, fd: int, path: str) -> RegularFile:
        """Take over a descriptor.

        :raises UnsafePathError: if it is not open on a regular file, as when something
            else was put there between the question and the open; it is closed then.
        """
        file = cls(fd, path)
        if not S_ISREG(file.stat.st_mode):
            file.close()
            raise not_of_kind(path, "regular file", kind_of(file.stat))
        return file

    def read(self, limit: int) -> bytes:
        """Return all bytes of the file.

        :raises UnsafePathError: if there are more than ``limit``.
        """
        if self.stat.st_size > limit:
            raise self._too_large(limit)
        chunks: list[bytes] = []
        room = limit + 1
        while room > 0:
            chunk = os.read(self.fd, min(room, CHUNK))
            if not chunk:
                return b"".join(chunks)
            chunks.append(chunk)
            room -= len(chunk)
        raise self._too_large(limit)

    def _too_large(self, limit: int) -> UnsafePathError:
        return UnsafePathError(
            f"{exact(self.path)}: expected at most {limit:,} bytes, found more; make it smaller",
            file=self.path,
        )

    def __enter__(self) -> Self:
        return self


def read_trusted(
    path: str, limit: int, *, scope: str | None = None
) -> tuple[bytes, os.stat_result]:
    """Read a file that nobody but the user and root can change or replace (S31).

    The directories on the way are checked as by :meth:`Directory.open_trusted`, the one
    that holds the file without excuse, and the file itself on the descriptor from which
    it is read.

    :param path: An absolute path; a link is followed and its target's way checked, too.
    :param limit: The greatest size in bytes.
    :param scope: The directory from which on nothing is excused; by default the one that
        holds ``path``.
    :returns: The bytes, and the ``stat`` of the file from which they were read.
    :raises FileNotFoundError: if there is nothing at ``path``.
    :raises UnsafePathError: if somebody else can write it, or it is no regular file, or
        larger than ``limit``.
    """
    with locate(path, scope=os.path.dirname(path) if scope is None else scope) as place:
        check_safe(place.fd, os.fstat(place.fd), place.folder, inside_scope=True)
        if place.stat is None:
            raise FileNotFoundError(2, os.strerror(2), place.path)
        if not S_ISREG(place.stat.st_mode):
            raise not_of_kind(place.path, "regular file", kind_of(place.stat))
        fd = open_at(place.name, READ_FILE, place.fd, place.path)
        file = RegularFile.adopt(fd, place.path)
    with file:
        check_safe(file.fd, file.stat, file.path, inside_scope=True)
        return file.read(limit), file.stat
