"""What the frame's tests share: the project built once, and an environment that has it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).parents[2]
SOURCES = (
    "setup.cfg",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "lionplug",
    "hookspecs",
    "contrib",
)


def copy_sources(target: Path) -> Path:
    """Copy what a build needs, because building in place mixes in what an older one left."""
    target.mkdir()
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(source, target / name, ignore=ignored)
        else:
            shutil.copy(source, target / name)
    return target


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return variables for a child process that knows nothing of this test run."""
    return {
        "HOME": str(home),
        "PATH": os.environ.get("PATH", os.defpath),
        "NO_COLOR": "1",
        "COLUMNS": "80",
        **more,
    }


def run(arguments: list[str], *, cwd: Path, env: dict[str, str], stdin: str = "") -> str:
    """Run a program that must succeed, and return its standard output."""
    done = subprocess.run(
        arguments, cwd=cwd, env=env, input=stdin, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _once(shared: Path, name: str, make: Callable[[Path], None]) -> Path:
    """Make a folder once for all workers of a run."""
    with FileLock(shared / f"{name}.lock"):
        if not (shared / name).exists():
            make(shared / f"{name}.new")
            (shared / f"{name}.new").rename(shared / name)
    return shared / name


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that the workers of this run have in common."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def dist(shared: Path) -> Path:
    """Build the sdist, and the wheel from the sdist; return their folder."""

    def build(target: Path) -> None:
        sources = copy_sources(shared / "sources")
        run(
            [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(target)],
            cwd=sources,
            env=environment(shared),
        )

    return _once(shared, "dist", build)


@pytest.fixture(scope="session")
def wheel(dist: Path) -> Path:
    (found,) = dist.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def installed(shared: Path, wheel: Path) -> Path:
    """Return the ``bin`` folder of a new environment into which the wheel was installed.

    The dependencies are those of the environment that runs the tests, through a ``.pth``
    file: ``.pth`` files in a folder named by one are not read, so that an editable lionplug
    there stays unseen.
    """

    # Scripts name their interpreter by its path: this environment is made where it stays.
    def make(stamp: Path) -> None:
        folder = shared / "environment"
        run([sys.executable, "-m", "venv", "--without-pip", str(folder)], cwd=shared, env=own)
        python = folder / "bin/python"
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python)]
        install = [*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
        run(install, cwd=shared, env=own)
        purelib = run(
            [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            cwd=shared,
            env=own,
        ).strip()
        paths = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
        Path(purelib, "dependencies.pth").write_text("".join(f"{path}\n" for path in paths))
        stamp.mkdir()

    own = environment(shared)
    _once(shared, "environment-ready", make)
    return shared / "environment/bin"
