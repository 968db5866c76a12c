"""Where the person stands: the project root above a directory.

No program is run and no environment variable is read to find it (security rule S11).
"""

from __future__ import annotations

import os

#: Names whose presence marks a directory as the root of a checkout.
MARKERS = (".git", ".hg", ".svn")


def project_root(directory: str) -> str | None:
    """Return the nearest directory at or above ``directory`` that holds a VCS marker.

    :param directory: An absolute path with links resolved.
    :returns: The root, or ``None`` if no marker is met on the same file system.
    """
    try:
        device = os.lstat(directory).st_dev
        while True:
            if any(os.path.lexists(os.path.join(directory, name)) for name in MARKERS):
                return directory
            parent = os.path.dirname(directory)
            if parent == directory or os.lstat(parent).st_dev != device:
                return None
            directory = parent
    except OSError:
        return None


def is_inside(path: str, folder: str) -> bool:
    """Tell whether ``path`` is ``folder`` or lies below it, comparing whole components."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
