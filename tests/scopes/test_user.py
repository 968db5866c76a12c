"""security rule S6: no repository decides where the user's approvals are."""

from __future__ import annotations

import os
import pwd
import site
import sysconfig
from pathlib import Path
from types import SimpleNamespace

import pytest

from lionplug.errors import ScopeError, UsageError
from lionplug.files.owners import user_label
from lionplug.scopes import UserScope, environment, find_user_scope, user_scopes
from lionplug.scopes import user as user_module

ACCOUNT_HOME = os.path.realpath(pwd.getpwuid(os.geteuid()).pw_dir)


@pytest.fixture
def account(monkeypatch, home, tmp_path):
    """Return a function that sets the home directory of the password database.

    The environment at the start is empty and the working directory lies elsewhere.
    """
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    (tmp_path / "environ").write_bytes(b"")
    monkeypatch.setattr(environment, "START_ENVIRONMENT", str(tmp_path / "environ"))
    for variable in ("HOME", "LIONPLUG_HOME"):
        monkeypatch.delenv(variable, raising=False)

    def give(directory: Path | str | None, **variables: str) -> None:
        def getpwuid(uid):
            if directory is None:
                raise KeyError(uid)
            return SimpleNamespace(pw_name="me", pw_uid=uid, pw_gid=uid, pw_dir=str(directory))

        monkeypatch.setattr(pwd, "getpwuid", getpwuid)
        data = b"".join(os.fsencode(f"{name}={value}\0") for name, value in variables.items())
        (tmp_path / "environ").write_bytes(data)

    give(home)
    return give


def test_s6_the_order_of_the_sources(account, home, tmp_path):
    for name in ("moved", "other"):
        (tmp_path / name).mkdir()
    account(home)
    assert find_user_scope("host") == UserScope(
        path=f"{home}/.host",
        source="password database",
        home=str(home),
        moved=False,
        problem=None,
    )
    user_scopes.clear()
    account(home, HOME=str(tmp_path / "other"))
    assert find_user_scope("host") == UserScope(
        path=f"{tmp_path}/other/.host",
        source="HOME",
        home=f"{tmp_path}/other",
        moved=True,
        problem=None,
    )
    user_scopes.clear()
    account(home, HOME=str(home), LIONPLUG_HOME=str(tmp_path / "moved"))
    assert find_user_scope("host") == UserScope(
        path=f"{tmp_path}/moved/.host",
        source="LIONPLUG_HOME",
        home=f"{tmp_path}/moved",
        moved=True,
        problem=None,
    )
    assert find_user_scope("host", str(tmp_path / "given")) == UserScope(
        path=f"{tmp_path}/given",
        source="argument",
        home=None,
        moved=True,
        problem=None,
    )


def test_s6_a_scope_is_not_moved_by_what_says_the_same(account, home, tmp_path):
    (tmp_path / "link").symlink_to(home)
    for variables in ({"HOME": str(home)}, {"LIONPLUG_HOME": str(tmp_path / "link")}):
        user_scopes.clear()
        account(home, **variables)
        assert (find_user_scope("host").path, find_user_scope("host").moved) == (
            f"{home}/.host",
            False,
        )
    assert not find_user_scope("host", f"{home}/.host").moved


def test_s6_it_is_found_once_per_process(account, home, tmp_path):
    first = find_user_scope("host")
    account(tmp_path)
    assert find_user_scope("host") is first
    assert find_user_scope("other").path == f"{tmp_path}/.other"


def test_s6_no_variable_of_xdg_or_of_a_host_is_read(account, home, tmp_path):
    account(
        home,
        XDG_CONFIG_HOME=str(tmp_path),
        XDG_DATA_HOME=str(tmp_path),
        XDG_CACHE_HOME=str(tmp_path),
        HOST_HOME=str(tmp_path),
        HOST_CONFIG=str(tmp_path),
    )
    assert find_user_scope("host").path == f"{home}/.host"


@pytest.mark.parametrize("value", ["relative", "./x", "../x", "~"])
@pytest.mark.parametrize("variable", ["LIONPLUG_HOME", "HOME"])
def test_s6_a_relative_place_is_refused(account, home, variable, value):
    account(home, **{variable: value})
    scope = find_user_scope("host")
    assert scope.path is None
    assert scope.problem == (
        f"Nothing is trusted, because {variable}={value} is a relative path. "
        f"Set {variable} to a directory of your own outside every checkout before you start."
    )


