"""Values of variables that nobody should set, and the directory in which services start."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lionplug.scopes import user
from lionplug.scopes.user import UserScopes


@pytest.fixture
def find(monkeypatch: pytest.MonkeyPatch):
    def call(home: str):
        values = {"LIONPLUG_HOME": home}
        monkeypatch.setattr(user, "environment_value", lambda name: (values.get(name), None))
        return UserScopes().find("lionplug")

    return call


def test_s06_a_place_that_cannot_be_resolved_has_a_problem(
    find, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As ``/proc/1/cwd``, a link that only some may read."""

    def realpath(path: str) -> str:
        raise PermissionError(13, os.strerror(13), path)

    monkeypatch.setattr(user.os.path, "realpath", realpath)
    monkeypatch.setattr(user._Search, "_is_moved", lambda self, path: True)
    scope = find("/proc/1/cwd/x")
    assert scope.path is None
    assert scope.problem == (
        "Nothing is trusted, because /proc/1/cwd/x can't be reached: Permission denied. "
        "Make it accessible, or start with LIONPLUG_HOME set to a directory of your own."
    )


def test_s06_a_service_that_starts_in_the_root_directory_has_a_user_scope(
    find, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.chdir("/")
    scope = find(str(tmp_path))
    assert scope.problem is None
    assert scope.path == str(tmp_path / ".lionplug")
    monkeypatch.chdir(tmp_path.parent)
    assert "the working directory" in (find(str(tmp_path)).problem or "")
