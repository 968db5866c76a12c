"""Walk over the files of a directory that a person would call its content."""

import os

LEFT_OUT = {"__pycache__", "node_modules", "build", "dist", "venv", "site-packages"}
MOST_FILES = 20_000


def files(path):
    """Yield the paths of regular files below a directory, without hidden and built ones."""
    if not os.path.isdir(path):
        raise NotADirectoryError(f"{path} is not a directory; pass the path of one")
    count = 0
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(
            name for name in folders if name not in LEFT_OUT and not name.startswith(".")
        )
        for name in sorted(names):
            file = os.path.join(folder, name)
            if os.path.isfile(file) and not os.path.islink(file):
                yield file
                count += 1
                if count == MOST_FILES:
                    return


def lines(file):
    """Return the lines of a text file; none of a file that is binary or can't be read."""
    try:
        with open(file, "rb") as stream:
            data = stream.read(2 * 1024 * 1024)
    except OSError:
        return []
    if b"\0" in data:
        return []
    return data.decode("utf-8", "replace").splitlines()
