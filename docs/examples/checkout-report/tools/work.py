"""Where a directory says that something is still to be done."""

import os
import re

from . import walk

WORDS = ("TODO", "FIXME", "XXX", "HACK")


def find(path, words=WORDS, limit=20):
    """Return the places of words that mark unfinished work, in order of file and line."""
    pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, words)) + r")\b")
    found = []
    for file in walk.files(path):
        for number, line in enumerate(walk.lines(file), 1):
            if pattern.search(line):
                place = f"{os.path.relpath(file, path)}:{number}"
                found.append({"place": place, "text": line.strip()[:100]})
                if len(found) == limit:
                    return found
    return found
