"""security rule S31 on real files: the way is checked, and what is checked is read."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from lionplug.errors import UnsafePathError, UsageError
from lionplug.files import chain, descriptors, owners
from lionplug.files.opening import Directory, read_trusted

pytestmark = pytest.mark.usefixtures("no_leaked_descriptors")


@pytest.fixture
def scope(home: Path) -> Path:
    scope = home / ".lionplug"
    scope.mkdir(mode=0o700)
    (scope / "settings.yaml").write_text("good")
    (scope / "settings.yaml").chmod(0o600)
    return scope


@pytest.fixture
def shared_group(monkeypatch):
    """Make every group one that others are in."""
    monkeypatch.setattr(owners, "_is_private_group", lambda gid, uid: False)


def read(path: Path, limit: int = 1000) -> bytes:
    return read_trusted(str(path), limit)[0]


def refusal(path: Path, function=read) -> str:
    with pytest.raises(UnsafePathError) as caught:
        function(path)
    return str(caught.value)


def trusted_directory(path: Path) -> str:
    with Directory.open_trusted(str(path)) as directory:
        return directory.path


def test_s31_a_safe_file_is_read_with_its_stat(scope):
    data, stat = read_trusted(str(scope / "settings.yaml"), 4)
    assert data == b"good"
    assert os.path.samestat(stat, (scope / "settings.yaml").stat())


def test_s31_a_missing_file_is_not_an_unsafe_one(scope):
    with pytest.raises(FileNotFoundError) as caught:
        read(scope / "nothing")
    assert caught.value.filename == str(scope / "nothing")
    with pytest.raises(FileNotFoundError) as caught:
        read(scope / "no" / "thing")
    assert caught.value.filename == str(scope / "no")
    with pytest.raises(FileNotFoundError):
        trusted_directory(scope / "nothing")


@pytest.mark.parametrize("victim", ["settings.yaml", "."])
@pytest.mark.parametrize("mode", [0o777, 0o722, 0o702])
def test_s31_a_scope_or_file_that_everybody_can_write_is_refused(scope, victim, mode):
    place = scope / victim
    place.chmod(mode)
    assert refusal(scope / "settings.yaml") == (
        f"{place} can be written by everybody (owner {owners.user_label(os.geteuid())}, "
        f"mode {mode:04o}); run: chmod go-w {place}"
    )


def test_s31_the_error_carries_path_and_remedy_as_data(scope):
    scope.chmod(0o777)
    with pytest.raises(UnsafePathError) as caught:
        read(scope / "settings.yaml")
    assert caught.value.file == str(scope)
    assert caught.value.command == f"chmod go-w {scope}"


def test_s31_the_group_may_write_if_it_is_private(scope, monkeypatch):
    scope.chmod(0o775)
    (scope / "settings.yaml").chmod(0o664)
    monkeypatch.setattr(owners, "_is_private_group", lambda gid, uid: True)
    assert read(scope / "settings.yaml") == b"good"


def test_s31_a_group_with_others_may_not_write(scope, shared_group):
    (scope / "settings.yaml").chmod(0o664)
    group = owners.group_label((scope / "settings.yaml").stat().st_gid)
    assert f"can be written by the group {group}" in refusal(scope / "settings.yaml")


def test_s31_an_access_list_is_seen(scope, monkeypatch):
    monkeypatch.setattr(owners, "_is_private_group", lambda gid, uid: True)
    scope.chmod(0o770)
    try:
        # version 2; owner rwx, user 1 rwx, group ---, mask rwx, other ---
        entries = [
            (1, 7, 2**32 - 1),
            (2, 7, 1),
            (4, 0, 2**32 - 1),
            (16, 7, 2**32 - 1),
            (32, 0, 2**32 - 1),
        ]
        data = (2).to_bytes(4, "little") + b"".join(
            tag.to_bytes(2, "little") + rights.to_bytes(2, "little") + number.to_bytes(4, "little")
            for tag, rights, number in entries
        )
        os.setxattr(scope, "system.posix_acl_access", data)
    except OSError as error:
        pytest.skip(f"no access lists here: {error}")
    assert "can be written by other users, by an access list" in refusal(scope / "settings.yaml")


@pytest.mark.parametrize("victim", ["", ".lionplug", ".lionplug/settings.yaml"])
def test_s31_what_another_user_owns_is_refused_wherever_it_stands(scope, home, stranger, victim):
    place = home / victim
    os.chown(place, stranger, -1)
    mode = place.stat().st_mode & 0o7777
    assert refusal(scope / "settings.yaml") == (
        f"{place} is owned by {owners.user_label(stranger)}, not by you or root (mode {mode:04o}); "
        "use a place of your own, or have root give this one to you"
    )


def test_s31_what_root_owns_is_accepted(public, as_stranger, stranger):
    scope = public / "scope"
    scope.mkdir()
    (scope / "settings.yaml").write_text("by root")
    assert as_stranger(read, scope / "settings.yaml") == b"by root"
    os.chown(scope, stranger, stranger)
    assert as_stranger(read, scope / "settings.yaml") == b"by root"


def test_s31_a_sticky_directory_of_root_is_accepted_on_the_way(public, as_stranger, stranger):
    shared = public / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    mine = shared / "mine"
    mine.mkdir()
    (mine / "file").write_text("mine")
    os.chown(mine, stranger, stranger)
    assert as_stranger(read, mine / "file") == b"mine"
    assert as_stranger(trusted_directory, mine) == str(mine)


def test_s31_a_sticky_directory_is_no_scope_itself(public, as_stranger, stranger):
    shared = public / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "file").write_text("root's")
    expected = (
        f"{shared} can be written by everybody (owner {owners.user_label(0)}, mode 1777); "
        "use a directory in it that is your own and that only you can write"
    )
    for function, path in ((trusted_directory, shared), (read, shared / "file")):
        with pytest.raises(UnsafePathError) as caught:
            as_stranger(function, path)
        assert str(caught.value) == expected


def test_s31_a_sticky_directory_below_the_scope_is_not_excused(home, stranger):
    shared = home / "scope" / "shared"
    shared.mkdir(parents=True)
    shared.chmod(0o1777)
    (shared / "d").mkdir()
    trusted_directory(shared / "d")
    with pytest.raises(UnsafePathError):
        Directory.open_trusted(str(shared / "d"), scope=str(home / "scope"))


def test_s31_a_sticky_directory_of_a_user_is_not_excused(public, as_stranger, stranger):
    shared = public / "tmp"
    (shared / "mine").mkdir(parents=True)
    os.chown(shared, stranger, stranger)
    shared.chmod(0o1777)
    with pytest.raises(UnsafePathError, match="can be written by everybody"):
        as_stranger(trusted_directory, shared / "mine")


def test_s31_what_a_third_user_put_into_a_sticky_directory_is_refused(public, stranger):
    shared = public / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "theirs").mkdir()
    os.chown(shared / "theirs", stranger, stranger)
    assert f"and what is used in it is owned by {owners.user_label(stranger)}" in refusal(
        shared / "theirs" / "d", trusted_directory
    )
    (shared / "link").symlink_to("/etc")
    os.chown(shared / "link", stranger, stranger, follow_symlinks=False)
    assert f"and what is used in it is owned by {owners.user_label(stranger)}" in refusal(
        shared / "link", trusted_directory
    )


def test_s31_links_are_followed_and_the_way_to_their_target_is_checked(scope, home):
    (home / "dotfiles" / "deep").mkdir(parents=True)
    (home / "dotfiles" / "deep" / "file").write_text("linked")
    (scope / "linked").symlink_to("../dotfiles/./deep/file")
    assert read(scope / "linked") == b"linked"
    (home / "dotfiles").chmod(0o777)
    assert refusal(scope / "linked").startswith(f"{home}/dotfiles can be written by everybody")


def test_s31_the_way_to_a_link_is_checked_too(scope, home):
    (home / "public").mkdir()
    (home / "public" / "link").symlink_to(scope)
    assert read(home / "public" / "link" / "settings.yaml") == b"good"
    (home / "public").chmod(0o777)
    assert refusal(home / "public" / "link" / "settings.yaml").startswith(
        f"{home}/public can be written by everybody"
    )


def test_s31_a_scope_that_is_a_link_is_fine(scope, home):
    (home / ".other").symlink_to(scope)
    assert read(home / ".other" / "settings.yaml") == b"good"
    assert trusted_directory(home / ".other") == str(scope)
    (home / "absolute").symlink_to("/")
    assert read(Path(f"{home}/absolute{scope}/settings.yaml")) == b"good"


def test_s31_a_link_of_another_user_is_refused_even_in_a_safe_directory(scope, stranger):
    (scope / "link").symlink_to("settings.yaml")
    os.chown(scope / "link", stranger, -1, follow_symlinks=False)
    assert refusal(scope / "link") == (
        f"{scope}/link is a link of {owners.user_label(stranger)}, expected one of you or root; "
        "remove it"
    )


def test_s31_a_loop_of_links_ends(scope):
    (scope / "a").symlink_to("b")
    (scope / "b").symlink_to("a")
    assert refusal(scope / "a") == (
        f"{scope}/a: more than 40 links on the way; point the link at its final target"
    )


def test_s31_dots_are_walked_as_the_kernel_walks_them(scope, home):
    (home / "elsewhere" / "deep").mkdir(parents=True)
    (home / "elsewhere" / "found").write_text("here")
    (scope / "link").symlink_to(home / "elsewhere" / "deep")
    assert read(Path(f"{scope}/./link/../found")) == b"here"
    assert trusted_directory(Path("/")) == "/"
    assert trusted_directory(Path(f"{scope}/link/..")) == str(home / "elsewhere")


def test_s31_a_file_on_the_way_is_named(scope):
    assert refusal(scope / "settings.yaml" / "x") == (
        f"{scope}/settings.yaml: expected a directory, found a regular file; replace or remove it"
    )


def test_s31_relative_paths_are_refused():
    with pytest.raises(UsageError) as caught:
        read_trusted("settings.yaml", 10)
    assert str(caught.value) == "settings.yaml is a relative path; give an absolute one"


def test_s31_directories_that_can_be_searched_but_not_listed_are_passed(public, as_stranger):
    closed = public / "closed"
    (closed / "open").mkdir(parents=True)
    closed.chmod(0o711)
    assert as_stranger(trusted_directory, closed / "open") == str(closed / "open")


def test_s31_a_directory_that_can_not_be_searched_is_named(public, as_stranger):
    closed = public / "closed"
    (closed / "open").mkdir(parents=True)
    closed.chmod(0o700)
    with pytest.raises(PermissionError) as caught:
        as_stranger(trusted_directory, closed / "open")
    assert caught.value.filename == str(closed / "open")


def test_s31_a_swap_between_check_and_read_never_reads_the_other_file(scope, home):
    """A thread renames another user's file in and out while the file is read."""
    path = scope / "settings.yaml"
    other = home / "other"
    other.write_text("EVIL")
    other.chmod(0o666)
    spare = home / "spare"
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            os.rename(path, spare)
            os.rename(other, path)
            os.rename(path, other)
            os.rename(spare, path)

    thread = threading.Thread(target=swap)
    thread.start()
    outcomes = set()
    try:
        for _ in range(1500):
            try:
                outcomes.add(read(path))
            except (FileNotFoundError, UnsafePathError) as error:
                outcomes.add(type(error))
    finally:
        stop.set()
        thread.join()
    assert b"EVIL" not in outcomes
    assert b"good" in outcomes


