"""security rule S14: what a tree consists of, and bounds that hold while it is walked."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import threading
import tracemalloc
from pathlib import Path

import pytest

from lionplug.errors import TreeError
from lionplug.files import walking
from lionplug.files.exclude import Exclusion
from lionplug.files.limits import Limits
from lionplug.files.opening import Directory
from lionplug.files.signature import signature_of
from lionplug.files.trees import Entry, check_hard_links, walk

pytestmark = pytest.mark.usefixtures("no_leaked_descriptors")


def listed(root: Path, limits: Limits | None = None, exclusion=None) -> list[Entry]:
    with Directory.open(str(root)) as directory:
        return walk(directory, limits or Limits(), exclusion or Exclusion())


def refused(root: Path, limits: Limits | None = None, exclusion=None) -> TreeError:
    with pytest.raises(TreeError) as caught:
        listed(root, limits, exclusion)
    return caught.value


def test_s14_every_entry_has_its_kind_size_mode_and_signature(home: Path):
    root = home / "bundle"
    (root / "empty").mkdir(parents=True)
    (root / "file").write_bytes(b"12345")
    (root / "run").write_bytes(b"#!")
    (root / "run").chmod(0o754)
    (root / "link").symlink_to("empty/é")
    found = {entry.path: entry for entry in listed(root)}
    assert {path: entry.kind for path, entry in found.items()} == {
        "empty": "d",
        "file": "f",
        "link": "l",
        "run": "x",
    }
    assert (found["file"].size, found["empty"].size, found["link"].size) == (5, 0, 8)
    assert found["link"].target == "empty/é"
    assert found["run"].mode == 0o754
    assert found["file"].signature == signature_of((root / "file").lstat())
    assert (found["file"].sha256, found["file"].links) == ("", 1)


def test_s14_only_the_owners_run_bit_makes_an_executable(home: Path):
    root = home / "bundle"
    root.mkdir()
    for mode, kind in ((0o654, "f"), (0o611, "f"), (0o700, "x"), (0o100, "x")):
        path = root / f"m{mode:o}"
        path.write_text("")
        path.chmod(mode)
        assert {e.path: e.kind for e in listed(root)}[path.name] == kind


def test_s14_entries_stand_in_byte_order_of_their_paths(home: Path):
    root = home / "bundle"
    for name in ("a/z", "a-b", "a.b/x", "é", "Z", "a/é", "\U0001f600", "\uffee"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    paths = [entry.path for entry in listed(root)]
    assert paths == sorted(paths, key=str.encode)
    assert paths[:5] == ["Z", "a", "a-b", "a.b", "a.b/x"]
    assert paths[-2:] == ["\uffee", "\U0001f600"]


def test_s13_what_is_left_out_is_not_entered_checked_or_counted(home: Path):
    root = home / "bundle"
    for path in (".git/hooks/nul", "a/__pycache__/x.pyc", "tmp/con", "keep/file"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("")
    (root / "__pycache__").write_text("a file of that name")
    exclusion = Exclusion(["tmp"])
    found = listed(root, Limits(entries=4), exclusion)
    assert [entry.path for entry in found] == ["__pycache__", "a", "keep", "keep/file"]
    assert exclusion.found == [".git", "a/__pycache__", "tmp"]


@pytest.mark.parametrize("name", [".git", ".hg", ".svn", "__pycache__"])
def test_s13_a_link_of_a_left_out_name_is_an_ordinary_entry(home: Path, name):
    root = home / "bundle"
    (root / "real").mkdir(parents=True)
    (root / name).symlink_to("real")
    assert [(entry.path, entry.kind) for entry in listed(root)] == [(name, "l"), ("real", "d")]


def test_s14_special_files_are_refused_by_name_and_never_opened(home: Path):
    root = home / "bundle"
    root.mkdir()
    os.mkfifo(root / "fifo")
    here = Path.cwd()
    try:
        os.chdir(root)  # the path of a socket may not be long
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("socket")
    finally:
        os.chdir(here)
    error = refused(root)
    assert sorted(map(str, error.problems)) == [
        "fifo: is a FIFO, expected a regular file, directory or link; remove it",
        "socket: is a socket, expected a regular file, directory or link; remove it",
    ]
    assert {problem.code for problem in error.problems} == {"special-file"}
    assert str(error).startswith(f"{root} can't be pinned; 2 problems:\n")


def test_s14_devices_are_refused(home: Path, stranger):
    root = home / "bundle"
    root.mkdir()
    try:
        os.mknod(root / "null", 0o600 | 0o020000, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("this container may not make devices")
    assert str(refused(root).problems[0]) == (
        "null: is a character device, expected a regular file, directory or link; remove it"
    )


def test_s14_names_are_checked_with_the_walk(home: Path):
    root = home / "bundle"
    root.mkdir()
    for name in (b"\xff", b"a:b", b"NUL.txt", b"x.", b"A", b"a"):
        Path(os.fsdecode(os.path.join(os.fsencode(root), name))).write_text("")
    codes = sorted(problem.code for problem in refused(root).problems)
    assert codes == [
        "name-character", "name-collision", "name-encoding", "name-ending", "name-reserved",
    ]  # fmt: skip


def test_s14_names_beyond_ascii_need_a_unicode_locale(home: Path, monkeypatch):
    root = home / "bundle"
    root.mkdir()
    (root / "é").write_text("")
    monkeypatch.setattr(walking, "_UTF8_NAMES", False)
    assert refused(root).problems[0].message == (
        "has a name beyond ASCII, which can't be read in the encoding of this process "
        f"({sys.getfilesystemencoding()}); set LC_ALL=C.UTF-8"
    )


def test_s14_too_many_entries_name_the_setting(home: Path):
    root = home / "bundle"
    root.mkdir()
    for number in range(4):
        (root / str(number)).write_text("")
    assert len(listed(root, Limits(entries=4))) == 4
    (problem,) = refused(root, Limits(entries=3)).problems
    assert problem.message == (
        "with this one the tree has more than 3 files, links and directories; leave some out "
        "with 'exclude' in the manifest, or raise the limit in the settings.yaml of your user "
        "scope: limits: {files: 6} (now 3)"
    )


def test_s14_too_many_bytes_name_the_setting(home: Path):
    root = home / "bundle"
    root.mkdir()
    (root / "a").write_bytes(b"123")
    (root / "b").write_bytes(b"123")
    assert len(listed(root, Limits(bytes=6))) == 2
    (problem,) = refused(root, Limits(bytes=5)).problems
    assert problem.code == "too-large"
    assert problem.message == (
        "with this one the files of the tree have more than 5 bytes; leave some out with "
        "'exclude' in the manifest, or raise the limit in the settings.yaml of your user scope: "
        "limits: {bytes: 10} (now 5)"
    )


def test_s14_sparse_files_count_with_their_size(home: Path):
    root = home / "bundle"
    root.mkdir()
    with (root / "sparse").open("wb") as file:
        file.truncate(2**40)
    assert [problem.code for problem in refused(root).problems] == ["too-large"]


def test_s14_too_deep_names_the_setting(home: Path):
    root = home / "bundle"
    (root / "1" / "2" / "3").mkdir(parents=True)
    assert len(listed(root, Limits(depth=3))) == 3
    (problem,) = refused(root, Limits(depth=2)).problems
    assert str(problem) == (
        "1/2/3: lies deeper than 2 levels; move it up, leave its directory out with 'exclude' "
        "in the manifest, or raise the limit in the settings.yaml of your user scope: "
        "limits: {depth: 4} (now 2)"
    )


@pytest.mark.long
def test_s14_a_hundred_thousand_entries_end_the_walk_early(home: Path):
    root = home / "bundle"
    root.mkdir()
    for number in range(100_000):
        os.close(os.open(root / str(number), os.O_CREAT))
    tracemalloc.start()
    try:
        assert [problem.code for problem in refused(root).problems] == ["too-many"]
        assert tracemalloc.get_traced_memory()[1] < 20 * 2**20
    finally:
        tracemalloc.stop()


def test_s14_what_is_left_out_is_bounded_too(home: Path):
    root = home / "bundle"
    root.mkdir()
    for number in range(21):
        (root / f"{number}.tmp").write_text("")
    error = refused(root, Limits(entries=2), Exclusion(["*.tmp"]))
    assert [problem.code for problem in error.problems] == ["too-many"]
    assert listed(root, Limits(entries=3), Exclusion(["*.tmp"])) == []


def test_s14_endless_depth_is_not_followed(home: Path):
    root = home / "bundle"
    root.mkdir()
    here = os.open(root, os.O_RDONLY)
    name = "d" * 100
    for _ in range(100):  # far beyond what a path can name
        os.mkdir(name, dir_fd=here)
        deeper = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)
    try:
        assert [problem.code for problem in refused(root).problems] == ["too-deep"]
    finally:
        from lionplug.files.writing import remove_tree

        remove_tree(str(root))
        assert not root.exists()


def test_s14_only_the_first_hundred_problems_are_kept(home: Path):
    root = home / "bundle"
    root.mkdir()
    for number in range(150):
        (root / f"{number}:").write_text("")
    error = refused(root)
    assert len(error.problems) == walking.MOST_PROBLEMS
    assert error.summary == f"{root} can't be pinned; the first 100 problems:"
    for number in range(150):
        (root / f"{number}:").unlink()
        os.mkfifo(root / f"{number}")
    assert refused(root).summary == f"{root} can't be pinned; the first 100 problems:"


def test_s14_a_tree_that_changes_all_the_time_never_crashes_the_walk(home: Path):
    root = home / "bundle"
    (root / "keep").mkdir(parents=True)
    stop = threading.Event()

    def churn():
        while not stop.is_set():
            for name in ("x", "y"):
                folder = root / name
                folder.mkdir(exist_ok=True)
                (folder / "f").write_text("")
                (folder / "l").unlink(missing_ok=True)
                (folder / "l").symlink_to("f")
                shutil.rmtree(folder, ignore_errors=True)

    thread = threading.Thread(target=churn)
    thread.start()
    codes = set()
    try:
        for _ in range(300):
            try:
                codes.update({"keep"} & {entry.path for entry in listed(root)})
            except TreeError as error:
                codes.update(problem.code for problem in error.problems)
    finally:
        stop.set()
        thread.join()
    assert codes - {"changed"} == {"keep"}


def test_s14_a_directory_that_becomes_a_link_is_not_entered(home: Path):
    root = home / "bundle"
    (root / "d").mkdir(parents=True)

    def swap(path: str, is_dir: bool) -> bool:
        return False

    class Swapping(Directory):
        def child(self, name: str) -> Directory:
            (root / "d").rmdir()
            (root / "d").symlink_to("/etc")
            return super().child(name)

        def descend(self, path: str) -> Directory:
            return Swapping(os.dup(self.fd), self.path)

    with Swapping.open(str(root)) as directory, pytest.raises(TreeError) as caught:
        walk(directory, Limits(), swap)
    assert [str(problem) for problem in caught.value.problems] == [
        "d: changed while the tree was listed; try again when it is at rest"
    ]


def test_s14_a_directory_that_can_not_be_read_is_named(public: Path, as_stranger):
    root = public / "bundle"
    (root / "closed").mkdir(parents=True)
    (root / "closed").chmod(0o700)
    with pytest.raises(TreeError) as caught:
        as_stranger(listed, root)
    assert [str(problem) for problem in caught.value.problems] == [
        "closed: can't be read; change its mode or owner"
    ]


def test_s14_hard_links_are_reported_and_refused_on_demand(home: Path):
    root = home / "bundle"
    root.mkdir()
    (home / "outside").write_text("")
    (root / "a").hardlink_to(home / "outside")
    (root / "b").write_text("")
    (root / "d").mkdir()  # has several links by nature
    entries = listed(root)
    assert [entry.links for entry in entries[:2]] == [2, 1]
    assert [str(problem) for problem in check_hard_links(entries)] == [
        "a: is a file with 2 names (hard links), expected one; replace it by a copy"
    ]


class Obstinate(Directory):
    """A directory whose children can't be opened, for the reason that the test gives."""

    __slots__ = ()
    reason: type[OSError] = OSError

    def child(self, name: str) -> Directory:
        raise self.reason

    def descend(self, path: str) -> Directory:
        return type(self)(os.dup(self.fd), self.path)


