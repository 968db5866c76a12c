"""Rules about absolute imports inside a bundle that only work by luck.

At run time an absolute import finds a file at the bundle's root, the standard library
before it, and nothing beside the module: a bundle that was tried out by running a file of
it, which puts the folder of the file on the path, works there and nowhere else.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from lionplug.activation.locate import locate, top_level_names
from lionplug.authoring.bundle import BundleTree
from lionplug.documents.nodes import shown
from lionplug.errors import Problem
from lionplug.manifest.model import Manifest
from lionplug.sources.imports import Import, read_imports
from lionplug.text import exact
from lionplug.trust.filetypes import is_python_name

_STANDARD = sys.stdlib_module_names


def import_problems(tree: BundleTree, manifest: Manifest | None) -> Iterator[Problem]:
    """Yield what is wrong with the imports of the Python files of a tree."""
    files = {
        path: tree.read(path)
        for path, entry in tree.entries.items()
        if entry.is_file and is_python_name(path) and entry.size <= 2**20
    }
    at_root = top_level_names(tree)
    yield from _standard_names(tree, at_root)
    installed = _installed(manifest)
    for path, answer in read_imports(files).items():
        if isinstance(answer, Import):
            code = "source-syntax" if answer.line else "imports-unread"
            end = "mend it." if answer.line else "the imports of this file are not checked."
            yield Problem(
                code,
                f"{answer.name}; {end}",
                file=exact(path),
                line=answer.line,
                column=1 if answer.line else 0,
            )
            continue
        folder = path.rpartition("/")[0]
        for found in answer:
            if found.name not in installed:
                yield from _judge(found, path, _beside(tree, folder, found.name), at_root)


def _judge(found: Import, path: str, beside: str, at_root: frozenset[str]) -> Iterator[Problem]:
    """Yield what is wrong with one absolute import.

    :param beside: The file or folder of that name beside the module, empty if there is none.
    """
    name = shown(found.name)
    if found.name in _STANDARD:
        # A module may import the standard one that it is named after.
        if (beside or found.name in at_root) and beside != path:
            yield Problem(
                "import-shadowed",
                f"'import {exact(found.name)}' gives the standard library, and the bundle has a "
                f"file {name} of its own here; rename the file, or import it by 'from . import'.",
                file=exact(path),
                line=found.line,
                column=found.column,
            )
    elif beside and "/" in path and found.name not in at_root:
        yield Problem(
            "import-beside",
            f"{name} lies beside this file and not at the bundle's root, where an absolute import "
            f"looks; write 'from . import {exact(found.name)}'.",
            file=exact(path),
            line=found.line,
            column=found.column,
        )


def _standard_names(tree: BundleTree, at_root: frozenset[str]) -> Iterator[Problem]:
    for name in sorted(at_root & _STANDARD):
        found = locate(tree, [name])
        if found is not None and found.file:
            yield Problem(
                "stdlib-name",
                f"'import {name}' always gives the standard library, never this file; rename it.",
                file=exact(found.file),
            )


def _beside(tree: BundleTree, folder: str, name: str) -> str:
    """Return the module of a name in a folder; a folder of it counts if code lies in it."""
    path = f"{folder}/{name}" if folder else name
    found = locate(tree, path.split("/"))
    if found is None:
        return ""
    if found.file:
        return found.file
    inside = f"{path}/"
    has_code = any(one.startswith(inside) and one.endswith(".py") for one in tree.entries)
    return path if has_code else ""


def _installed(manifest: Manifest | None) -> frozenset[str]:
    """Return the names that the manifest's own requirements probably bring."""
    names = manifest.python_packages if manifest else ()
    cut = ("".join(_leading(text)) for text in names)
    return frozenset(name.lower().replace("-", "_").replace(".", "_") for name in cut)


def _leading(text: str) -> Iterator[str]:
    for character in text.strip():
        if not (character.isalnum() or character in "._-"):
            return
        yield character