@pytest.mark.parametrize("variable", ["LIONPLUG_HOME", "HOME"])
@pytest.mark.parametrize("below", [".", ".x", "deep/er"])
def test_s6_a_place_in_a_checkout_is_refused(account, home, clone, variable, below):
    account(home, **{variable: os.path.normpath(clone / below)})
    scope = find_user_scope("host")
    assert scope.path is None
    assert scope.moved
    assert scope.problem == (
        f"Nothing is trusted, because {variable}={os.path.normpath(clone / below)} puts the user "
        f"scope into the checkout {clone}. "
        f"Set {variable} to a directory of your own outside every checkout before you start."
    )


@pytest.mark.parametrize("marker", [".git", ".hg", ".svn"])
@pytest.mark.parametrize("kind", ["file", "directory"])
def test_s6_every_kind_of_checkout_counts(account, home, tmp_path, marker, kind):
    place = tmp_path / "work"
    place.mkdir()
    (place / marker).mkdir() if kind == "directory" else (place / marker).write_text("gitdir: x")
    account(home, LIONPLUG_HOME=str(place / ".x"))
    assert f"into the checkout {place}" in str(find_user_scope("host").problem)


def test_s6_a_place_in_the_working_directory_is_refused(account, home, tmp_path, monkeypatch):
    place = tmp_path / "cwd"
    place.mkdir()
    monkeypatch.chdir(place)
    for value in (place, place / ".x", "/proc/self/cwd/.x", tmp_path / "out" / ".." / "cwd"):
        user_scopes.clear()
        account(home, LIONPLUG_HOME=str(value))
        scope = find_user_scope("host")
        assert scope.path is None
        assert f"into the working directory {place}." in str(scope.problem)


def test_s6_a_place_in_the_project_of_the_working_directory_is_refused(
    account, home, clone, monkeypatch
):
    (clone / "sub").mkdir()
    monkeypatch.chdir(clone / "sub")
    account(home, LIONPLUG_HOME=str(clone / ".x"))
    assert f"into the project {clone}." in str(find_user_scope("host").problem)


def test_s6_a_link_out_of_a_checkout_and_back_is_refused(account, home, clone, tmp_path):
    (clone / "own").mkdir()
    (tmp_path / "back").symlink_to(clone / "own")
    (clone / "out").symlink_to(tmp_path / "back")
    for value in (tmp_path / "back", clone / "out"):
        user_scopes.clear()
        account(home, LIONPLUG_HOME=str(value))
        assert f"into the checkout {clone}" in str(find_user_scope("host").problem)


def test_s6_a_link_that_stands_in_a_checkout_is_refused_wherever_it_leads(
    account, home, clone, tmp_path
):
    (tmp_path / "filled").mkdir()
    (clone / "out").symlink_to(tmp_path / "filled")
    account(home, LIONPLUG_HOME=str(clone / "out"))
    assert f"into the checkout {clone}" in str(find_user_scope("host").problem)


def test_s6_a_scope_directory_that_leads_into_a_checkout_is_refused(account, home, clone, tmp_path):
    (tmp_path / "moved").mkdir()
    (tmp_path / "moved" / ".host").symlink_to(clone)
    account(home, LIONPLUG_HOME=str(tmp_path / "moved"))
    assert f"into the checkout {clone}" in str(find_user_scope("host").problem)


@pytest.mark.parametrize("folder", ["purelib", "usersite"])
def test_s6_a_place_in_site_packages_is_refused(account, home, tmp_path, monkeypatch, folder):
    place = tmp_path / folder
    place.mkdir()
    if folder == "usersite":
        monkeypatch.setattr(site, "getusersitepackages", lambda: str(place))
    else:
        paths = {**sysconfig.get_paths(), "purelib": str(place)}
        monkeypatch.setattr(sysconfig, "get_paths", lambda: paths)
    account(home, LIONPLUG_HOME=str(place / "x"))
    assert f"into site-packages {place}." in str(find_user_scope("host").problem)


def test_s6_the_account_home_may_be_a_checkout_or_the_working_directory(account, home, monkeypatch):
    (home / ".git").mkdir()
    monkeypatch.chdir(home)
    account(home, HOME=str(home))
    scope = find_user_scope("host")
    assert (scope.path, scope.problem, scope.moved) == (f"{home}/.host", None, False)