def test_s31_a_directory_swapped_for_a_link_while_it_is_walked_is_not_left(
    scope, home, monkeypatch
):
    """At every step of the walk the directory just looked at becomes a link elsewhere."""
    evil = home / "evil"
    evil.mkdir()
    (evil / "settings.yaml").write_text("EVIL")
    original = chain.check_safe

    def swap(fd, stat, path, **keywords):
        original(fd, stat, path, **keywords)
        if path == str(home):
            scope.rename(home / "old")
            scope.symlink_to(evil)

    monkeypatch.setattr(chain, "check_safe", swap)
    assert refusal(scope / "settings.yaml") == (
        f"{scope}: expected a directory, found a link; replace or remove it"
    )


@pytest.mark.parametrize("kind", ["FIFO", "directory", "socket", "link"])
def test_only_regular_files_are_read_and_nothing_blocks(scope, home, kind):
    path = scope / "x"
    if kind == "FIFO":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    elif kind == "link":
        path.symlink_to("settings.yaml")
    else:
        here = Path.cwd()
        os.chdir(scope)
        try:
            with socket.socket(socket.AF_UNIX) as server:
                server.bind("x")
        finally:
            os.chdir(here)
    message = f"{path}: expected a regular file, found a {kind}; replace or remove it"
    with Directory.open(str(scope)) as directory:
        with pytest.raises(UnsafePathError) as caught:
            directory.read("x", 100)
        assert str(caught.value) == message
        # Swapped in between the question and the open, it is refused just the same.
        with pytest.MonkeyPatch.context() as patch:
            regular = (scope / "settings.yaml").stat()
            patch.setattr(Directory, "lstat", lambda self, name: regular)
            with pytest.raises(UnsafePathError) as caught:
                directory.read("x", 100)
            assert str(caught.value) == message
    if kind != "link":
        assert refusal(path) == message


