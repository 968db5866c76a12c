"""One JSON document, closed pipes, no escape codes, exit codes (FR-37)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.place import PROGRAM, Place

Greeter = Callable[..., Path]

ZERO = "lp1:sha256:" + "0" * 64

GOOD = [
    ["list"],
    ["info", "greeter"],
    ["trust", "greeter", "--expect", "DIGEST"],
    ["diff", "greeter"],
    ["digest", "BUNDLE"],
    ["show", "greeter", "plugin.yaml"],
    ["call", "greet", "who=x"],
    ["disable", "greeter"],
    ["enable", "greeter"],
    ["revoke", "greeter"],
    ["completion", "bash"],
]

BAD = [
    (["list", "extra"], 2),
    (["list", "--nope"], 2),
    (["info"], 2),
    (["info", "nobody"], 1),
    (["trust", "greeter"], 1),
    (["trust", "greeter", "--yes"], 1),
    (["trust", "greeter", "--expect", ZERO], 1),
    (["trust", "greeter", "--expect", "x"], 2),
    (["revoke", "nobody"], 1),
    (["enable", "nobody"], 1),
    (["disable", "nobody"], 1),
    (["diff", "greeter"], 1),
    (["digest", "/nowhere"], 1),
    (["show", "greeter", "nothing"], 1),
    (["call", "nothing"], 1),
    (["call", "greet", "who=x"], 1),
    (["completion", "tcsh"], 2),
    (["nonsense"], 2),
    (["--host", "no-such-host-here", "list"], 2),
    (["--host", "NO", "list"], 2),
]


def test_every_command_gives_one_document(place: Place, greeter: Greeter) -> None:
    root = greeter()
    digest = place.run("digest", str(root)).out.strip()
    for command in GOOD:
        words = [{"DIGEST": digest, "BUNDLE": str(root)}.get(word, word) for word in command]
        result = place.outside(*words, "--json", PYTHONWARNINGS="always")
        assert result.code == 0, (words, result)
        json.loads(result.out)
        assert result.out.isascii()
        assert result.out.endswith("\n")


@pytest.mark.parametrize(("command", "code"), BAD, ids=lambda value: str(value))
def test_every_failure_gives_one_document_and_one_message(
    place: Place, greeter: Greeter, command: list[str], code: int
) -> None:
    greeter()
    result = place.run(*command, "--json")
    assert result.code == code, result
    error = result.json["error"]
    assert list(result.json) == ["error"]
    assert set(error) >= {"type", "message", "plugin", "file", "field", "command", "problems"}
    assert result.err.count("Error: ") == 1
    plain = place.run(*command)
    assert plain.code == code
    assert plain.out == ""
    assert error["message"].split("\n")[0] in plain.err
    assert "Traceback" not in plain.err


def test_broken_plugins_break_no_command(place: Place, greeter: Greeter) -> None:
    bodies = [
        "import nope",
        "raise SystemExit(0)",
        "raise KeyboardInterrupt",
        "def (",
        "import os; os._exit(3)",
    ]
    for number, body in enumerate(bodies):
        name = f"bad{number}"
        place.bundle(
            place.user_plugins,
            name,
            manifest=f"name: {name}\nversion: '1'\nlionplug: '>=0'\ncapabilities:\n  tools:\n"
            f"    - {{name: tool{number}, target: 'tools/greet.py:greet'}}\n",
            code=body + "\n",
        )
        place.approve(name)
    for command in [
        ["--help"],
        ["list"],
        ["info", "bad0"],
        ["disable", "bad1"],
        ["revoke", "bad2"],
    ]:
        assert place.run(*command).code == 0
    assert not place.marker.exists()


@pytest.mark.parametrize(
    "command", [["list"], ["list", "--json"], ["--help"], ["list", "--help"], ["--version"]]
)
def test_a_closed_pipe_is_quiet(place: Place, greeter: Greeter, command: list[str]) -> None:
    greeter()
    process = subprocess.Popen(
        [*PROGRAM, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=place.project,
        env=place.environment(),
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    noise = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(20) == 141
    assert "Traceback" not in noise
    assert "BrokenPipe" not in noise


def test_closed_streams_are_quiet(place: Place, greeter: Greeter) -> None:
    greeter()
    words = " ".join(PROGRAM)
    for redirect, code in [(">&-", 141), ("2>&-", 0), (">&- 2>&-", 141), ("<&-", 0)]:
        done = subprocess.run(
            ["sh", "-c", f"{words} list {redirect}"],
            capture_output=True,
            cwd=place.project,
            env=place.environment(),
            timeout=20,
            check=False,
        )
        assert done.returncode == code, (redirect, done)
        assert b"Traceback" not in done.stderr


def test_a_failure_that_nobody_hears_is_quiet(place: Place) -> None:
    words = " ".join([*PROGRAM, "info", "nobody", "--json"])
    result = place.outside(program=["sh", "-c", f"{words} >&-"])
    assert result.code == 141
    assert result.err.startswith("Error: no plugin is called nobody.")
    assert "Traceback" not in result.err


def test_json_after_two_dashes_is_a_name(place: Place) -> None:
    result = place.run("info", "--", "--json")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("Error: no plugin is called --json.")


def test_a_variable_that_changed_since_the_start_is_told(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "lionplug.cli.hosts.environment_value", lambda name: (None, f"{name} was changed")
    )
    result = place.run("list")
    assert result.code == 0
    assert result.err.startswith("LIONPLUG_HOST was changed\n")


def test_escape_codes_only_where_they_are_wanted(place: Place, greeter: Greeter) -> None:
    greeter()
    coloured = place.terminal("list")
    assert coloured.finish() == 0
    assert "\x1b[" in coloured.text
    unwilling: list[dict[str, Any]] = [{"NO_COLOR": "1"}, {"TERM": "dumb"}]
    for variables in unwilling:
        plain = place.terminal("list", **variables)
        assert plain.finish() == 0
        assert "\x1b" not in plain.text
    piped = place.outside("list", FORCE_COLOR="1", CLICOLOR_FORCE="1", TTY_COMPATIBLE="1")
    assert "\x1b" not in piped.out + piped.err


def test_an_ascii_terminal_gets_ascii(place: Place, greeter: Greeter) -> None:
    greeter(
        manifest="name: greeter\nversion: '1'\ndescription: Grüße\nlionplug: '>=0'\n"
        "capabilities: {agents: [tools/greet.py]}\n"
    )
    result = place.outside("info", "greeter", PYTHONIOENCODING="ascii")
    assert result.code == 0, result
    assert result.out.isascii()


COMMANDS = [
    "list",
    "info",
    "trust",
    "revoke",
    "enable",
    "disable",
    "diff",
    "digest",
    "show",
    "call",
    "new",
    "check",
    "schema",
    "completion",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(place: Place, command: str) -> None:
    result = place.run(command, "--help")
    assert result.code == 0
    assert "Examples:" in result.out
    assert f"lionplug {command}" in result.out
    assert "--json" in result.out
    assert max(map(len, result.out.splitlines())) <= 80


def test_the_program_lists_its_commands_and_version(place: Place) -> None:
    result = place.run("--help")
    words = [line.split()[0] for line in result.out.splitlines() if line.startswith("  ")]
    assert [word for word in words if word in COMMANDS] == COMMANDS
    assert place.run("--version").out == "lionplug 0.1.0\n"
    assert "Usage: lionplug" in place.run().out + place.run().err


def test_debug_shows_the_traceback(place: Place) -> None:
    result = place.run("--debug", "info", "nobody")
    assert result.code == 1
    assert "Traceback (most recent call last):" in result.err
    assert "Error: " in result.err


def test_the_host_is_chosen_by_option_or_variable(place: Place) -> None:
    # pluggy is surely installed; its plugins would lie in ~/.pluggy/plugins.
    chosen = place.outside("--host", "pluggy", "list")
    assert f"{place.home}/.pluggy/plugins" in chosen.out
    named = place.outside("list", LIONPLUG_HOST="pluggy")
    assert f"{place.home}/.pluggy/plugins" in named.out
    both = place.outside("--host", "lionplug", "list", LIONPLUG_HOST="pluggy")
    assert f"{place.home}/.lionplug/plugins" in both.out
    unknown = place.outside("list", LIONPLUG_HOST="no-such-host-here")
    assert unknown.code == 2
    assert "Error: LIONPLUG_HOST names the host no-such-host-here, but" in unknown.err
    assert "command line: lionplug.cli.app.make_cli(make_host)" in unknown.err


def test_messages_name_the_command_of_their_host(place: Place) -> None:
    manifest = "name: greeter\nversion: '1'\npluggy: '>=0'\ncapabilities:\n  agents: [a.md]\n"
    place.bundle(place.home / ".pluggy" / "plugins", manifest=manifest)
    result = place.outside("--host", "pluggy", "list")
    assert "lionplug --host pluggy trust greeter" in " ".join(result.out.split()), result
