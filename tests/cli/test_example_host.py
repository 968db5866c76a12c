"""The example host, installed as its users would, in a directory of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.place import Place, Result

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "greeter-host"
COPY = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for ``PYTHONPATH`` in which the example host is installed."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(EXAMPLE, folder / "source", ignore=COPY)
    options = [
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--no-warn-script-location",
    ]
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install"]
    subprocess.run(
        [*command, *options, "--target", str(folder / "site"), str(folder / "source")],
        check=True,
        timeout=60,
        cwd=folder,
    )
    return folder / "site"


def lionplug(place: Place, installed: Path, *arguments: str, **more: Any) -> Result:
    return place.outside(*arguments, PYTHONPATH=str(installed), **more)


def test_the_tests_of_the_example_pass(installed: Path, tmp_path: Path) -> None:
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(EXAMPLE / "tests")],
        env={**os.environ, "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 passed" in done.stdout


def polite(place: Place, hook: str = "greeted") -> None:
    bundle = place.home / ".greeter" / "plugins" / "polite"
    bundle.mkdir(parents=True)
    (bundle / "polite.py").write_text("raise SystemExit('imported')\n")
    (bundle / "plugin.yaml").write_text(
        "name: polite\nversion: '1'\ngreeter: '>=1'\ncapabilities:\n"
        f"  hookimpls:\n    - {{hook: {hook}, target: 'polite.py:greeted'}}\n"
    )


def test_the_only_announced_host_is_the_one_that_is_meant(place: Place, installed: Path) -> None:
    polite(place)
    listed = lionplug(place, installed, "list")
    assert listed.code == 0, listed
    assert "greeter plugin trust polite" in " ".join(listed.out.split())
    assert listed.err.endswith("'greeter plugin info NAME' says more.\n")
    info = lionplug(place, installed, "info", "polite", "--json").json
    assert info["hooks_checked"] is True
    other = lionplug(place, installed, "list", LIONPLUG_HOST="lionplug")
    assert "No plugins." in other.out


def test_its_hooks_are_checked_without_importing_it(place: Place, installed: Path) -> None:
    polite(place, hook="greeeted")
    (row,) = lionplug(place, installed, "list", "--json").json
    assert row["state"] == "incompatible"
    assert "implements the hook greeeted, which greeter 1.0 does not have" in row["reason"]
    diagnosis = lionplug(place, installed, "doctor", "--json")
    assert diagnosis.code == 1
    assert [one["code"] for one in diagnosis.json["findings"]].count("requirement") == 1


def test_its_tools_are_reserved(place: Place, installed: Path) -> None:
    bundle = place.bundle(
        place.home / ".greeter" / "plugins",
        manifest="name: greeter\nversion: '1'\ngreeter: '>=1'\n"
        "capabilities:\n  tools:\n    - {name: greet, target: tools/greet.py:greet}\n",
    )
    digest = lionplug(place, installed, "digest", str(bundle)).out.strip()
    assert lionplug(place, installed, "trust", "greeter", "--expect", digest).code == 0
    (row,) = lionplug(place, installed, "list", "--json").json
    assert row["refused_names"] == {
        "tools:greet": 'greeter itself has tool "greet", and its own always wins'
    }


def test_a_damaged_announcement_is_reported(place: Place, installed: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(installed, site)
    file = site / "greeter_host" / "host.json"
    for text in ("{", "[" * 100_000, '{"command": "x; rm -rf ~"}', '{"hooks": ["a b"]}', "\xff"):
        file.write_text(text, encoding="latin-1")
        result = lionplug(place, site, "list")
        assert result.code == 0, result
        assert "announcement of the host greeter by greeter-host" in result.err
        assert "rm -rf" not in result.out
    file.unlink()
    assert "has no file greeter_host/host.json" in " ".join(
        lionplug(place, site, "doctor").out.split()
    )