def test_s6_what_the_hosts_program_gives_may_lie_anywhere_but_is_absolute(account, clone):
    assert find_user_scope("host", f"{clone}/state").path == f"{clone}/state"
    with pytest.raises(UsageError) as caught:
        find_user_scope("host", "state")
    assert str(caught.value) == "user_dir=state is a relative path; give Host an absolute one"


def test_s6_without_account_and_variable_there_is_no_scope(account):
    account(None)
    scope = find_user_scope("host")
    assert scope == UserScope(
        path=None,
        source="none",
        home=None,
        moved=False,
        problem=(
            "Nothing is trusted, because there is no place to keep approvals: HOME is not set and "
            "this user is not in the password database. Start with LIONPLUG_HOME set to a "
            "directory of your own."
        ),
    )
    for name in (
        "trust_file", "lock_file", "approved", "seals", "leases", "staging", "aside",
        "settings_file", "plugins", "data",
    ):  # fmt: skip
        with pytest.raises(ScopeError) as caught:
            getattr(scope, name)
        assert str(caught.value) == scope.problem


def test_s6_a_user_without_account_can_have_a_home(account, home):
    account(None, HOME=str(home))
    scope = find_user_scope("host")
    assert (scope.path, scope.moved, scope.problem) == (f"{home}/.host", True, None)


@pytest.mark.parametrize("source", ["HOME", "password database"])
def test_s6_a_home_that_does_not_exist_is_named(account, home, tmp_path, source):
    missing = tmp_path / "missing"
    account(*(missing,) if source != "HOME" else (home,), **(
        {"HOME": str(missing)} if source == "HOME" else {}
    ))  # fmt: skip
    assert find_user_scope("host").problem == (
        f"Nothing is trusted, because the home directory {missing} (from the {source}) does not "
        "exist. Create it, or start with LIONPLUG_HOME set to a directory of your own."
    )
    assert not missing.exists()


def test_s6_a_place_that_lionplug_home_names_may_be_made_later(account, home, tmp_path):
    account(home, LIONPLUG_HOME=str(tmp_path / "new" / "place"))
    assert find_user_scope("host").path == f"{tmp_path}/new/place/.host"
    assert not (tmp_path / "new").exists()


def test_s31_a_scope_that_is_a_link_is_followed(account, home, tmp_path):
    (tmp_path / "dotfiles").mkdir()
    (home / ".host").symlink_to("../dotfiles")
    scope = find_user_scope("host")
    assert (scope.path, scope.problem, scope.moved) == (f"{tmp_path}/dotfiles", None, False)
    (home / ".other").symlink_to("../later")
    assert find_user_scope("other").path == f"{tmp_path}/later"


def test_s31_a_home_that_others_can_write_is_refused(account, home):
    home.chmod(0o777)
    scope = find_user_scope("host")
    assert scope.path is None
    assert scope.problem == (
        f"Nothing is trusted, because the way to {home}/.host is not safe: {home} can be written "
        f"by everybody (owner {user_label(os.geteuid())}, mode 0777); run: chmod go-w {home}."
    )


def test_s31_a_scope_that_others_can_write_is_still_listed(account, home):
    (home / ".host").mkdir()
    (home / ".host").chmod(0o777)
    assert find_user_scope("host").path == f"{home}/.host"


def test_s11_sudo_with_the_home_of_another_user_trusts_nothing(account, home, tmp_path, stranger):
    theirs = tmp_path / "theirs"
    (theirs / ".host").mkdir(parents=True)
    os.chown(theirs, stranger, stranger)
    account(home, HOME=str(theirs))
    scope = find_user_scope("host")
    assert scope.path is None
    assert scope.moved
    assert f"{theirs} is owned by {user_label(stranger)}, not by you or root" in str(scope.problem)


def test_s31_a_home_that_can_not_be_reached_is_named(account, home, monkeypatch):
    def closed(*arguments, **keywords):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(user_module, "locate", closed)
    assert find_user_scope("host").problem == (
        f"Nothing is trusted, because {home}/.host can't be reached: Permission denied. "
        "Make it accessible, or start with LIONPLUG_HOME set to a directory of your own."
    )


def test_s6_a_deleted_working_directory_refuses_nothing(account, home, tmp_path, monkeypatch):
    (tmp_path / "moved").mkdir()
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    account(home, LIONPLUG_HOME=str(tmp_path / "moved"))
    try:
        assert find_user_scope("host").path == f"{tmp_path}/moved/.host"
    finally:
        os.chdir(tmp_path)


