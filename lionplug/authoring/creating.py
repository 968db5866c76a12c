"""Writing a new bundle: all of it or nothing, into a directory that was not there (S33)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from stat import S_IMODE

from lionplug.errors import LionplugError, UnsafePathError, UsageError
from lionplug.files.opening import Directory
from lionplug.files.writing import make_directories, remove_at, write_at
from lionplug.manifest.names import why_not_plugin_name
from lionplug.text import exact

#: What others may at most do with a new directory: read it, if the umask allows.
_OPEN = 0o755
_FILE = 0o666


def require_name(name: str) -> None:
    """Refuse a text that can't be the name of a plugin.

    :raises UsageError: It can't; the message says why.
    """
    reason = why_not_plugin_name(name)
    if reason:
        raise UsageError(f"{exact(name)} can't be the name of a plugin: {reason}; name it so.")


def write_bundle(path: str, files: Mapping[str, str]) -> None:
    """Write the files of a new bundle.

    :param path: The directory to make; what holds it must exist. Links on the way there are
        followed, below it none.
    :param files: Relative path to text.
    :raises UsageError: There is something at ``path`` already, or nothing that holds it.
    :raises LionplugError: It can't be written; nothing is left then.
    """
    folder, name = os.path.split(os.path.abspath(path))
    if not name:
        raise UsageError(f"{exact(path)} is there already; name a new directory.")
    try:
        with Directory.open(os.path.realpath(folder)) as parent:
            _make(parent, name, path)
            try:
                _fill(parent, name, files)
            except BaseException:
                remove_at(parent, name)
                raise
    except OSError as error:
        if isinstance(error, LionplugError):
            raise
        if isinstance(error, FileNotFoundError):
            message = f"{exact(folder)} does not exist; make it first, or name another directory."
            raise UsageError(message) from error
        raise LionplugError(
            f"{exact(path)} can't be written: {error.strerror or error}; name a directory of "
            "your own.",
            file=path,
        ) from error


def _make(parent: Directory, name: str, path: str) -> None:
    try:
        os.mkdir(name, _OPEN, dir_fd=parent.fd)
    except FileExistsError:
        raise UsageError(
            f"{exact(path)} is there already, and nothing was written; name a new directory."
        ) from None


def _fill(parent: Directory, name: str, files: Mapping[str, str]) -> None:
    with parent.child(name) as root:
        if root.stat.st_uid != os.geteuid():
            raise UnsafePathError(
                f"{exact(root.path)} was made as you and found to be another's; use a place of "
                "your own.",
                file=root.path,
            )
        # As the umask left it, so that no file can be read by more people than the directory.
        mode = S_IMODE(root.stat.st_mode) & _OPEN
        for path, text in files.items():
            below, _, file = path.rpartition("/")
            with make_directories(root, below, mode) as directory:
                write_at(directory, file, [text.encode()], mode & _FILE)
