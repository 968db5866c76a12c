"""security rule S11: discovery never walks into directories of other people."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from attrs import evolve

from lionplug import workdir
from lionplug.files import owners
from lionplug.files.owners import user_label
from lionplug.scopes import ProjectScope, UserScope, environment, find_project_scopes
from lionplug.scopes import project as project_module


@pytest.fixture(autouse=True)
def no_other_home(monkeypatch, tmp_path):
    """The homes of whoever runs the tests don't count."""
    (tmp_path / "environ").write_bytes(b"")
    monkeypatch.setattr(environment, "START_ENVIRONMENT", str(tmp_path / "environ"))
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(project_module, "account_home", lambda: None)


def found(start: Path, user: UserScope, safe=()) -> list[ProjectScope]:
    return find_project_scopes("host", str(start), user, safe)


def roots(start: Path, user: UserScope, safe=()) -> list[str]:
    return [scope.root for scope in found(start, user, safe)]


def make(*directories: Path) -> None:
    for directory in directories:
        (directory / ".host" / "plugins").mkdir(parents=True)


def test_s11_scopes_are_found_up_to_the_vcs_root_nearest_first(clone, user):
    make(clone, clone / "a", clone / "a" / "b" / "c", clone.parent)
    assert found(clone / "a" / "b" / "c", user) == [
        ProjectScope(
            root=str(root),
            directory=f"{root}/.host",
            kind="project",
            owner=os.geteuid(),
            problem=None,
        )
        for root in (clone / "a" / "b" / "c", clone / "a", clone)
    ]


@pytest.mark.parametrize("marker", [".git", ".hg", ".svn"])
@pytest.mark.parametrize("kind", ["file", "directory"])
def test_s11_any_marker_ends_the_walk(tmp_path, user, marker, kind):
    top = tmp_path / "top"
    make(top, top / "sub")
    (top / "sub" / marker).mkdir() if kind == "directory" else (top / "sub" / marker).write_text("")
    (top / "sub" / "deep").mkdir()
    assert roots(top / "sub" / "deep", user) == [str(top / "sub")]


def test_s11_without_a_marker_only_the_directory_itself_counts(tmp_path, user):
    make(tmp_path / "p", tmp_path / "p" / "q")
    (tmp_path / "p" / "r").mkdir()
    assert roots(tmp_path / "p" / "q", user) == [str(tmp_path / "p" / "q")]
    assert roots(tmp_path / "p" / "r", user) == []


def test_s11_home_and_what_is_above_it_is_no_project(tmp_path, home, user):
    make(home / "code" / "sub", home / "code", tmp_path)
    for place in (home, tmp_path):
        (place / ".git").mkdir()
    assert roots(home, user) == []
    assert roots(tmp_path, user) == []
    assert roots(home / "code" / "sub", user) == [f"{home}/code/sub", f"{home}/code"]


def test_s11_every_home_counts(tmp_path, home, user, monkeypatch):
    """A moved user scope doesn't make the usual home directory a project."""
    other = tmp_path / "other"
    make(other)
    (other / ".git").mkdir()
    assert roots(other, user) == [str(other)]
    monkeypatch.setattr(project_module, "account_home", lambda: str(other))
    assert roots(other, user) == []
    monkeypatch.setattr(project_module, "account_home", lambda: None)
    (tmp_path / "environ").write_bytes(os.fsencode(f"HOME={other}\0"))
    assert roots(other, user) == []
    (tmp_path / "environ").write_bytes(b"HOME=relative\0")
    assert roots(other, evolve(user, home=None)) == [str(other)]


def test_s11_a_directory_reached_both_ways_is_the_user_scope_only(clone, user):
    make(clone)
    assert roots(clone, evolve(user, path=f"{clone}/.host", home=None)) == []
    (clone / "sub").mkdir()
    (clone / "sub" / ".host").symlink_to(user.path)
    assert roots(clone / "sub", user) == [str(clone)]
    assert roots(clone, evolve(user, path=None)) == [str(clone)]
    assert roots(clone, evolve(user, path=f"{clone}/missing")) == [str(clone)]


def test_s11_no_mount_is_crossed(clone, user, monkeypatch):
    make(clone, clone / "disk", clone / "disk" / "sub")
    original = os.lstat

    def lstat(path, **keywords):
        stat = original(path, **keywords)
        if str(path).startswith(f"{clone}/disk"):
            fields = list(stat)
            fields[2] += 1  # st_dev
            return os.stat_result(fields)
        return stat

    monkeypatch.setattr(workdir.os, "lstat", lstat)
    assert workdir.project_root(str(clone / "disk" / "sub")) is None
    assert [os.path.basename(root) for root in roots(clone / "disk" / "sub", user)] == ["sub"]


def test_s11_no_program_is_run_and_no_git_variable_is_read(clone, tmp_path, user, monkeypatch):
    (clone / "sub").mkdir()
    make(clone)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_CEILING_DIRECTORIES"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("fork", "posix_spawn", "execv", "system"):
        monkeypatch.delattr(os, name)
    assert roots(clone / "sub", user) == [str(clone)]


def test_s11_a_start_that_does_not_exist_has_no_scopes(clone, user):
    make(clone)
    assert roots(clone / "missing", user) == []


@pytest.mark.parametrize("kind", ["file", "dangling", "fifo"])
def test_s11_what_is_no_directory_is_no_scope(clone, user, kind):
    if kind == "file":
        (clone / ".host").write_text("")
    elif kind == "fifo":
        os.mkfifo(clone / ".host")
    else:
        (clone / ".host").symlink_to("missing")
    assert found(clone, user) == []


