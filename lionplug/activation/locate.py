"""Which pinned file is a module: the rules of Python, applied to the entries of a tree."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from lionplug.activation.namespace import PinnedTree
from lionplug.files.trees import resolve


@frozen
class Located:
    """Where a module lies in its tree.

    :ivar file: Path of its ``.py`` file relative to the root; empty for a plain folder.
    :ivar folder: Path of the folder of a package, or of the module's file; empty for the root.
    :ivar is_package: Whether it can hold modules.
    """

    file: str
    folder: str
    is_package: bool


def locate(tree: PinnedTree, parts: Sequence[str]) -> Located | None:
    """Find a module: a package with ``__init__.py``, else a file, else a plain folder.

    Only pinned entries count, so no ``.pyc``, no extension module and no archive is ever
    found. Links inside the tree are followed as pinned.

    :param parts: The names below the root; none for the root itself.
    """
    if any(not part or "/" in part for part in parts):
        return None
    path = "/".join(parts)
    package = f"{path}/__init__.py" if path else "__init__.py"
    if _is_file(tree, package):
        return Located(package, path, True)
    if path and _is_file(tree, path + ".py"):
        return Located(path + ".py", path.rpartition("/")[0], False)
    if not path or _folder(tree, path) is not None:
        return Located("", path, True)
    return None


def top_level_names(tree: PinnedTree) -> frozenset[str]:
    """Return the names at the root that an absolute import finds: files and code folders.

    A folder counts only if there is code in it, so that a folder ``yaml/`` full of data
    does not hide an installed package.
    """
    code = [path for path, entry in tree.entries.items() if path.endswith(".py")]
    names = set()
    for path in tree.entries:
        if "/" in path:
            continue
        if path.endswith(".py") and _is_file(tree, path):
            names.add(path[:-3])
        else:
            folder = _folder(tree, path)
            if folder is not None and any(file.startswith(folder + "/") for file in code):
                names.add(path)
    return frozenset(names)


def _is_file(tree: PinnedTree, path: str) -> bool:
    entry = resolve(tree.entries, path)
    return entry is not None and entry.kind in ("f", "x")


def _folder(tree: PinnedTree, path: str) -> str | None:
    entry = resolve(tree.entries, path)
    return entry.path if entry is not None and entry.kind == "d" else None
