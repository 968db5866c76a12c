"""Writing so that a reader, or a kill at any instant, meets the old or the new (S33).

A new file gets a random name by ``O_EXCL`` in a directory that was opened component by
component, is written and synchronised, and only then takes its place by ``rename``; the
directory is synchronised last. While it is written the file is locked: what a killed
process leaves behind has no lock, so the next writer can tell it apart and removes it.
"""

from __future__ import annotations

import fcntl
import os
from errno import EINVAL, ENOTSUP
from stat import S_IMODE, S_ISREG

from lionplug.errors import UnsafePathError
from lionplug.files.chain import check_safe, locate
from lionplug.files.descriptors import (
    NEW_FILE,
    READ_DIRECTORY,
    READ_FILE,
    kind_of,
    not_of_kind,
    open_at,
)
from lionplug.files.opening import Directory
from lionplug.files.owners import user_label
from lionplug.files.removing import remove_at, remove_tree
from lionplug.text import exact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "make_directories",
    "make_private_directory",
    "open_private_directory",
    "remove_at",
    "remove_tree",
    "replace_at",
    "replace_file",
    "write_at",
]

_MARK = ".lionplug-"
_RANDOM_BYTES = 8
PRIVATE_FILE = 0o600
PRIVATE_DIRECTORY = 0o700


def make_private_directory(path: str, *, scope: str | None = None) -> None:
    """Make a directory that only the user can enter, whatever the umask.

    Missing parents are made the same way. What exists is left as it is, if nobody else
    can write it.

    :param path: An absolute path. The user's own links are followed, each checked.
    :param scope: The directory from which on nothing is excused.
    :raises UnsafePathError: if a directory on the way, or the one that exists at
        ``path``, can be changed by somebody else, or something else stands there.
    :raises OSError: if it can't be made.
    """
    open_private_directory(path, scope=scope).close()


def open_private_directory(path: str, *, scope: str | None = None) -> Directory:
    """Make a directory as :func:`make_private_directory` does, and open it."""
    with locate(path, scope=path if scope is None else scope, make=_make_private) as place:
        fd = open_at(place.name or ".", READ_DIRECTORY, place.fd, place.path)
        directory = Directory(fd, place.path)
    try:
        check_safe(fd, directory.stat, directory.path, inside_scope=True)
    except BaseException:
        directory.close()
        raise
    return directory


def make_directories(root: Directory, path: str, mode: int = PRIVATE_DIRECTORY) -> Directory:
    """Make a directory below an open one, following no link at all, and open it.

    For directories that somebody else filled, such as a project.

    :param root: Where the path begins.
    :param path: Components joined by ``/``; each may exist already, as a directory.
    :param mode: Mode of each directory that is made, whatever the umask.
    :raises UnsafePathError: if a component is a link or no directory.
    """
    directory = root.descend("")
    for name in path.split("/") if path else ():
        with directory as parent:
            try:
                os.mkdir(name, PRIVATE_DIRECTORY, dir_fd=parent.fd)
                made = True
            except FileExistsError:
                made = False
            directory = parent.child(name)
            if made:
                os.fchmod(directory.fd, mode)
                _sync_directory(parent.fd)
    return directory


def replace_file(
    path: str, data: bytes, mode: int = PRIVATE_FILE, *, scope: str | None = None
) -> os.stat_result:
    """Write a file that nobody but the user and root can change, as a whole or not at all.

    :param path: An absolute path in an existing directory. If it is a link, what it
        points to is replaced and the link stays.
    :param data: All bytes of the file.
    :param mode: Mode of the file, whatever the umask.
    :param scope: The directory from which on nothing is excused; by default the one that
        holds ``path``.
    :returns: The ``stat`` of the new file.
    :raises UnsafePathError: if somebody else can write a directory on the way, or
        something other than a regular file stands there.
    :raises OSError: if it can't be written; the old file is then untouched.
    """
    with locate(path, scope=os.path.dirname(path) if scope is None else scope) as place:
        check_safe(place.fd, os.fstat(place.fd), place.folder, inside_scope=True)
        if not place.name:
            raise not_of_kind(place.path, "regular file", "directory")
        directory = Directory(open_at(".", READ_DIRECTORY, place.fd, place.folder), place.folder)
        name = place.name
    with directory:
        return replace_at(directory, name, data, mode)


