"""Bundles on disk, pinned and attached, as the host would have them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from lionplug.activation import importer
from lionplug.activation.log import ActivationLog
from lionplug.activation.namespace import Namespace
from lionplug.files.limits import Limits
from lionplug.files.opening import Directory
from lionplug.files.walking import walk
from lionplug.trust.copying import hash_entries
from lionplug.trust.digest import tree_digest
from lionplug.trust.stored import StoredTree


@frozen
class Ref:
    path: str
    attribute: str = ""


def ref(text: str) -> Ref:
    path, _, attribute = text.partition(":")
    return Ref(path, attribute)


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files; a value that begins with ``->`` is a link, a name with a final / a folder."""
    for name, content in files.items():
        path = root / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str) and content.startswith("->"):
            path.symlink_to(content[2:])
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content, encoding="utf-8")


def pin(root: Path) -> StoredTree:
    """Return the tree of a directory, as the store would hand it out."""
    with Directory.open(str(root)) as directory:
        entries = walk(directory, Limits(), lambda path, is_dir: False)
        hashes = hash_entries(directory, entries)
    entries = [evolve(entry, sha256=hashes.get(entry.path, "")) for entry in entries]
    return StoredTree(str(root), entries, tree_digest(entries))


class Bundles:
    """Makes and attaches bundles, and detaches them in the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(os.path.realpath(folder))
        self.log = ActivationLog()
        self._attached: list[str] = []

    def make(
        self,
        name: str,
        files: Mapping[str, str | bytes],
        *,
        user_dir: str | None = None,
        location: str | None = None,
        log: ActivationLog | None = None,
    ) -> Namespace:
        root = self.folder / "store" / f"{name}-{len(self._attached)}"
        root.mkdir(parents=True)
        write(root, files)
        namespace = Namespace(
            plugin=name,
            user_dir=user_dir or str(self.folder / "user"),
            location=location or str(self.folder / "live" / name),
            tree=pin(root),
            data_dir=str(self.folder / "data" / name),
            log=log or self.log,
        )
        importer.attach(namespace)
        self._attached.append(namespace.package)
        return namespace

    def load(self, namespace: Namespace, text: str, **options: Any) -> Any:
        return importer.load(namespace, ref(text), **options)

    def close(self) -> None:
        for package in self._attached:
            importer.detach(package)


@contextmanager
def untouched_imports() -> Iterator[None]:
    """Check that ``sys.path`` and everybody else's modules are as they were."""
    path = list(sys.path)
    modules = dict(sys.modules)
    yield
    assert sys.path == path
    for name, module in modules.items():
        assert sys.modules.get(name) is module, name
