"""Which files of a directory are the largest."""

import os

from . import walk


def largest(path: str, limit: int = 5) -> list[dict]:
    """List the largest files of a directory.

    Args:
        path: Directory to look at.
        limit: How many files to list.
    """
    sizes = [(os.path.getsize(file), file) for file in walk.files(path)]
    sizes.sort(reverse=True)
    return [{"file": os.path.relpath(file, path), "bytes": size} for size, file in sizes[:limit]]