def test_a_file_larger_than_the_limit_is_refused(scope, monkeypatch):
    path = scope / "settings.yaml"
    message = f"{path}: expected at most 3 bytes, found more; make it smaller"
    with pytest.raises(UnsafePathError) as caught:
        read(path, 3)
    assert str(caught.value) == message
    # One that grows after it was opened, too.
    with Directory.open(str(scope)) as directory, directory.open_file("settings.yaml") as file:
        path.write_text("grown since")
        with pytest.raises(UnsafePathError):
            file.read(4)


def test_a_directory_is_opened_without_following_a_link(home, scope):
    (home / "link").symlink_to(scope)
    with pytest.raises(UnsafePathError) as caught:
        Directory.open(str(home / "link"))
    assert str(caught.value) == (
        f"{home}/link: expected a directory, found a link; replace or remove it"
    )
    with Directory.open(str(home)) as directory:
        with pytest.raises(UnsafePathError):
            directory.child("link")
        with pytest.raises(FileNotFoundError) as missing:
            directory.child("nothing")
        assert missing.value.filename == str(home / "nothing")
        with pytest.raises(FileNotFoundError) as missing:
            directory.lstat("nothing")
        assert missing.value.filename == str(home / "nothing")
        with pytest.raises(UnsafePathError):
            directory.descend("link/deeper")
        with directory.child(".lionplug") as child:
            assert [entry.name for entry in child.scan()] == ["settings.yaml"]
            assert child.lstat("settings.yaml").st_size == 4
            assert repr(child) == f"<Directory {str(scope)!r}>"
            child.close()
            child.close()


