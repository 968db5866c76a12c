"""Looking at a tree: every change shows, nothing is read, and the look is bounded."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lionplug.errors import TreeError
from lionplug.files.limits import Limits
from lionplug.files.opening import Directory
from lionplug.files.walking import walk
from lionplug.text import exact
from lionplug.trust.looking import is_unchanged, signature_of_entries, signature_of_tree

Plant = Callable[..., str]
TREE: dict[str, Any] = {
    "a.py": "x",
    "sub/run": ("x", "y"),
    "sub/deep/b": "z",
    "l": ("l", "a.py"),
    "e": None,
}


def nothing(path: str, is_dir: bool) -> bool:
    return False


CHANGES: dict[str, Callable[[Path], object]] = {
    "edit": lambda root: (root / "a.py").write_text("y"),
    "touch": lambda root: os.utime(root / "sub/deep/b"),
    "mode": lambda root: (root / "a.py").chmod(0o600),
    "run bit": lambda root: (root / "sub/run").chmod(0o644),
    "add": lambda root: (root / "sub/deep/c").write_text(""),
    "remove": lambda root: (root / "sub/deep/b").unlink(),
    "remove a directory": lambda root: (root / "e").rmdir(),
    "rename": lambda root: (root / "a.py").rename(root / "b.py"),
    "link": lambda root: [(root / "l").unlink(), (root / "l").symlink_to("sub")],
    "FIFO": lambda root: os.mkfifo(root / "pipe"),
    "second name": lambda root: os.link(root / "a.py", root.parent / "second"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_shows_and_no_look_reads(
    plant: Plant, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object]
) -> None:
    location = plant("tree", TREE)
    with Directory.open(location) as root:
        entries = walk(root, Limits(), nothing)
        pinned = {entry.path: entry for entry in entries}
        with monkeypatch.context() as patch:
            patch.setattr(os, "read", lambda *arguments: pytest.fail("a file was read"))
            before = signature_of_tree(root, nothing, 100)
            assert before == signature_of_entries(entries)
            assert is_unchanged(root, pinned)

        change(Path(location))

        assert signature_of_tree(root, nothing, 100) != before
        assert not is_unchanged(root, pinned)


def test_what_is_left_out_is_not_looked_at(plant: Plant) -> None:
    location = plant("tree", TREE)
    with Directory.open(location) as root:

        def left_out(path: str, is_dir: bool) -> bool:
            return path == "sub"

        before = signature_of_tree(root, left_out, 3)
        Path(location, "sub/deep/b").write_text("changed")

        assert signature_of_tree(root, left_out, 3) == before


def test_a_look_is_bounded(plant: Plant) -> None:
    location = plant("tree", TREE)
    with Directory.open(location) as root, pytest.raises(TreeError) as caught:
        signature_of_tree(root, nothing, 6)

    assert str(caught.value) == (
        f"{exact(location)}: has more than 6 files, links and directories; "
        "leave some out with 'exclude' in the manifest"
    )


def test_a_directory_that_cannot_be_read_is_named(
    plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = plant("tree", TREE)
    real = os.scandir

    def refuse(fd: int) -> Any:
        if os.readlink(f"/proc/self/fd/{fd}").endswith("/deep"):
            raise PermissionError(13, "Permission denied")
        return real(fd)

    monkeypatch.setattr(os, "scandir", refuse)
    with Directory.open(location) as root, pytest.raises(TreeError) as caught:
        signature_of_tree(root, nothing, 100)

    assert str(caught.value) == (
        "sub/deep: can't be read: Permission denied; make it readable for you"
    )


def test_what_vanishes_meanwhile_is_a_change(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    location = plant("tree", TREE)
    with Directory.open(location) as root:
        pinned = {entry.path: entry for entry in walk(root, Limits(), nothing)}
        real = Directory.descend

        def vanish(self: Directory, path: str) -> Directory:
            if path == "e":
                raise FileNotFoundError(2, "No such file or directory")
            if path == "sub/deep":
                Path(location, "sub/deep/b").unlink(missing_ok=True)
            return real(self, path)

        monkeypatch.setattr(Directory, "descend", vanish)

        assert not is_unchanged(root, pinned)
