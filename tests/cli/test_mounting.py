"""The same commands below an application's own."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click
import pytest

from lionplug import Host
from lionplug.cli import prompt
from lionplug.cli.app import make_cli
from lionplug.cli.looking import list_command
from tests.cli.place import MANIFEST, Place, Result


@pytest.fixture
def application(place: Place, monkeypatch: pytest.MonkeyPatch) -> click.Group:
    """An application ``li`` with the plugin commands below ``li plugin``."""
    monkeypatch.chdir(place.project)
    user = place.home / ".app"
    user.mkdir(mode=0o700)
    place.bundle(user / "plugins", manifest=MANIFEST.format(name="greeter") + "app: '>=1'\n")

    def make_host() -> Host:
        return Host("app", version="1.0", command="li plugin", user_dir=str(user))

    application = click.Group("li")
    application.add_command(make_cli(make_host))
    return application


Run = Callable[..., Result]


@pytest.fixture
def li(application: click.Group, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run the application as a program."""

    def run(*arguments: str, **extra: Any) -> Result:
        with pytest.raises(SystemExit) as end:
            application.main(args=list(arguments), prog_name="li", **extra)
        out, err = capfd.readouterr()
        return Result(int(end.value.code or 0), out, err)

    return run


def test_messages_name_the_applications_command(li: Run) -> None:
    result = li("plugin", "list")
    assert result.code == 0, result
    assert "li plugin trust greeter" in " ".join(result.out.split())
    assert "'li plugin info NAME' says more." in result.err
    usage = li("plugin", "info")
    assert usage.code == 2
    assert "Usage: li plugin info" in usage.err
    assert "li plugin info web-research" in li("plugin", "info", "--help").out


def test_errors_are_told_in_the_same_voice(li: Run) -> None:
    result = li("plugin", "info", "nobody")
    assert result.code == 1
    assert result.err.startswith("Error: no plugin is called nobody.")
    as_json = li("plugin", "info", "nobody", "--json")
    assert as_json.code == 1
    assert as_json.json["error"]["type"] == "PluginNotFoundError"


def test_s23_nothing_of_the_application_answers(
    li: Run, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt, "TERMINAL", os.devnull)  # also where the tests have a terminal
    digest = place.run("digest", str(place.home / ".app" / "plugins" / "greeter")).out.strip()
    for name in ("LI_PLUGIN_TRUST", "LI_TRUST", "LI"):
        monkeypatch.setenv(f"{name}_EXPECT", digest)
        monkeypatch.setenv(f"{name}_YES", "1")
    answers = {"expect": digest, "yes": True, "name": "greeter"}
    result = li(
        "plugin",
        "trust",
        "greeter",
        auto_envvar_prefix="LI",
        default_map={"plugin": {"trust": answers}},
    )
    assert result.code == 1, result
    assert "there is no terminal to ask on" in result.err
    assert "untrusted" in li("plugin", "list").out


def test_a_command_outside_its_group_says_so() -> None:
    with pytest.raises(RuntimeError, match="runs only within its group"):
        list_command.main(args=[], standalone_mode=False)