def test_descriptors_are_not_inherited_by_programs(scope):
    with Directory.open(str(scope)) as directory, directory.open_file("settings.yaml") as file:
        command = "import os, sys; [os.fstat(int(fd)) for fd in sys.argv[1:]]"
        for fd in (directory.fd, file.fd):
            assert not os.get_inheritable(fd)
        done = subprocess.run(
            ["python3", "-I", "-c", command, str(file.fd)],
            close_fds=False, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert "Bad file descriptor" in done.stderr


def test_every_kind_of_file_has_a_name():
    names = {
        descriptors.kind_of(os.stat_result((kind, *[0] * 9)))
        for kind in (0o100000, 0o040000, 0o120000, 0o010000, 0o140000, 0o060000, 0o020000, 0)
    }
    assert names == {
        "regular file", "directory", "link", "FIFO", "socket", "block device",
        "character device", "special file of type 0o0",
    }  # fmt: skip


def test_what_vanishes_while_it_is_opened_is_described(home, monkeypatch):
    (home / "file").write_text("")

    def gone(*arguments, **keywords):
        raise FileNotFoundError

    monkeypatch.setattr(os, "lstat", gone)
    with pytest.raises(UnsafePathError) as caught:
        Directory.open(str(home / "file"))
    assert str(caught.value) == (
        f"{home}/file: expected a directory, found a path that changes while it is opened; "
        "replace or remove it"
    )


def test_s31_other_errors_on_the_way_name_the_path(scope):
    with pytest.raises(OSError) as caught:
        read(scope / ("x" * 300))
    assert caught.value.filename == f"{scope}/{'x' * 300}"


def test_s31_systems_without_extended_attributes_have_no_access_lists(scope, monkeypatch):
    monkeypatch.setattr(owners, "_is_private_group", lambda gid, uid: True)
    scope.chmod(0o770)
    monkeypatch.delattr(os, "getxattr", raising=False)
    assert read(scope / "settings.yaml") == b"good"
