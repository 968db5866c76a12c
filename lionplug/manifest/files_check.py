"""Whether a tree holds what its manifest declares."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Protocol

from lionplug.documents.nodes import Mapping, Node, Scalar, Sequence, shown
from lionplug.documents.problems import Problems
from lionplug.documents.yaml import read_yaml
from lionplug.errors import Problem
from lionplug.manifest.capability import Capability, label
from lionplug.manifest.model import Manifest

#: The file that makes a directory a skill.
SKILL_FILE = "SKILL.md"

_MANIFEST_FILE = "plugin.yaml"

# Keys under which a text that looks like a declared path is none.
_NO_PATHS = frozenset(
    ("name", "names", "description", "parameters", "args", "env", "cwd", "matcher")
)


class Files(Protocol):
    """What is asked of a tree; inner links are followed."""

    def is_file(self, path: str) -> bool:
        """Tell whether the path is a regular file of the tree."""

    def is_dir(self, path: str) -> bool:
        """Tell whether the path is a directory of the tree."""


def check_files(manifest: Manifest, tree: Files, data: bytes) -> tuple[Problem, ...]:
    """Return what the manifest declares and the tree does not hold, with line and column.

    :param manifest: The manifest of the tree.
    :param tree: The staged copy: what is excluded is not in it.
    :param data: The bytes that the manifest was read from. They are read once more where
        something is missing, so that manifests need not keep the places of everything.
    """
    missing = [
        (capability, path)
        for capability in manifest.capabilities
        for path in capability.files
        if not _is_there(capability, path, tree)
    ]
    problems = Problems(_MANIFEST_FILE)
    document = read_yaml(data, _MANIFEST_FILE) if missing else None
    waiting: dict[tuple[str, str], deque[_Place]] = {}
    for capability, path in missing:
        key = (capability.surface, path)
        if key not in waiting:
            waiting[key] = deque(_places(document, *key))
        # Of several declarations of one path the first missing stands first in the file.
        steps, node = waiting[key].popleft() if waiting[key] else (list(key[:1]), None)
        problems.path = ["capabilities", *steps]
        code, message = _explain(capability, path)
        problems.add(code, message, node.line if node else 0, node.column if node else 0)
    return problems.found


def _is_there(capability: Capability, path: str, tree: Files) -> bool:
    if capability.surface == "skills":
        return tree.is_dir(path) and tree.is_file(f"{path}/{SKILL_FILE}")
    return tree.is_file(path)


def _explain(capability: Capability, path: str) -> tuple[str, str]:
    code, expected = "missing-file", "a regular file"
    if capability.surface == "skills":
        code, expected = "missing-directory", f"a directory with a file {SKILL_FILE}"
    return code, (
        f"{label(capability.surface, capability.name)} needs {expected} at {shown(path, 200)}, "
        "and there is none; add it or correct the manifest."
    )


_Place = tuple[list[str | int], Scalar]


def _places(document: Mapping | None, surface: str, path: str) -> Iterator[_Place]:
    """Yield where a surface's entries name a path, with the steps that lead there."""
    section = document.get("capabilities") if document else None
    entries = section.get(surface) if isinstance(section, Mapping) else None
    if entries is not None:
        yield from _scalars(entries, [surface], path)


def _scalars(node: Node, steps: list[str | int], path: str) -> Iterator[_Place]:
    if isinstance(node, Scalar):
        if path in (node.text, node.text.partition(":")[0]):
            yield steps, node
    elif isinstance(node, Sequence):
        # Of a command only the program is a declared file.
        items = node.items[:1] if steps[-1] == "command" else node.items
        for index, item in enumerate(items):
            yield from _scalars(item, [*steps, index], path)
    else:
        is_entry = len(steps) > 1  # and no mapping of names to entries
        for key, value in node.items:
            if not (is_entry and (key.text in _NO_PATHS or key.text.startswith("x-"))):
                yield from _scalars(value, [*steps, key.text], path)
