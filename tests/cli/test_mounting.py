"""The same commands below an application's own."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click
import pytest
from click.shell_completion import BashComplete

from lionplug import Host
from lionplug.cli import prompt
from lionplug.cli.app import make_cli
from lionplug.cli.group import Command
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


def test_examples_are_lines_of_the_application(li: Run) -> None:
    shown = li("plugin", "call", "--help").out
    assert "  li plugin call web_search --input - < query.json\n" in shown
    shown = li("plugin", "completion", "--help").out
    line = "  li plugin completion bash > ~/.local/share/bash-completion/completions/li\n"
    assert line in shown


def test_examples_with_a_pipe_name_the_program_where_it_stands(li: Run) -> None:
    command = Command("x", examples=[("echo '{}' | PROGRAM x", "From a pipe."), ("x 1", "One.")])
    parent = click.Context(click.Group("plugin"), info_name="li plugin")
    shown = command.get_help(click.Context(command, info_name="x", parent=parent))
    assert shown.endswith(
        "Examples:\n  echo '{}' | li plugin x\n    From a pipe.\n  li plugin x 1\n    One."
    )


def test_completion_completes_the_whole_application(application: click.Group, li: Run) -> None:
    script = li("plugin", "completion", "bash").out
    assert "_LI_COMPLETE=bash_complete" in script
    assert "LIONPLUG" not in script
    completer = BashComplete(application, {}, "li", "_LI_COMPLETE")
    found = completer.get_completions(["plugin", "info"], "gr")
    assert [item.value for item in found] == ["greeter"]


def test_completion_is_for_an_installed_command(
    application: click.Group, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        application.main(args=["plugin", "completion", "bash"], prog_name="python -m li")
    assert end.value.code == 2
    assert "this program was run as python -m li; install it" in capfd.readouterr().err


def test_a_mistyped_hook_is_incompatible_where_the_hooks_are_known(
    application: click.Group, li: Run, place: Place
) -> None:
    manifest = MANIFEST.format(name="greeter") + (
        "  hookimpls:\n    - {hook: note_svaed, target: tools/greet.py:greet}\napp: '>=1'\n"
    )
    (place.home / ".app" / "plugins" / "greeter" / "plugin.yaml").write_text(manifest)
    (row,) = li("plugin", "list", "--json").json
    assert row["state"] == "incompatible"
    assert "implements the hook note_svaed, which app 1.0 does not have" in row["reason"]
    shown = li("plugin", "info", "greeter")
    assert "not checked" not in shown.out
    assert li("plugin", "info", "greeter", "--json").json["hooks_checked"] is True
