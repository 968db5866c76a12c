"""Real installations, as the README describes them. They need a package index."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lionplug
from tests.frame.conftest import copy_sources, environment, run

pytestmark = pytest.mark.long

#: The supported interpreters; those that this machine has are used.
INTERPRETERS = ("python3.10", "python3.11", "python3.12", "python3.13", "python3.14")


def make_environment(interpreter: str, folder: Path, *arguments: str) -> Path:
    """Create an environment, install into it from the index, return its ``bin`` folder."""
    own = environment(folder.parent)
    run([interpreter, "-m", "venv", str(folder)], cwd=folder.parent, env=own)
    pip = [str(folder / "bin/python"), "-m", "pip", "--disable-pip-version-check"]
    # The caller's own pip settings (a proxy, a mirror) are wanted here.
    subprocess.run([*pip, "install", "--quiet", *arguments], cwd=folder.parent, check=True)
    return folder / "bin"


def assert_works(bin_folder: Path, cwd: Path) -> None:
    for command in (["lionplug"], ["python", "-m", "lionplug"]):
        program = [str(bin_folder / command[0]), *command[1:]]
        assert lionplug.__version__ in run([*program, "--version"], cwd=cwd, env=environment(cwd))
        assert run([*program, "list", "--json"], cwd=cwd, env=environment(cwd)).strip() == "[]"


@pytest.mark.parametrize("arguments", [["."], ["-e", "."]], ids=" ".join)
def test_install_from_a_clone(tmp_path: Path, arguments: list[str]) -> None:
    sources = copy_sources(tmp_path / "clone")
    arguments = [str(sources) if word == "." else word for word in arguments]
    bin_folder = make_environment(sys.executable, tmp_path / "environment", *arguments)
    assert_works(bin_folder, tmp_path)


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_install_wheel_on_each_python(tmp_path: Path, wheel: Path, interpreter: str) -> None:
    found = shutil.which(interpreter)
    if found is None or subprocess.run([found, "-V"], check=False).returncode != 0:
        pytest.skip(f"{interpreter} is not on this machine")
    assert_works(make_environment(found, tmp_path / "environment", str(wheel)), tmp_path)
