"""security rule S33: a reader meets the old or the new, and no planted link is followed."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from lionplug.errors import UnsafePathError
from lionplug.files import owners, writing
from lionplug.files.opening import Directory
from lionplug.files.writing import (
    make_directories,
    make_private_directory,
    open_private_directory,
    replace_at,
    replace_file,
    write_at,
)

pytestmark = pytest.mark.usefixtures("no_leaked_descriptors")


def mode_of(path: Path) -> int:
    return path.lstat().st_mode & 0o7777


@pytest.fixture
def file(home: Path) -> Path:
    path = home / "state.json"
    path.write_text("old")
    return path


# -- whole files ---------------------------------------------------------------------


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o022, 0o077, 0o277])
def test_s33_a_new_file_has_its_mode_whatever_the_umask(home, umask, mask):
    umask(mask)
    stat = replace_file(str(home / "new"), b"data")
    assert (home / "new").read_bytes() == b"data"
    assert mode_of(home / "new") == 0o600
    assert os.path.samestat(stat, (home / "new").stat())
    replace_file(str(home / "new"), b"more", 0o640)
    assert mode_of(home / "new") == 0o640
    assert os.listdir(home) == ["new"]


def test_s33_the_order_is_write_sync_rename_sync(file, monkeypatch):
    steps = []

    def spy(name):
        original = getattr(os, name)

        def call(*arguments, **keywords):
            kind = ""
            if name == "fsync":
                kind = " directory" if os.path.isdir(f"/proc/self/fd/{arguments[0]}") else " file"
            steps.append(name + kind)
            return original(*arguments, **keywords)

        monkeypatch.setattr(os, name, call)

    for name in ("write", "fchmod", "fsync", "rename"):
        spy(name)
    replace_file(str(file), b"new")
    assert steps == ["write", "fchmod", "fsync file", "rename", "fsync directory"]


@pytest.mark.parametrize("function", ["write", "fchmod", "fsync", "rename"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EIO])
def test_s33_an_error_leaves_the_old_file_and_nothing_else(file, monkeypatch, function, number):
    def fail(*arguments, **keywords):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, function, fail)
        with pytest.raises(OSError) as caught:
            replace_file(str(file), b"new")
    assert caught.value.errno == number
    assert file.read_text() == "old"
    assert os.listdir(file.parent) == ["state.json"]
    replace_file(str(file), b"new")
    assert file.read_text() == "new"


def test_s33_a_short_write_is_continued(file, monkeypatch):
    original = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: original(fd, bytes(data[:2])))
    replace_file(str(file), b"0123456789")
    assert file.read_text() == "0123456789"


def test_s33_a_disk_that_fills_in_the_middle_leaves_the_old_file(file, monkeypatch):
    original = os.write
    written = []

    def fill(fd, data):
        if written:
            raise OSError(errno.ENOSPC, "full")
        written.append(data)
        return original(fd, bytes(data[:2]))

    monkeypatch.setattr(os, "write", fill)
    with pytest.raises(OSError, match="full"):
        replace_file(str(file), b"0123456789")
    assert file.read_text() == "old"
    assert os.listdir(file.parent) == ["state.json"]


def test_s33_an_interrupt_leaves_nothing_behind(file, monkeypatch):
    def interrupt(fd):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        replace_file(str(file), b"new")
    assert file.read_text() == "old"
    assert os.listdir(file.parent) == ["state.json"]


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP])
def test_s33_file_systems_that_can_not_sync_a_directory_are_fine(file, monkeypatch, number):
    original = os.fsync

    def fsync(fd):
        if os.path.isdir(f"/proc/self/fd/{fd}"):
            raise OSError(number, "directories can't be synchronised")
        original(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    replace_file(str(file), b"new")
    assert file.read_text() == "new"


@pytest.mark.parametrize("function", ["write", "fchmod", "fsync", "rename"])
def test_s33_a_kill_at_any_instant_leaves_the_old_and_the_next_writer_cleans_up(file, function):
    kill = textwrap.dedent(f"""
        import os, signal
        from lionplug.files.writing import replace_file
        original = os.{function}
        def dying(*arguments, **keywords):
            if {function!r} == "write":
                original(arguments[0], bytes(arguments[1][:1]))
            os.kill(os.getpid(), signal.SIGKILL)
        os.{function} = dying
        replace_file({str(file)!r}, b"new")
    """)
    done = subprocess.run([sys.executable, "-c", kill], check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL
    assert file.read_text() == "old"
    (leftover,) = set(os.listdir(file.parent)) - {"state.json"}
    assert leftover.startswith(".state.json.lionplug-")
    replace_file(str(file), b"new")
    assert os.listdir(file.parent) == ["state.json"]


def test_s33_a_kill_after_the_rename_leaves_the_new(file):
    kill = textwrap.dedent(f"""
        import os, signal
        from lionplug.files import writing
        writing._sync_directory = lambda fd: os.kill(os.getpid(), signal.SIGKILL)
        writing.replace_file({str(file)!r}, b"new")
    """)
    done = subprocess.run([sys.executable, "-c", kill], check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL
    assert file.read_text() == "new"
    assert os.listdir(file.parent) == ["state.json"]


def test_s33_what_another_writer_is_writing_is_no_leftover(file):
    busy = file.parent / f".state.json.lionplug-{'0' * 16}"
    others = ["settings.lionplug-1", f".other.lionplug-{'0' * 16}", ".state.json.lionplug-short"]
    for name in others:
        (file.parent / name).write_text("")
    (file.parent / f".state.json.lionplug-{'1' * 16}").symlink_to(file)
    with busy.open("w") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        replace_file(str(file), b"new")
        assert busy.exists()
    replace_file(str(file), b"newer")
    assert not busy.exists()
    assert set(others) < set(os.listdir(file.parent))


def test_s33_a_new_file_that_was_taken_for_a_leftover_is_made_again(file, monkeypatch):
    answers = iter([False, True, True])
    removed = []
    original = os.fstat

    def lock(fd):
        return next(answers)

    def fstat(fd):
        stat = original(fd)
        name = os.path.basename(os.readlink(f"/proc/self/fd/{fd}"))
        if ".lionplug-" in name and not removed:
            os.unlink(file.parent / name)
            removed.append(name)
            stat = original(fd)
        return stat

    monkeypatch.setattr(writing, "_remove_leftovers", lambda directory, name: None)
    monkeypatch.setattr(writing, "_lock", lock)
    monkeypatch.setattr(os, "fstat", fstat)
    replace_file(str(file), b"new")
    assert file.read_text() == "new"
    assert len(removed) == 1
    assert list(answers) == []


def test_s33_writers_and_readers_at_once_meet_only_whole_files(file):
    contents = [bytes([65 + number]) * 50_000 for number in range(3)]
    file.write_bytes(contents[0])
    errors = []

    def write(data):
        try:
            for _ in range(30):
                replace_file(str(file), data)
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(data,)) for data in contents]
    for thread in threads:
        thread.start()
    seen = set()
    while any(thread.is_alive() for thread in threads):
        seen.add(file.read_bytes())
    for thread in threads:
        thread.join()
    assert errors == []
    assert seen <= set(contents)
    assert os.listdir(file.parent) == ["state.json"]


# -- links and other people ----------------------------------------------------------


def test_s31_the_target_of_a_link_is_replaced_and_the_link_stays(home, file):
    (home / "dotfiles").mkdir()
    file.rename(home / "dotfiles" / "real")
    file.symlink_to("dotfiles/real")
    replace_file(str(file), b"new")
    assert file.is_symlink()
    assert os.listdir(home / "dotfiles") == ["real"]
    assert (home / "dotfiles" / "real").read_text() == "new"
    (home / "dotfiles" / "real").unlink()
    replace_file(str(file), b"again")  # a link whose target is not there yet
    assert (home / "dotfiles" / "real").read_text() == "again"


def test_s31_a_user_directory_that_is_a_link_is_fine(home, file):
    (home / "link").symlink_to(".")
    replace_file(str(home / "link" / "state.json"), b"new")
    assert file.read_text() == "new"


def test_s31_nothing_is_written_where_others_can_write(home, file):
    home.chmod(0o777)
    with pytest.raises(UnsafePathError) as caught:
        replace_file(str(file), b"new")
    assert str(caught.value) == (
        f"{home} can be written by everybody (owner {owners.user_label(os.geteuid())}, "
        f"mode 0777); run: chmod go-w {home}"
    )
    assert file.read_text() == "old"


@pytest.mark.parametrize("kind", ["directory", "FIFO"])
def test_s33_only_a_regular_file_is_replaced(home, kind):
    path = home / "x"
    if kind == "FIFO":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(UnsafePathError) as caught:
        replace_file(str(path), b"new")
    assert str(caught.value) == (
        f"{path}: expected a regular file, found a {kind}; replace or remove it"
    )
    with pytest.raises(UnsafePathError) as caught:
        replace_file("/", b"new")
    assert (
        str(caught.value) == "/: expected a regular file, found a directory; replace or remove it"
    )


def test_a_file_in_a_missing_directory_is_not_written(home):
    with pytest.raises(FileNotFoundError):
        replace_file(str(home / "no" / "file"), b"new")


@pytest.fixture
def project(home: Path) -> Path:
    """A project in which every place that is written to was planted as a link."""
    root = home / "project"
    root.mkdir()
    (home / "victim").mkdir()
    (home / "victim" / "file").write_text("precious")
    return root


@pytest.mark.parametrize("level", [0, 1, 2])
def test_s33_planted_links_are_refused_at_each_level(project, home, level):
    names = [".lionplug", "plugins", "web"]
    place = project.joinpath(*names[:level])
    place.mkdir(parents=True, exist_ok=True)
    (place / names[level]).symlink_to(home / "victim")
    with Directory.open(str(project)) as root, pytest.raises(UnsafePathError) as caught:
        make_directories(root, "/".join(names))
    assert str(caught.value) == (
        f"{place / names[level]}: expected a directory, found a link; replace or remove it"
    )
    assert os.listdir(home / "victim") == ["file"]


@pytest.mark.parametrize("target", ["victim/file", "victim/new"])
def test_s33_a_planted_link_of_the_output_name_is_refused(project, home, target):
    (project / "out").symlink_to(home / target)
    with Directory.open(str(project)) as root:
        with pytest.raises(UnsafePathError) as caught:
            replace_at(root, "out", b"evil")
        with pytest.raises(FileExistsError):
            write_at(root, "out", [b"evil"], 0o600)
    assert str(caught.value) == (
        f"{project}/out: expected a regular file, found a link; replace or remove it"
    )
    assert os.listdir(home / "victim") == ["file"]
    assert (home / "victim" / "file").read_text() == "precious"


def test_s33_directories_are_made_below_an_open_one(project, umask):
    umask(0o077)
    with Directory.open(str(project)) as root:
        with make_directories(root, "a/b", 0o755) as made:
            write_at(made, "f", [b"1", b"", b"2"], 0o644)
        with make_directories(root, "a/b/c") as again, make_directories(root, "") as top:
            assert again.path == str(project / "a" / "b" / "c")
            assert top.path == str(project)
    assert (project / "a" / "b" / "f").read_bytes() == b"12"
    assert [mode_of(project / path) for path in ("a", "a/b", "a/b/c", "a/b/f")] == [
        0o755, 0o755, 0o700, 0o644,
    ]  # fmt: skip


# -- new files -----------------------------------------------------------------------


def test_s33_a_file_that_exists_is_not_overwritten(home, file):
    with Directory.open(str(home)) as directory, pytest.raises(FileExistsError) as caught:
        write_at(directory, "state.json", [b"new"], 0o600)
    assert caught.value.filename == str(file)
    assert file.read_text() == "old"


@pytest.mark.parametrize("sync", [False, True])
def test_s33_a_new_file_is_synchronised_on_demand(home, monkeypatch, sync):
    synced = []
    monkeypatch.setattr(os, "fsync", synced.append)
    with Directory.open(str(home)) as directory:
        stat = write_at(directory, "new", [b"data"], 0o400, sync=sync)
    assert len(synced) == sync
    assert (mode_of(home / "new"), stat.st_size) == (0o400, 4)


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
def test_s33_a_new_file_that_fails_is_taken_away(home, error):
    def pieces():
        yield b"half"
        raise error

    with Directory.open(str(home)) as directory, pytest.raises(type(error)):
        write_at(directory, "new", pieces(), 0o600)
    assert os.listdir(home) == []


# -- private directories -------------------------------------------------------------


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o022, 0o077, 0o277])
def test_s15_private_directories_are_private_whatever_the_umask(home, umask, mask):
    umask(mask)
    make_private_directory(str(home / "a" / "b" / "c"))
    assert [mode_of(home / path) for path in ("a", "a/b", "a/b/c")] == [0o700] * 3
    make_private_directory(str(home / "a" / "b"))


def test_s15_an_existing_directory_keeps_its_mode(home):
    (home / "a").mkdir(mode=0o750)
    (home / "a").chmod(0o755)
    with open_private_directory(str(home / "a")) as directory:
        assert directory.path == str(home / "a")
    assert mode_of(home / "a") == 0o755


def test_s15_an_existing_directory_that_others_can_write_is_refused(home):
    (home / "a").mkdir()
    (home / "a").chmod(0o777)
    for path in (home / "a", home / "a" / "b"):
        with pytest.raises(UnsafePathError) as caught:
            make_private_directory(str(path))
        assert str(caught.value).endswith(f"run: chmod go-w {home}/a")
    assert os.listdir(home / "a") == []


def test_s15_links_of_the_user_are_followed_and_checked(home):
    (home / "disk").mkdir()
    (home / "store").symlink_to("disk")
    make_private_directory(str(home / "store" / "approved"))
    assert mode_of(home / "disk" / "approved") == 0o700
    (home / "dangling").symlink_to("disk/later")
    make_private_directory(str(home / "dangling"))
    assert mode_of(home / "disk" / "later") == 0o700
    (home / "disk").chmod(0o777)
    with pytest.raises(UnsafePathError):
        make_private_directory(str(home / "store" / "approved"))


def test_s15_a_file_in_the_way_is_named(home):
    (home / "a").write_text("")
    for path in ("a", "a/b"):
        with pytest.raises(UnsafePathError) as caught:
            make_private_directory(str(home / path))
        assert str(caught.value) == (
            f"{home}/a: expected a directory, found a regular file; replace or remove it"
        )


def test_s15_in_a_shared_sticky_directory_a_directory_of_ones_own_is_made(
    public, as_stranger, stranger
):
    shared = public / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    as_stranger(make_private_directory, str(shared / "mine" / "deep"))
    assert mode_of(shared / "mine") == mode_of(shared / "mine" / "deep") == 0o700
    assert (shared / "mine").stat().st_uid == stranger


def test_s15_a_directory_that_can_not_be_made_is_named(public, as_stranger):
    with pytest.raises(PermissionError) as caught:
        as_stranger(make_private_directory, str(public / "a"))
    assert caught.value.filename == str(public / "a")


def test_s15_somebody_who_is_faster_is_looked_at(home, monkeypatch):
    original = os.mkdir

    def faster(name, mode, *, dir_fd):
        original(name, mode, dir_fd=dir_fd)
        raise FileExistsError

    monkeypatch.setattr(os, "mkdir", faster)
    make_private_directory(str(home / "a"))
    assert (home / "a").is_dir()
    with Directory.open(str(home)) as root, make_directories(root, "b") as made:
        assert made.path == str(home / "b")


def test_s15_a_directory_swapped_for_another_users_right_after_it_was_made_is_refused(
    home, monkeypatch, stranger
):
    original = os.mkdir

    def swapped(name, mode, *, dir_fd):
        original(name, mode, dir_fd=dir_fd)
        os.chown(home / name, stranger, -1)

    monkeypatch.setattr(os, "mkdir", swapped)
    with pytest.raises(UnsafePathError) as caught:
        make_private_directory(str(home / "a"))
    assert str(caught.value) == (
        f"{home}/a: made as you, but found owned by {owners.user_label(stranger)}; "
        "use a place of your own"
    )


@pytest.mark.long
def test_s33_kills_at_random_instants_leave_whole_files(file):
    script = textwrap.dedent(f"""
        from lionplug.files.writing import replace_file
        print("ready", flush=True)
        number = 0
        while True:
            number = (number + 1) % 26
            replace_file({str(file)!r}, bytes([65 + number]) * 100_000)
    """)
    for round_ in range(20):
        child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
        assert child.stdout is not None
        with child.stdout:
            child.stdout.readline()
            time.sleep(0.003 * round_)
            child.kill()
            child.wait()
        data = file.read_bytes()
        assert data == b"old" or (len(data) == 100_000 and len(set(data)) == 1)
    replace_file(str(file), b"end")
    assert os.listdir(file.parent) == ["state.json"]


def test_s15_an_error_while_a_directory_is_made_names_it(home, monkeypatch):
    def full(name, mode, *, dir_fd):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "mkdir", full)
    with pytest.raises(OSError, match="full") as caught:
        make_private_directory(str(home / "a" / "b"))
    assert caught.value.filename == str(home / "a")


def test_s33_a_leftover_that_vanishes_meanwhile_is_removed_already(file):
    name = f".state.json.lionplug-{'2' * 16}"
    (file.parent / name).write_text("")
    with Directory.open(str(file.parent)) as directory, pytest.MonkeyPatch.context() as patch:
        entries = directory.scan()
        (file.parent / name).unlink()
        patch.setattr(Directory, "entries", lambda self: iter(entries))
        replace_at(directory, "state.json", b"new")
    assert file.read_text() == "new"


def test_s33_a_name_that_is_gone_before_it_is_taken_away_is_fine(home):
    def pieces():
        (home / "new").unlink()
        yield b"x"
        raise OSError("stop")

    with Directory.open(str(home)) as directory, pytest.raises(OSError, match="stop"):
        write_at(directory, "new", pieces(), 0o600)


def test_s33_a_directory_that_can_not_be_synchronised_is_an_error_after_the_rename(
    file, monkeypatch
):
    original = os.fsync

    def fsync(fd):
        if os.path.isdir(f"/proc/self/fd/{fd}"):
            raise OSError(errno.EIO, "broken disk")
        original(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match="broken disk"):
        replace_file(str(file), b"new")
    assert file.read_text() == "new"
    assert os.listdir(file.parent) == ["state.json"]
