"""The same commands below an application's own."""

from __future__ import annotations

import os

import click
import pytest
from click.testing import CliRunner

from lionplug import Host
from lionplug.cli import prompt
from lionplug.cli.app import make_cli
from tests.cli.place import MANIFEST, Place


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


def test_messages_name_the_applications_command(application: click.Group) -> None:
    result = CliRunner().invoke(application, ["plugin", "list"], prog_name="li")
    assert result.exit_code == 0, result.output
    assert "li plugin trust greeter" in " ".join(result.stdout.split())
    assert "'li plugin info NAME' says more." in result.stderr
    usage = CliRunner().invoke(application, ["plugin", "info"], prog_name="li")
    assert usage.exit_code == 2
    assert "Usage: li plugin info" in usage.stderr
    helped = CliRunner().invoke(application, ["plugin", "info", "--help"], prog_name="li")
    assert "li plugin info web-research" in helped.output


def test_errors_are_told_in_the_same_voice(application: click.Group) -> None:
    result = CliRunner().invoke(application, ["plugin", "info", "nobody"], prog_name="li")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: no plugin is called nobody.")
    as_json = CliRunner().invoke(application, ["plugin", "info", "nobody", "--json"])
    assert '"type": "PluginNotFoundError"' in as_json.stdout


def test_s23_nothing_of_the_application_answers(
    application: click.Group, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt, "TERMINAL", os.devnull)  # also where the tests have a terminal
    digest = place.run("digest", str(place.home / ".app" / "plugins" / "greeter")).out.strip()
    result = CliRunner().invoke(
        application,
        ["plugin", "trust", "greeter"],
        prog_name="li",
        auto_envvar_prefix="LI",
        env={
            "LI_PLUGIN_TRUST_EXPECT": digest,
            "LI_PLUGIN_TRUST_YES": "1",
            "LI_TRUST_YES": "1",
            "LI_YES": "1",
        },
        default_map={"plugin": {"trust": {"expect": digest, "yes": True, "name": "greeter"}}},
        input="y\ny\n",
    )
    assert result.exit_code == 1, result.output
    assert "there is no terminal to ask on" in result.stderr
    listed = CliRunner().invoke(application, ["plugin", "list"], prog_name="li")
    assert "untrusted" in listed.output


def test_a_command_outside_its_group_says_so() -> None:
    from lionplug.cli.looking import list_command

    result = CliRunner().invoke(list_command, [])
    assert isinstance(result.exception, RuntimeError)
