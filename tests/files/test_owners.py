"""security rule S31: who else can write, as pure functions over modes and owners."""

from __future__ import annotations

import grp
import itertools
import os
import pwd
import stat as stat_module
from types import SimpleNamespace

import pytest

from lionplug.files import owners
from lionplug.files.owners import group_label, is_private_group, user_label, why_unsafe

ME, OTHER = 1000, 1001
MY_GROUP, STAFF = 1000, 50


def stat(mode: int, uid: int = ME, gid: int = MY_GROUP, kind: int = stat_module.S_IFDIR):
    return os.stat_result((kind | mode, 1, 1, 1, uid, gid, 0, 0, 0, 0))


def private(gid: int, uid: int) -> bool:
    assert uid == ME
    return gid == MY_GROUP


def unsafe(of, **keywords) -> str | None:
    return why_unsafe(of, uid=ME, private_group=private, **keywords)


@pytest.mark.parametrize(
    ("mode", "uid", "gid", "kind", "inside"),
    [
        *itertools.product(
            [0o700, 0o755, 0o775, 0o777, 0o770, 0o757, 0o1777, 0o1775, 0o600, 0o664, 0o666, 0o002],
            [ME, 0, OTHER],
            [MY_GROUP, STAFF],
            [stat_module.S_IFDIR, stat_module.S_IFREG],
            [True, False],
        )
    ],
)
def test_s31_matrix_of_modes_owners_groups_and_places(mode, uid, gid, kind, inside):
    shared = bool(mode & 0o002) or bool(mode & 0o020 and gid != MY_GROUP)
    sticky = bool(mode & 0o1000) and uid == 0 and kind == stat_module.S_IFDIR
    for next_uid in (None, ME, 0, OTHER):
        excused = sticky and not inside and next_uid in (None, ME, 0)
        safe = uid in (ME, 0) and (not shared or excused)
        found = unsafe(
            stat(mode, uid, gid, kind),
            inside_scope=inside,
            next_stat=None if next_uid is None else stat(0o700, next_uid),
        )
        assert (found is None) == safe, (mode, uid, gid, next_uid, found)


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o022, 0o077])
def test_s31_no_usual_umask_locks_the_user_out(mask):
    for kind, full in ((stat_module.S_IFDIR, 0o777), (stat_module.S_IFREG, 0o666)):
        found = unsafe(stat(full & ~mask, kind=kind), inside_scope=True)
        assert (found is None) == (mask != 0)


def test_s31_reasons_name_owner_and_mode(monkeypatch):
    monkeypatch.setattr(owners, "user_label", lambda uid: f"uid {uid} (u{uid})")
    monkeypatch.setattr(owners, "group_label", lambda gid: f"staff (gid {gid})")
    assert unsafe(stat(0o755, OTHER), inside_scope=True) == (
        "is owned by uid 1001 (u1001), not by you or root (mode 0755)"
    )
    assert unsafe(stat(0o777), inside_scope=True) == (
        "can be written by everybody (owner uid 1000 (u1000), mode 0777)"
    )
    assert unsafe(stat(0o775, gid=STAFF), inside_scope=True) == (
        "can be written by the group staff (gid 50) (owner uid 1000 (u1000), mode 0775)"
    )
    assert unsafe(stat(0o1777, 0), inside_scope=False, next_stat=stat(0o700, OTHER)) == (
        "can be written by everybody (owner uid 0 (u0), mode 1777), "
        "and what is used in it is owned by uid 1001 (u1001)"
    )


def test_s31_an_access_list_makes_the_private_group_no_excuse():
    assert unsafe(stat(0o775), inside_scope=True) is None
    assert "other users, by an access list" in str(
        unsafe(stat(0o775), inside_scope=True, shared_by_acl=True)
    )
    assert unsafe(stat(0o755), inside_scope=True, shared_by_acl=True) is None


def test_s31_groups_are_looked_up_only_when_they_may_write():
    def never(gid: int, uid: int) -> bool:
        raise AssertionError("looked up")

    for mode in (0o700, 0o755, 0o777):
        why_unsafe(stat(mode), inside_scope=True, uid=ME, private_group=never)
    with pytest.raises(AssertionError, match="looked up"):
        why_unsafe(stat(0o770), inside_scope=True, uid=ME, private_group=never)


@pytest.mark.parametrize(
    ("primary", "members", "others", "expected"),
    [
        (MY_GROUP, [], [], True),
        (MY_GROUP, ["me"], [], True),
        (MY_GROUP, ["me", "you"], [], False),
        (MY_GROUP, [], [("you", OTHER, MY_GROUP)], False),
        (MY_GROUP, [], [("you", OTHER, STAFF)], True),
        (MY_GROUP, [], [("me-again", ME, MY_GROUP)], True),
        (STAFF, [], [], False),
    ],
)
def test_s31_a_private_group_holds_nobody_else(monkeypatch, primary, members, others, expected):
    def account(name, uid, gid):
        return SimpleNamespace(pw_name=name, pw_uid=uid, pw_gid=gid)

    accounts = [account("me", ME, primary), *(account(*other) for other in others)]
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: accounts[0])
    monkeypatch.setattr(pwd, "getpwall", lambda: accounts)
    monkeypatch.setattr(grp, "getgrgid", lambda gid: SimpleNamespace(gr_mem=members))
    owners._is_private_group.cache_clear()
    try:
        assert is_private_group(MY_GROUP, ME) is expected
    finally:
        owners._is_private_group.cache_clear()


def test_s31_without_an_account_no_group_is_private():
    assert not is_private_group(987654, 987654)


def test_labels_fall_back_to_numbers():
    assert user_label(0) == f"uid 0 ({pwd.getpwuid(0).pw_name})"
    assert group_label(0) == f"{grp.getgrgid(0).gr_name} (gid 0)"
    assert user_label(987654) == "uid 987654"
    assert group_label(987654) == "gid 987654"