def replace_at(
    directory: Directory, name: str, data: bytes, mode: int = PRIVATE_FILE
) -> os.stat_result:
    """Write a file in an open directory, as a whole or not at all.

    :param directory: Where the file is to be; the caller answers for the way to it.
    :param name: One component. A link of that name is refused.
    :param data: All bytes of the file.
    :param mode: Mode of the file, whatever the umask.
    :returns: The ``stat`` of the new file.
    :raises UnsafePathError: if something other than a regular file stands there.
    :raises OSError: if it can't be written; the old file is then untouched.
    """
    _refuse_special(directory, name)
    _remove_leftovers(directory, name)
    fd, temporary = _new_sibling(directory, name)
    try:
        try:
            _write_all(fd, data)
            os.fchmod(fd, mode)
            os.fsync(fd)
            os.rename(temporary, name, src_dir_fd=directory.fd, dst_dir_fd=directory.fd)
        except BaseException:
            _unlink(directory, temporary)
            raise
        stat = os.fstat(fd)
    finally:
        os.close(fd)
    _sync_directory(directory.fd)
    return stat


def write_at(
    directory: Directory, name: str, data: Iterable[bytes], mode: int, *, sync: bool = False
) -> os.stat_result:
    """Write a file that does not exist yet.

    :param directory: Where the file is to be.
    :param name: One component. Whatever stands there already is an error, a link too.
    :param data: The bytes, in pieces.
    :param mode: Mode of the file, whatever the umask.
    :param sync: Whether to wait until the bytes are on disk; the directory is the
        caller's, who may write many files.
    :returns: The ``stat`` of the file.
    :raises FileExistsError: if there is something of that name.
    :raises OSError: if it can't be written; nothing is left then.
    """
    fd = open_at(name, NEW_FILE, directory.fd, directory.path_of(name), PRIVATE_FILE)
    try:
        try:
            for piece in data:
                _write_all(fd, piece)
            os.fchmod(fd, mode)
            if sync:
                os.fsync(fd)
            return os.fstat(fd)
        except BaseException:
            _unlink(directory, name)
            raise
    finally:
        os.close(fd)


def _make_private(fd: int, name: str, path: str) -> None:
    try:
        os.mkdir(name, PRIVATE_DIRECTORY, dir_fd=fd)
    except FileExistsError:
        return  # somebody was faster; it is looked at like everything else
    except OSError as error:
        error.filename = path
        raise
    with Directory(open_at(name, READ_DIRECTORY, fd, path), path) as made:
        if made.stat.st_uid != os.geteuid():
            raise UnsafePathError(
                f"{exact(path)}: made as you, but found owned by "
                f"{user_label(made.stat.st_uid)}; use a place of your own",
                file=path,
            )
        if S_IMODE(made.stat.st_mode) != PRIVATE_DIRECTORY:
            os.fchmod(made.fd, PRIVATE_DIRECTORY)
        _sync_directory(made.fd)
    with Directory(open_at(".", READ_DIRECTORY, fd, os.path.dirname(path)), path) as parent:
        _sync_directory(parent.fd)


def _refuse_special(directory: Directory, name: str) -> None:
    try:
        stat = directory.lstat(name)
    except FileNotFoundError:
        return
    if not S_ISREG(stat.st_mode):
        raise not_of_kind(directory.path_of(name), "regular file", kind_of(stat))


def _new_sibling(directory: Directory, name: str) -> tuple[int, str]:
    """Create and lock a file with a random name, from which the final name can be told."""
    while True:
        temporary = f"{_prefix(name)}{os.urandom(_RANDOM_BYTES).hex()}"
        fd = open_at(temporary, NEW_FILE, directory.fd, directory.path, PRIVATE_FILE)
        # Between the two lines above and below, another writer may take it for a leftover.
        if _lock(fd) and os.fstat(fd).st_nlink:
            return fd, temporary
        os.close(fd)


def _remove_leftovers(directory: Directory, name: str) -> None:
    prefix = _prefix(name)
    length = len(prefix) + 2 * _RANDOM_BYTES
    for entry in directory.entries():
        if entry.name.startswith(prefix) and len(entry.name) == length:
            _remove_leftover(directory, entry.name)


def _remove_leftover(directory: Directory, name: str) -> None:
    try:
        fd = open_at(name, READ_FILE, directory.fd, directory.path_of(name))
    except (FileNotFoundError, UnsafePathError):
        return
    try:
        if _lock(fd):
            _unlink(directory, name)
    finally:
        os.close(fd)


def _prefix(name: str) -> str:
    return f".{name}{_MARK}"


def _lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _unlink(directory: Directory, name: str) -> None:
    try:
        os.unlink(name, dir_fd=directory.fd)
    except FileNotFoundError:
        pass


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _sync_directory(fd: int) -> None:
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in (EINVAL, ENOTSUP):  # some file systems can't, and needn't
            raise
