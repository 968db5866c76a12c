"""Values of variables that nobody should set, and the directory in which services start."""

from __future__ import annotations

import os
import subprocess
import sys
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

    resolve = os.path.realpath

    def realpath(path: str, **options: bool) -> str:
        if path.startswith("/proc/1/cwd"):
            raise PermissionError(13, os.strerror(13), path)
        return resolve(path, **options)

    monkeypatch.setattr(os.path, "realpath", realpath)
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


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["list"], 0, "No plugins."),
        (["digest", "."], 2, "can't be found"),
        (["info", "."], 1, "no plugin is called"),
    ],
)
def test_s19_the_command_works_in_a_deleted_directory(
    tmp_path: Path, arguments: list[str], code: int, told: str
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    program = (
        "import os, runpy, sys; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); "
        f"sys.argv = ['lionplug', *{arguments}]; sys.path[0] = ''; "
        "runpy.run_module('lionplug', run_name='__main__', alter_sys=True)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={"HOME": str(home), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in ended.stderr
    assert told in ended.stdout + ended.stderr
    assert ended.returncode == code
