"""Files beside a module, for :mod:`importlib.resources`."""

from __future__ import annotations

import pathlib
from importlib.readers import FileReader


class FolderReader(FileReader):
    """Reads from one folder of the approved tree.

    :param folder: Its path in the store.
    """

    def __init__(self, folder: str) -> None:
        # Not FileReader's own: it takes the folder from the path of a loader.
        self.path = pathlib.Path(folder)
