"""Tests of the example host; they need it and pytest installed, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from greeter_host import greet, make_host

POLITE = {
    "plugin.yaml": (
        "name: polite\nversion: '1'\ngreeter: '>=1'\n"
        "capabilities:\n"
        "  hookimpls:\n"
        "    - {hook: choose_greeting, target: 'polite.py:choose_greeting'}\n"
        "    - {hook: greeted, target: 'polite.py:greeted'}\n"
    ),
    "polite.py": (
        "from pathlib import Path\n\n"
        "def choose_greeting(name, hour):\n"
        "    return 'Good evening' if hour >= 18 else None\n\n"
        "def greeted(text):\n"
        "    Path(__plugin_data__, 'last').write_text(text)\n"
    ),
}


@pytest.fixture
def scope(tmp_path: Path) -> Path:
    """A user scope with the plugin ``polite``, which nobody has approved."""
    scope = tmp_path / ".greeter"
    bundle = scope / "plugins" / "polite"
    bundle.mkdir(parents=True)
    scope.chmod(0o700)
    for name, text in POLITE.items():
        (bundle / name).write_text(text)
    return scope


def test_without_approval_the_built_in_answers(scope: Path) -> None:
    host = make_host(str(scope))
    assert greet(host, "Ada", hour=20) == "Hello, Ada!"
    assert greet(host, "Ada", hour=8) == "Good morning, Ada!"
    assert [plugin.name for plugin in host.plugins.needs_attention] == ["polite"]
    assert host.activations == ()


def test_an_approved_plugin_takes_part(scope: Path) -> None:
    host = make_host(str(scope))
    host.trust("polite", expect=host.digest(str(scope / "plugins" / "polite")))
    assert greet(host, "Ada", hour=20) == "Good evening, Ada!"
    assert greet(host, "Ada", hour=8) == "Good morning, Ada!"
    (last,) = (scope / "data").glob("*/last")
    assert last.read_text() == "Good morning, Ada!"


def test_a_hook_that_the_application_does_not_have_is_told(scope: Path) -> None:
    manifest = scope / "plugins" / "polite" / "plugin.yaml"
    manifest.write_text(POLITE["plugin.yaml"].replace("hook: greeted", "hook: greeeted"))
    host = make_host(str(scope))
    greet(host, "Ada")
    assert host.plugins["polite"].state == "incompatible"
    assert host.diagnose().needs_person


def test_the_announcement_is_that_of_the_live_host() -> None:
    """Write it anew with: lionplug host-file greeter_host:make_host -o .../host.json"""
    command = [sys.executable, "-P"] if sys.version_info >= (3, 11) else [sys.executable]
    written = subprocess.run(
        [*command, "-m", "lionplug", "host-file", "greeter_host:make_host"],
        capture_output=True,
        check=True,
    )
    shipped = files("greeter_host").joinpath("host.json").read_text(encoding="utf-8")
    assert json.loads(written.stdout) == json.loads(shipped)


@pytest.mark.parametrize("module", ["greeter_host.cli", "greeter_host.argparse_cli"])
def test_the_command_manages_plugins(module: str, scope: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", module, *arguments],
            env={"HOME": str(scope.parent), "PYTHONPATH": ":".join(sys.path)},
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )

    listed = run("plugin", "list")
    assert listed.returncode == 0, listed.stderr
    assert "greeter plugin trust polite" in " ".join(listed.stdout.split())
    assert "Usage: greeter plugin info" in run("plugin", "info").stderr
    diagnosed = run("plugin", "doctor", "--json")
    assert diagnosed.returncode == 1
    assert "greeter plugin trust polite" in diagnosed.stdout
    assert run("hello", "Ada").stdout.endswith(", Ada!\n")