def test_s11_a_scope_without_plugins_is_one(clone, user):
    (clone / ".host").mkdir()
    assert [scope.kind for scope in found(clone, user)] == ["project"]
    (clone / ".host" / "plugins").write_text("a file of that name")
    assert [scope.kind for scope in found(clone, user)] == ["project"]


@pytest.mark.parametrize("victim", ["", ".host", ".host/plugins"])
def test_s11_what_another_user_owns_is_foreign(clone, user, stranger, victim):
    make(clone)
    os.chown(clone / victim, stranger, -1)
    place = os.path.normpath(clone / victim)
    assert found(clone, user) == [
        ProjectScope(
            root=str(clone),
            directory=f"{clone}/.host",
            kind="foreign",
            owner=stranger,
            problem=(
                f"{place} is owned by {user_label(stranger)}, not by you or root (mode 0755); "
                "use a place of your own, or have root give this one to you; or, if you trust "
                f"whoever can write there, list {clone} under safe_scopes in your own "
                "settings.yaml"
            ),
        )
    ]


@pytest.mark.parametrize("victim", ["", ".host", ".host/plugins"])
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o757, 0o775, 0o3775])
def test_s11_what_others_can_write_is_foreign(clone, user, monkeypatch, victim, mode):
    monkeypatch.setattr(owners, "_is_private_group", lambda gid, uid: False)
    make(clone)
    (clone / victim).chmod(mode)
    (scope,) = found(clone, user)
    assert (scope.kind, scope.owner) == ("foreign", os.geteuid())
    assert str(scope.problem).startswith(f"{os.path.normpath(clone / victim)} can be written by ")


def test_s11_the_private_group_may_write(clone, user, monkeypatch):
    monkeypatch.setattr(owners, "_is_private_group", lambda gid, uid: True)
    make(clone)
    for place in (clone, clone / ".host", clone / ".host" / "plugins"):
        place.chmod(0o775)
    assert [scope.kind for scope in found(clone, user)] == ["project"]


def test_s11_planted_directories_in_tmp(tmp_path, user, stranger):
    """``/tmp/.host`` and ``/tmp/.git`` of another user, as seen from one's own directory."""
    shared = tmp_path / "tmp"
    make(shared, shared / "mine")
    (shared / ".git").mkdir()
    shared.chmod(0o1777)
    for place in (shared / ".git", shared / ".host", shared / ".host" / "plugins"):
        os.chown(place, stranger, stranger)
    near, far = found(shared / "mine", user)
    assert (near.root, near.kind) == (str(shared / "mine"), "project")
    assert (far.root, far.kind) == (str(shared), "foreign")
    assert str(far.problem).startswith(f"{shared} can be written by everybody (owner uid 0")
    # The walk itself starts there, too.
    assert [scope.kind for scope in found(shared, user)] == ["foreign"]


def test_s11_safe_scopes_excuse_owners_and_modes_by_path(clone, home, user):
    make(clone)
    clone.chmod(0o777)
    (home / "link").symlink_to(clone)
    for safe in (f"{clone}", f"{clone}/.host", f"{home}/link", "~/link", f"{clone}/.host/"):
        (scope,) = found(clone, user, ["/nowhere", safe])
        assert (scope.kind, scope.problem) == ("project", None)
    for other in ("clone", ".", f"{clone.parent}", f"{clone}/sub", f"{clone}*", "~"):
        (scope,) = found(clone, user, [other])
        assert scope.kind == "foreign"
    (scope,) = found(clone, evolve(user, home=None), ["~/link"])
    assert scope.kind == "foreign"


@pytest.mark.parametrize("victim", [".host", ".host/plugins"])
def test_s11_a_link_out_of_the_project_is_foreign_even_if_excused(clone, tmp_path, user, victim):
    make(tmp_path / "outside")
    make(clone)
    place = clone / victim
    place.rename(tmp_path / "old")
    outside = tmp_path / "outside" / victim
    place.symlink_to(outside)
    for safe in ([], [str(clone)]):
        (scope,) = found(clone, user, safe)
        assert scope.kind == "foreign"
        assert scope.problem == (
            f"{outside} lies outside of the project {clone}, to which a link in it leads; "
            "replace the link by a directory"
        )


def test_s11_a_link_that_stays_inside_is_followed_and_checked(clone, user):
    make(clone / "config")
    (clone / ".host").symlink_to("config/.host")
    (scope,) = found(clone, user)
    assert (scope.kind, scope.directory) == ("project", f"{clone}/config/.host")
    (clone / "config").chmod(0o777)
    (scope,) = found(clone, user)
    assert scope.kind == "foreign"
    assert str(scope.problem).startswith(f"{clone}/config can be written by everybody")


def test_s11_a_directory_that_becomes_a_link_meanwhile_is_foreign(
    clone, tmp_path, user, monkeypatch
):
    make(clone, tmp_path / "outside")
    original = project_module._check_way

    def swap(root, path):
        if (clone / ".host").is_dir() and not (clone / ".host").is_symlink():
            (clone / ".host").rename(tmp_path / "old")
            (clone / ".host").symlink_to(tmp_path / "outside" / ".host")
        return original(root, path)

    monkeypatch.setattr(project_module, "_check_way", swap)
    (scope,) = found(clone, user)
    assert scope.kind == "foreign"
    assert str(scope.problem).startswith(
        f"{clone}/.host: expected a directory, found a link; replace or remove it"
    )


def test_s11_a_directory_that_can_not_be_opened_is_foreign(clone, user, monkeypatch):
    make(clone)

    def closed(self, name):
        raise PermissionError(13, "Permission denied", f"{clone}/{name}")

    monkeypatch.setattr(project_module.Directory, "child", closed)
    (scope,) = found(clone, user)
    assert (scope.kind, scope.problem) == (
        "foreign", f"{clone}/.host can't be opened: Permission denied; change its owner or mode",
    )  # fmt: skip
