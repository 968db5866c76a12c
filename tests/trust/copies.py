"""Staged copies for tests: real trees on disk, with a manifest made of plain data."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve

from lionplug.errors import Problem
from lionplug.files.limits import Limits
from lionplug.files.opening import Directory
from lionplug.files.trees import Entry, Tree, walk
from lionplug.manifest.model import Manifest
from lionplug.trust.digest import tree_digest
from lionplug.trust.disclosure import Disclosure, Relation, disclose


class Copy(Tree):
    """What a disclosure reads of a staged tree."""

    def __init__(self, root: str, entries: Sequence[Entry], manifest: Manifest) -> None:
        super().__init__(root, entries)
        self.manifest = manifest
        self.digest = tree_digest(entries)
        self.location = f"/live/{os.path.basename(root)}"
        self.name_of_directory = os.path.basename(root)
        self.excluded: tuple[str, ...] = ()
        self.problems: tuple[Problem, ...] = ()


def copy_of(
    folder: Path, files: Mapping[str, Any], name: str = "web-research", **manifest: Any
) -> Copy:
    """Write files into a new folder and return it as a staged copy.

    :param files: Path to content; ``None`` is a directory, ``("x", data)`` a file with a run
        bit, ``("l", target)`` a link. A manifest file is added.
    """
    root = folder / name
    for path, content in {"plugin.yaml": "name: x\n", **files}.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        kind, content = content if isinstance(content, tuple) else ("f", content)
        if content is None:
            place.mkdir()
        elif kind == "l":
            place.symlink_to(content)
        else:
            place.write_bytes(content.encode() if isinstance(content, str) else content)
            place.chmod(0o755 if kind == "x" else 0o644)
    with Directory.open(str(root)) as directory:
        entries = walk(directory, Limits(entries=20_000), lambda path, is_dir: False)
    hashed = [
        evolve(entry, sha256=hashlib.sha256((root / entry.path).read_bytes()).hexdigest())
        if entry.is_file
        else entry
        for entry in entries
    ]
    return Copy(
        str(root), hashed, Manifest(**{"name": "web-research", "version": "1.0", **manifest})
    )


def disclosed(copy: Copy, **values: Any) -> Disclosure:
    """Disclose a copy as a first approval in the user scope."""
    defaults: dict[str, Any] = {"scope": "user", "relation": Relation(), "signatures": {}}
    return disclose(copy, **{**defaults, **values})  # type: ignore[arg-type]


def unwrapped(lines: Sequence[str], bar: str = r" *\| ") -> list[str]:
    r"""Undo what the layout did to lines that are too long.

    :param bar: What stands before what goes on; in the text of a difference ``r" \| "``,
        where no line of it has a bar.
    """
    whole: list[str] = []
    for line in lines:
        found = re.match(bar, line)
        if found:
            whole[-1] += line[found.end() :]
        else:
            whole.append(line)
    return whole
