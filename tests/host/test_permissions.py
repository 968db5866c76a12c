"""Every path of the user scope that is refused is found, and exactly these are mended (S31)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lionplug import Host
from lionplug.host.permissions import Mended, mend_permissions, unsafe_paths
from tests.support import World

FILES = ("settings.yaml", "trust.json", "seals/x.json")
FOLDERS = ("approved", "seals", "leases", "staging", "aside", "data", "data/x-1")


@pytest.fixture
def host(world: World) -> Host:
    """A host whose scope has everything that can be in one."""
    world.user.parent.chmod(0o700)
    for name in FOLDERS:
        (world.user / name).mkdir(mode=0o700)
    for name in FILES:
        (world.user / name).touch(mode=0o600)
    host = Host("lionplug", version="1", user_dir=str(world.user))
    world.hosts.append(host)
    return host


def found(host: Host) -> list[str]:
    return [one.path for one in unsafe_paths(host.name, host.user_scope)]


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_s31_nothing_is_found_where_all_is_well(host: Host) -> None:
    assert found(host) == []
    assert mend_permissions(host) == []


def test_s31_every_path_is_named_and_mended(world: World, host: Host) -> None:
    paths = [world.user.parent, world.user, *(world.user / name for name in (*FILES, *FOLDERS))]
    for path in paths:
        path.chmod(0o777 if path.is_dir() else 0o666)
    assert set(found(host)) == set(map(str, paths))
    assert found(host)[:2] == [str(world.user.parent), str(world.user)]  # the outer ones first
    rows = mend_permissions(host)
    assert {row.path for row in rows} == set(map(str, paths))
    assert all(row.problem is None for row in rows)
    assert found(host) == []
    for path in paths:
        assert mode(path) == (0o755 if path.is_dir() else 0o644)


@pytest.mark.parametrize("name", [*FILES, *FOLDERS])
@pytest.mark.parametrize("right", [0o002, 0o022])
def test_s31_only_what_is_refused_is_touched(
    world: World, host: Host, name: str, right: int
) -> None:
    path = world.user / name
    path.chmod(mode(path) | right)
    before = {one: mode(one) for one in world.user.rglob("*") if one != path}
    assert mend_permissions(host) == [
        Mended(path=str(path), before=mode(path) | right, after=mode(path))
    ]
    assert {one: mode(one) for one in before} == before


def test_s31_what_is_not_refused_is_left_alone(world: World, host: Host) -> None:
    bundle = world.bundle("shared")
    bundle.chmod(0o777)
    assert found(host) == []
    assert mend_permissions(host) == []
    assert mode(bundle) == 0o777


def test_s31_a_link_is_not_followed(world: World, host: Host) -> None:
    elsewhere = world.root / "dotfiles"
    elsewhere.mkdir(mode=0o700)
    target = elsewhere / "settings.yaml"
    target.touch()
    target.chmod(0o666)
    (world.user / "settings.yaml").unlink()
    (world.user / "settings.yaml").symlink_to(target)
    assert found(host) == [str(target)]
    assert mend_permissions(host) == [Mended(path=str(target), problem="a link leads there")]
    assert mode(target) == 0o666


def test_s31_a_link_inside_the_scope_is_resolved(world: World, host: Host) -> None:
    (world.user / "settings.yaml").rename(world.user / "real.yaml")
    (world.user / "real.yaml").chmod(0o666)
    (world.user / "settings.yaml").symlink_to("real.yaml")
    (row,) = mend_permissions(host)
    assert row == Mended(path=str(world.user / "real.yaml"), before=0o666, after=0o644)


def test_s31_a_file_with_another_name_is_left_alone(world: World, host: Host) -> None:
    file = world.user / "trust.json"
    file.chmod(0o666)
    os.link(file, world.root / "other")
    (row,) = mend_permissions(host)
    assert row.problem == "the file has another name elsewhere; look at it first"
    assert mode(file) == 0o666


def test_s31_nothing_in_a_project_is_changed(world: World) -> None:
    user = world.project / "state"
    user.mkdir()
    user.chmod(0o777)
    host = Host("lionplug", version="1", user_dir=str(user))
    (row,) = mend_permissions(host)
    assert row == Mended(path=str(user), problem=f"it lies in the project {world.project}")
    assert mode(user) == 0o777


def test_s31_a_home_that_is_a_checkout_is_no_project(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = world.user.parent
    (home / ".git").mkdir()
    monkeypatch.setattr("lionplug.scopes.user.environment_value", lambda name: (None, None))
    monkeypatch.setattr("lionplug.scopes.user.account_home", lambda: str(home))
    monkeypatch.setattr("lionplug.scopes.user.user_scopes._found", {})
    home.chmod(0o700)
    world.user.chmod(0o777)
    host = Host("lionplug", version="1")
    (row,) = mend_permissions(host)
    assert row == Mended(path=str(world.user), before=0o777, after=0o755)


def test_s31_what_others_own_is_theirs(world: World, host: Host) -> None:
    if os.geteuid() != 0:
        pytest.skip("giving a file to somebody else needs root")
    os.chown(world.user / "settings.yaml", 4321, 4321)
    (one,) = unsafe_paths(host.name, host.user_scope)
    assert one.command is None
    assert "is owned by uid 4321, not by you or root" in one.reason
    (row,) = mend_permissions(host)
    assert row.problem == "only another user can mend it"


def test_s31_behind_a_directory_of_others_nothing_is_changed(world: World, host: Host) -> None:
    if os.geteuid() != 0:
        pytest.skip("giving a directory to somebody else needs root")
    os.chown(world.user.parent, 4321, 4321)
    world.user.chmod(0o777)
    rows = {row.path: row.problem for row in mend_permissions(host)}
    assert rows[str(world.user.parent)] == "only another user can mend it"
    assert "is owned by uid 4321" in str(rows[str(world.user)])
    assert mode(world.user) == 0o777


def test_s31_a_swapped_path_is_looked_at_again(
    world: World, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between finding and mending, a directory becomes a link to something of the user's."""
    victim = world.root / "victim"
    victim.mkdir()
    victim.chmod(0o777)
    folder = world.user / "staging"
    folder.chmod(0o777)
    unsafe = unsafe_paths(host.name, host.user_scope)
    folder.rmdir()
    folder.symlink_to(victim)
    monkeypatch.setattr("lionplug.host.permissions.unsafe_paths", lambda *_: unsafe)
    (row,) = mend_permissions(host)
    assert row.problem is not None
    assert mode(victim) == 0o777


def test_s31_no_scope_has_no_paths(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lionplug.scopes.user.environment_value", lambda name: (None, None))
    monkeypatch.setattr("lionplug.scopes.user.account_home", lambda: None)
    monkeypatch.setattr("lionplug.scopes.user.user_scopes._found", {})
    host = Host("lionplug", version="1")
    assert found(host) == []
    assert mend_permissions(host) == []