def test_s14_a_directory_that_vanishes_is_not_listed(home: Path, monkeypatch):
    (home / "gone").mkdir()
    (home / "stays").write_text("")
    monkeypatch.setattr(Obstinate, "reason", FileNotFoundError)
    with Obstinate.open(str(home)) as directory:
        assert [entry.path for entry in walk(directory, Limits(), Exclusion())] == ["stays"]


def test_s14_every_directory_that_can_not_be_read_is_named(home: Path, monkeypatch):
    (home / "a").mkdir()
    (home / "b").mkdir()
    monkeypatch.setattr(Obstinate, "reason", PermissionError)
    with Obstinate.open(str(home)) as directory, pytest.raises(TreeError) as caught:
        walk(directory, Limits(), Exclusion())
    assert sorted(map(str, caught.value.problems)) == [
        "a: can't be read; change its mode or owner",
        "b: can't be read; change its mode or owner",
    ]


def test_s14_another_directory_in_its_place_is_a_change(home: Path):
    (home / "d").mkdir()

    class Replacing(Obstinate):
        __slots__ = ()

        def child(self, name: str) -> Directory:
            (home / "d").rename(home / "old")
            (home / "d").mkdir()
            return Directory.child(self, name)

    with Replacing.open(str(home)) as directory, pytest.raises(TreeError) as caught:
        walk(directory, Limits(), Exclusion())
    assert [str(problem) for problem in caught.value.problems] == [
        "d: changed while the tree was listed; try again when it is at rest"
    ]


def test_s14_a_file_that_vanishes_is_not_listed(home: Path):
    for name in ("a", "b"):
        (home / name).symlink_to("target")

    def excluded(path: str, is_dir: bool) -> bool:
        if path == "b":
            (home / "b").unlink()
        return False

    assert [entry.path for entry in listed(home, exclusion=excluded)] == ["a"]
