"""Helpers for tests of scopes: homes, projects, children with an environment of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from lionplug.scopes import UserScope, user_scopes

#: A user id without an account.
STRANGER = 54321


@pytest.fixture(autouse=True)
def forgotten_scopes():
    """Let each test find its own scopes."""
    user_scopes.clear()
    yield
    user_scopes.clear()


@pytest.fixture
def stranger() -> int:
    """The number of another user, to whom files can be given."""
    if os.geteuid() != 0:
        pytest.skip("only root can give files to another user")
    return STRANGER


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home directory."""
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    return home


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of a repository, outside of the home directory."""
    clone = tmp_path / "clone"
    (clone / ".git").mkdir(parents=True)
    return clone


@pytest.fixture
def user(home: Path) -> UserScope:
    """A user scope in that home directory."""
    (home / ".host").mkdir()
    return UserScope(
        path=str(home / ".host"), source="HOME", home=str(home), moved=False, problem=None
    )


@pytest.fixture
def in_process():
    """Return a function that finds the user scope in a fresh process.

    ``later`` is what is put into ``os.environ`` after the start, as a .env reader does.
    """

    def find(environment, cwd, later=None, user_dir=None, before="") -> dict:
        script = textwrap.dedent("""
            import json, os, sys
            later, user_dir = json.loads(sys.argv[1])
            os.environ.update(later)
            {before}
            from attrs import asdict
            from lionplug.scopes import find_user_scope
            print(json.dumps(asdict(find_user_scope("host", user_dir))))
        """).format(before=before)
        root = Path(__file__).parents[2]
        path = os.pathsep.join([str(root), str(root / "hookspecs")])
        done = subprocess.run(
            [sys.executable, "-c", script, json.dumps([later or {}, user_dir])],
            env={"PYTHONPATH": path, **environment},
            cwd=cwd,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return find