@pytest.mark.parametrize("host", ["", ".", "..", "a/b", "../x", "a\0b"])
def test_names_that_are_no_directory_names_are_refused(account, host):
    with pytest.raises(UsageError, match="can't be the name of a host"):
        find_user_scope(host)


def test_the_files_of_a_scope(account, home):
    scope = find_user_scope("host")
    assert scope.trust_file == f"{home}/.host/trust.json"
    assert scope.lock_file == f"{home}/.host/trust.lock"
    assert scope.settings_file == f"{home}/.host/settings.yaml"
    assert [scope.approved, scope.seals, scope.leases, scope.staging, scope.aside] == [
        f"{home}/.host/{name}" for name in ("approved", "seals", "leases", "staging", "aside")
    ]
    assert [scope.plugins, scope.data] == [f"{home}/.host/plugins", f"{home}/.host/data"]


def test_s6_each_ignored_variable_is_warned_about(account, home, clone, monkeypatch):
    account(home)
    monkeypatch.setenv("HOME", str(clone))
    monkeypatch.setenv("LIONPLUG_HOME", str(clone))
    scope = find_user_scope("host")
    assert (scope.path, scope.problem) == (f"{home}/.host", None)
    assert [warning.partition(" ")[0] for warning in scope.warnings] == [
        f"LIONPLUG_HOME={clone}", f"HOME={clone}",
    ]  # fmt: skip


# -- in processes of their own, as a host that loads .env would see it ----------------


@pytest.mark.parametrize("variable", ["LIONPLUG_HOME", "HOME"])
@pytest.mark.parametrize(
    "value",
    ["{clone}/.x", ".x", "/proc/self/cwd/.x", "{clone}/out", "{elsewhere}"],
)
def test_s6_a_dotenv_file_moves_nothing_and_warns_once(
    in_process, clone, home, tmp_path, variable, value
):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "back").symlink_to(clone)
    (clone / "out").symlink_to(tmp_path / "back")
    value = value.format(clone=clone, elsewhere=tmp_path / "elsewhere")
    scope = in_process({"HOME": str(home)}, clone, later={variable: value})
    assert (scope["path"], scope["problem"]) == (f"{home}/.host", None)
    assert scope["warnings"] == [
        f"{variable}={value} was set after this process had started, by a .env file perhaps, "
        "and is ignored; set it before the program starts"
    ]


def test_s6_a_dotenv_file_with_xdg_variables_is_not_even_mentioned(in_process, clone, home):
    later = {name: str(clone) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
    scope = in_process({"HOME": str(home)}, clone, later=later)
    assert (scope["path"], scope["warnings"]) == (f"{home}/.host", [])


def test_s6_a_variable_set_before_the_start_counts(in_process, clone, home, tmp_path):
    (tmp_path / "moved").mkdir()
    scope = in_process({"HOME": str(home), "LIONPLUG_HOME": str(tmp_path / "moved")}, clone)
    assert (scope["path"], scope["source"], scope["moved"]) == (
        f"{tmp_path}/moved/.host", "LIONPLUG_HOME", True,
    )  # fmt: skip
    for value in (f"{clone}/.x", ".x", "/proc/self/cwd/.x"):
        refused = in_process({"HOME": str(home), "LIONPLUG_HOME": value}, clone)
        assert refused["path"] is None
        assert refused["problem"].startswith(f"Nothing is trusted, because LIONPLUG_HOME={value} ")


def test_s6_without_home_the_password_database_counts(in_process, clone):
    scope = in_process({}, clone)
    assert (scope["home"], scope["source"], scope["moved"]) == (
        ACCOUNT_HOME, "password database", False,
    )  # fmt: skip


def test_s6_what_changes_after_the_first_question_moves_nothing(in_process, clone, home, tmp_path):
    (tmp_path / "link").symlink_to(home)
    before = (
        "from lionplug.scopes import find_user_scope; find_user_scope('host'); "
        f"os.unlink('{tmp_path}/link'); os.symlink('{clone}', '{tmp_path}/link')"
    )
    scope = in_process({"HOME": str(tmp_path / "link")}, clone, before=before)
    assert (scope["path"], scope["problem"]) == (f"{home}/.host", None)
