"""security rule S33: removing touches nothing outside, whatever was planted inside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lionplug.errors import UnsafePathError
from lionplug.files import removing
from lionplug.files.opening import Directory
from lionplug.files.writing import remove_at, remove_tree

pytestmark = pytest.mark.usefixtures("no_leaked_descriptors")


@pytest.fixture
def victim(home: Path) -> Path:
    path = home / "victim"
    (path / "deep").mkdir(parents=True)
    (path / "file").write_text("precious")
    return path


def test_s33_a_tree_is_removed_and_links_are_not_followed(home, victim):
    tree = home / "tree"
    (tree / "a" / "b").mkdir(parents=True)
    (tree / "empty").mkdir()
    (tree / "a" / "file").write_text("")
    (tree / "a" / "link").symlink_to(victim)
    (tree / "file link").symlink_to(victim / "file")
    (tree / "hard").hardlink_to(victim / "file")
    os.mkfifo(tree / "fifo")
    remove_tree(str(tree))
    assert os.listdir(home) == ["victim"]
    assert sorted(os.listdir(victim)) == ["deep", "file"]


def test_s33_of_a_link_only_the_link_is_removed(home, victim):
    (home / "link").symlink_to(victim)
    remove_tree(f"{home}/link/")
    assert os.listdir(home) == ["victim"]
    assert sorted(os.listdir(victim)) == ["deep", "file"]


def test_what_is_not_there_is_removed_already(home):
    remove_tree(str(home / "nothing"))
    remove_tree(str(home / "no" / "thing"))
    (home / "file").write_text("")
    remove_tree(str(home / "file"))
    assert os.listdir(home) == []


def test_s15_directories_that_are_read_only_or_closed_are_removed(public, as_stranger, stranger):
    tree = public / "mine" / "tree"
    (tree / "closed" / "deep").mkdir(parents=True)
    (tree / "read only").mkdir()
    for path in (tree / "read only" / "f", tree / "closed" / "deep" / "f"):
        path.write_text("")
        path.chmod(0o400)
    for path in [public / "mine", *(public / "mine").rglob("*")]:
        os.chown(path, stranger, stranger)
    (tree / "closed" / "deep").chmod(0o000)
    (tree / "closed").chmod(0o000)
    (tree / "read only").chmod(0o500)
    tree.chmod(0o500)
    as_stranger(remove_tree, str(tree))
    assert os.listdir(public / "mine") == []


def test_s33_a_closed_directory_is_opened_without_following_a_link(home, victim):
    (home / "link").symlink_to(victim)
    victim.chmod(0o500)
    with Directory.open(str(home)) as directory, pytest.raises(OSError):
        removing._make_readable(directory, "link")
    assert victim.stat().st_mode & 0o777 == 0o500


def test_a_system_whose_chmod_leaves_links_alone_uses_it(home, monkeypatch):
    calls = []

    def chmod(name, mode, **keywords):
        calls.append((name, mode, keywords))

    monkeypatch.setattr(os, "chmod", chmod)
    monkeypatch.setattr(os, "supports_follow_symlinks", {chmod})
    with Directory.open(str(home)) as directory:
        removing._make_readable(directory, "x")
        assert calls == [("x", 0o700, {"dir_fd": directory.fd, "follow_symlinks": False})]


def test_s33_another_users_directory_can_not_be_mended(public, as_stranger, stranger):
    (public / "mine" / "theirs").mkdir(parents=True)
    os.chown(public / "mine", stranger, stranger)
    (public / "mine" / "theirs").chmod(0o700)
    with pytest.raises(PermissionError):
        as_stranger(remove_tree, str(public / "mine" / "theirs"))
    assert (public / "mine" / "theirs").exists()


def test_s31_nothing_is_removed_where_others_can_write(home, victim):
    home.chmod(0o777)
    with pytest.raises(UnsafePathError):
        remove_tree(str(victim), scope=str(home))
    assert victim.exists()


@pytest.mark.parametrize("swap", ["link", "moved"])
def test_s33_a_tree_that_is_moved_while_it_is_removed_ends_it(home, victim, monkeypatch, swap):
    tree = home / "tree"
    (tree / "a" / "b").mkdir(parents=True)
    original = removing._Removal._clear

    def clear(self):
        found = original(self)
        if self._names[-1] == "b":
            if swap == "link":
                (tree / "a").rename(home / "away")
                (tree / "a").symlink_to(victim)
            else:
                (tree / "a" / "b").rename(victim / "deep" / "b")
        return found

    monkeypatch.setattr(removing._Removal, "_clear", clear)
    with pytest.raises((UnsafePathError, NotADirectoryError)) as caught:
        remove_tree(str(tree))
    if swap == "moved":
        assert str(caught.value) == (
            f"{tree}/a/b was moved while it was removed; see what moved it, then try again"
        )
    assert (victim / "file").read_text() == "precious"
    assert (victim / "deep").exists()


def test_what_vanishes_meanwhile_is_removed_already(home, monkeypatch):
    tree = home / "tree"
    for name in ("a", "b"):
        (tree / name).mkdir(parents=True)
    (tree / "f").write_text("")
    original = removing._Removal._clear

    def clear(self):
        if self._names == ["tree"]:
            (tree / "f").unlink()
            found = [*original(self), "gone"]
            return found
        (tree / self._names[-1]).rmdir()
        return []

    monkeypatch.setattr(removing._Removal, "_clear", clear)
    with pytest.MonkeyPatch.context() as patch:
        entry = type("Entry", (), {"name": "f", "is_dir": lambda self, **keywords: False})
        scan = Directory.scan
        patch.setattr(Directory, "scan", lambda self: [*scan(self), entry()])
        remove_tree(str(tree))
    assert not tree.exists()


def test_s33_a_name_in_an_open_directory_is_removed(home, victim):
    with Directory.open(str(home)) as directory:
        remove_at(directory, "victim")
        remove_at(directory, "victim")
    assert os.listdir(home) == []


def test_s15_a_directory_that_can_not_be_opened_is_mended_once(home, monkeypatch):
    (home / "tree" / "closed").mkdir(parents=True)
    (home / "tree" / "closed").chmod(0o000)
    original = Directory.child

    def child(self, name):
        if self.lstat(name).st_mode & 0o777 == 0:  # root would be let in
            raise PermissionError(13, "Permission denied")
        return original(self, name)

    monkeypatch.setattr(Directory, "child", child)
    remove_tree(str(home / "tree"))
    assert os.listdir(home) == []


def test_s33_a_directory_that_becomes_a_link_while_it_is_entered_is_not_left(
    home, victim, monkeypatch
):
    (home / "tree" / "d").mkdir(parents=True)
    original = removing._Removal._clear

    def clear(self):
        found = original(self)
        if found:
            (home / "tree" / "d").rmdir()
            (home / "tree" / "d").symlink_to(victim)
        return found

    monkeypatch.setattr(removing._Removal, "_clear", clear)
    with pytest.raises(UnsafePathError) as caught:
        remove_tree(str(home / "tree"))
    assert str(caught.value) == (
        f"{home}/tree/d: expected a directory, found a link; replace or remove it"
    )
    assert (victim / "file").read_text() == "precious"


def test_s15_a_read_only_tree_is_made_writable_to_be_removed(home):
    (home / "tree" / "d").mkdir(parents=True)
    (home / "tree" / "d" / "f").write_text("")
    for place in ("tree/d", "tree"):
        (home / place).chmod(0o500)
    remove_tree(str(home / "tree"))
    assert os.listdir(home) == []
