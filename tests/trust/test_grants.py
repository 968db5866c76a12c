"""Grants: one ``stat`` notices every change; whoever withdrew a grant keeps it withdrawn."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from lionplug.trust.grants import Grants
from lionplug.trust.trust_file import TrustFile
from tests.support import World


@pytest.fixture
def approved(world: World) -> Any:
    """The record of an approved plugin, in a world with a file of approvals."""
    world.bundle("one")
    return world.approve(world.host(), "one").record


def grants_of(world: World) -> tuple[Grants, TrustFile, list[str]]:
    file = TrustFile(world.host().user_scope)
    changes: list[str] = []
    return Grants(file, lambda: changes.append("changed")), file, changes


def test_a_look_costs_one_stat_while_nothing_changes(
    world: World, approved: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stats: list[object] = []
    original = os.stat

    def stat(path: Any, **options: Any) -> os.stat_result:
        stats.append(path)
        return original(path, **options)

    monkeypatch.setattr(os, "stat", stat)
    grants, file, changes = grants_of(world)
    generation = grants.look()
    stats.clear()
    assert grants.look() == grants.look() == generation
    assert stats == [file.path, file.path]
    assert changes == ["changed"]


def test_a_grant_follows_the_file(world: World, approved: Any) -> None:
    grants, file, changes = grants_of(world)
    grants.look()
    grant = grants.issue(approved.name, approved.location, approved.tree)
    assert grant.stands
    file.set_disabled(approved.name, approved.location, True)
    assert grant.stands  # nobody looked yet
    assert grants.look() == 2
    assert not grant.stands
    file.set_disabled(approved.name, approved.location, False)
    grants.look()
    assert grant.stands
    file.revoke(location=approved.location)
    grants.look()
    assert not grant.stands
    file.approve(evolve(approved, tree=approved.tree[:-4] + "0000"))
    grants.look()
    assert not grant.stands
    assert len(changes) == 5


@pytest.mark.parametrize("change", ["delete", "truncate", "garbage", "writable by others"])
def test_a_file_that_can_not_be_believed_ends_every_grant(
    world: World, approved: Any, change: str
) -> None:
    grants, file, _ = grants_of(world)
    grants.look()
    grant = grants.issue(approved.name, approved.location, approved.tree)
    assert grant.stands
    path = Path(str(file.path))
    if change == "delete":
        path.unlink()
    elif change == "truncate":
        path.write_bytes(b"")
    elif change == "garbage":
        path.write_bytes(b"{]")
    else:
        path.chmod(0o666)
    grants.look()
    assert not grant.stands


def test_a_withdrawn_grant_never_comes_back(world: World, approved: Any) -> None:
    grants, file, _ = grants_of(world)
    grants.look()
    grant = grants.issue(approved.name, approved.location, approved.tree)
    grant.withdraw("changed")
    assert (grant.stands, grant.refusal) == (False, "changed")
    file.set_disabled("other", "/other", True)
    grants.look()
    assert not grant.stands


def test_without_a_file_nothing_stands_until_something_is_approved(world: World) -> None:
    grants, _, changes = grants_of(world)
    first = grants.look()
    assert grants.look() == first
    assert not grants.issue("one", "/one", "lp1:sha256:" + "0" * 64).stands
    assert changes == ["changed"]
