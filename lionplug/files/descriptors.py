"""The flags of every open, and errors that say what stands there instead.

No open follows a link in the last component (``O_NOFOLLOW``), waits for a FIFO
(``O_NONBLOCK``) or leaks into a program that is started (``O_CLOEXEC``).
"""

from __future__ import annotations

import os
from errno import ELOOP, ENOTDIR, ENXIO
from stat import (
    S_IFMT,
    S_ISBLK,
    S_ISCHR,
    S_ISDIR,
    S_ISFIFO,
    S_ISLNK,
    S_ISREG,
    S_ISSOCK,
)

from lionplug.errors import UnsafePathError
from lionplug.text import exact

_SAFE = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
READ_FILE = _SAFE | os.O_RDONLY | os.O_NOCTTY
NEW_FILE = _SAFE | os.O_RDWR | os.O_CREAT | os.O_EXCL
LOCK_FILE = _SAFE | os.O_RDWR | os.O_CREAT
READ_DIRECTORY = _SAFE | os.O_RDONLY | os.O_DIRECTORY
#: Enough to go through a directory that may be searched but not listed, as ``/home`` can be.
PASS_DIRECTORY = _SAFE | os.O_DIRECTORY | getattr(os, "O_PATH", getattr(os, "O_SEARCH", 0))

#: Bytes that are read at once.
CHUNK = 64 * 1024

_KINDS = (
    (S_ISREG, "regular file"),
    (S_ISDIR, "directory"),
    (S_ISLNK, "link"),
    (S_ISFIFO, "FIFO"),
    (S_ISSOCK, "socket"),
    (S_ISBLK, "block device"),
    (S_ISCHR, "character device"),
)


def kind_of(stat: os.stat_result) -> str:
    """Return in one or two words what ``stat`` describes, such as ``directory``."""
    for test, kind in _KINDS:
        if test(stat.st_mode):
            return kind
    return f"special file of type {S_IFMT(stat.st_mode):#o}"


def open_at(name: str, flags: int, dir_fd: int | None, path: str, mode: int = 0o600) -> int:
    """Open ``name`` relative to a directory.

    :param name: One component, or a path whose earlier components the caller resolved.
    :param flags: One of the sets of flags of this module.
    :param dir_fd: Descriptor of the directory; ``None`` for a path of its own.
    :param path: The path by which messages name it.
    :param mode: Mode of a new file, before the umask.
    :returns: The descriptor.
    :raises UnsafePathError: if a link, a directory instead of a file or a file instead of
        a directory stands there.
    :raises OSError: any other failure, with ``path`` as its file name.
    """
    try:
        return os.open(name, flags, mode, dir_fd=dir_fd)
    except OSError as error:
        if error.errno in (ELOOP, ENOTDIR, ENXIO) or isinstance(error, IsADirectoryError):
            wanted = "directory" if flags & os.O_DIRECTORY else "regular file"
            raise not_of_kind(path, wanted, _found(name, dir_fd)) from None
        error.filename = path  # the bare name would not say where
        raise


def not_of_kind(path: str, wanted: str, found: str) -> UnsafePathError:
    """Return the error for a path at which something else stands than must."""
    return UnsafePathError(
        f"{exact(path)}: expected a {wanted}, found a {found}; replace or remove it", file=path
    )


def _found(name: str, dir_fd: int | None) -> str:
    try:
        return kind_of(os.lstat(name, dir_fd=dir_fd))
    except OSError:
        return "path that changes while it is opened"
