"""Whether a tree holds what its manifest declares."""

from __future__ import annotations

from typing import Protocol

from lionplug.documents.nodes import shown
from lionplug.errors import Problem
from lionplug.manifest.capability import Capability
from lionplug.manifest.model import Manifest

#: The file that makes a directory a skill.
SKILL_FILE = "SKILL.md"

_MANIFEST_FILE = "plugin.yaml"


class Files(Protocol):
    """What is asked of a tree; inner links are followed."""

    def is_file(self, path: str) -> bool:
        """Tell whether the path is a regular file of the tree."""

    def is_dir(self, path: str) -> bool:
        """Tell whether the path is a directory of the tree."""


def check_files(manifest: Manifest, tree: Files) -> list[Problem]:
    """Return what the manifest declares and the tree does not hold.

    :param manifest: The manifest of the tree.
    :param tree: The staged copy: what is excluded is not in it.
    """
    return [
        problem
        for capability in manifest.capabilities
        for path in capability.files
        if (problem := _problem(capability, path, tree)) is not None
    ]


def _problem(capability: Capability, path: str, tree: Files) -> Problem | None:
    if capability.surface == "skills":
        if tree.is_dir(path) and tree.is_file(f"{path}/{SKILL_FILE}"):
            return None
        code, expected = "missing-directory", f"a directory with a file {SKILL_FILE}"
    else:
        if tree.is_file(path):
            return None
        code, expected = "missing-file", "a regular file"
    return Problem(
        code,
        f"{capability.surface} {shown(capability.name)} needs {expected} at {shown(path, 200)}, "
        "and there is none; add it or correct the manifest.",
        file=_MANIFEST_FILE,
        field=f"capabilities.{capability.surface}",
    )
