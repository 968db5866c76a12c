"""Hostile text of a bundle through every command (security rule S24, S25, S37; FR-16)."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.place import Place

# What a terminal obeys, what draws nothing, what looks like something else, what rich
# or Markdown would interpret.
NASTY = (
    "\x1b[2J\x1b[H\x1b]52;c;eA==\x07Verified\r\nApprove? [y/N] y\x9b1m\u200b\u202e\u3164\u00ad"
    "\u2800\ufe0f\U000e0041\u00a0[bold]x[/bold] :lock: [link=file:///]y[/link] \u0430"
)
ARGV = ["hooks/run", "[bold]", "[conceal]", "--upload", "\u202e", "x\r\ny", "🔒"]

#: Of all that is beyond ASCII only this letter of a description may be shown as it is.
LETTER = "\u0430"


def in_yaml(manifest: object) -> str:
    """Return JSON that is YAML too, which has no surrogate pairs."""
    text = json.dumps(manifest, ensure_ascii=False)
    return "".join(one if " " <= one <= "~" else f"\\U{ord(one):08x}" for one in text)


def write(place: Place) -> Path:
    manifest = {
        "name": "greeter",
        "version": "1.0",
        "description": NASTY,
        "lionplug": ">=0",
        "capabilities": {
            "tools": [
                {"name": "greet", "target": "tools/greet.py:greet", "description": NASTY},
            ],
            "hooks_external": {
                "PreToolUse": [
                    {"matcher": "greet", "hooks": [{"type": "command", "command": ARGV}]}
                ]
            },
        },
    }
    root = place.bundle(
        place.user_plugins,
        manifest=in_yaml(manifest),
        code=f"def greet(text: str = {NASTY!r}):\n    raise ValueError(text)\n",
    )
    (root / "hooks").mkdir()
    (root / "hooks" / "run").write_text("#!/bin/sh\n")
    (root / "hooks" / "run").chmod(0o755)
    (root / "notes.md").write_bytes(NASTY.encode())
    (root / "[bold]\u202e\u3164.txt").write_text("x")
    return root


COMMANDS = [
    ["list"],
    ["list", "--json"],
    ["info", "greeter"],
    ["info", "greeter", "--json"],
    ["info", NASTY],
    ["trust", "greeter"],
    ["trust", NASTY],
    ["trust", "greeter", "--expect", NASTY],
    ["trust", "greeter", "--expect", "DIGEST"],
    ["list"],
    ["diff", "greeter"],
    ["diff", "greeter", "--json"],
    ["show", "greeter", "notes.md"],
    ["show", "greeter", "notes.md", "--approved"],
    ["show", "greeter", NASTY],
    ["call", "greet"],
    ["--debug", "call", "greet"],
    ["call", "greet", "--json"],
    ["call", "greet", NASTY],
    ["call", "greet", "who=" + NASTY],
    ["call", NASTY],
    ["digest", NASTY],
    ["check", NASTY],
    ["new", NASTY],
    ["new", "tidy", NASTY],
    ["enable", NASTY],
    ["disable", NASTY],
    ["revoke", NASTY],
    ["--host", NASTY, "list"],
    [NASTY],
    ["list", NASTY],
    ["list", "--" + NASTY],
    ["disable", "greeter"],
    ["enable", "greeter"],
    ["revoke", "greeter"],
]


def bad_characters(text: str) -> set[str]:
    return {
        character
        for character in text
        if not (character == "\n" or " " <= character <= "~" or character == LETTER)
    }


def prepared(place: Place) -> list[list[str]]:
    root = write(place)
    digest = place.run("digest", str(root)).out.strip()
    assert digest.startswith("lp1:"), place.run("digest", str(root))
    return [[digest if word == "DIGEST" else word for word in command] for command in COMMANDS]


def test_s24_in_a_pipe_only_harmless_characters_are_written(place: Place) -> None:
    for command in prepared(place):
        result = place.run(*command)
        assert not bad_characters(result.out + result.err), (command, result)


@pytest.mark.long
def test_s24_on_a_terminal_only_harmless_characters_and_colours_are_written(place: Place) -> None:
    for command in prepared(place):
        terminal = place.terminal(*command)
        if command == ["trust", "greeter"]:
            terminal.wait_for("(anything else refuses): ")
            terminal.type("\n")
        terminal.finish()
        shown = re.sub(r"\x1b\[[0-9;]*m", "", terminal.text)
        assert not bad_characters(shown), (command, shown)


def test_s24_the_declared_command_can_be_read_back(place: Place) -> None:
    prepared(place)
    for command in (["info", "greeter"], ["trust", "greeter", "--expect", "DIGEST"]):
        words = [place.json("info", "greeter")["digest"] if w == "DIGEST" else w for w in command]
        shown = place.run(*words).out
        found = re.search(r'\["hooks/run".*?\]\n|\[\n\s+"hooks/run".*?\n\s*\]', shown, re.DOTALL)
        assert found, shown
        assert json.loads(found.group()) == ARGV


def test_s24_markup_is_shown_as_it_is(place: Place) -> None:
    prepared(place)
    for command in (["list"], ["info", "greeter"]):
        for terminal in (False, True):
            if terminal:
                run = place.terminal(*command)
                run.finish()
                shown = run.text
            else:
                shown = place.run(*command).out
            assert "[bold]x[/bold]" in "".join(shown.split()), (command, shown)


@pytest.mark.parametrize("directory", ["a\x1b[2Jb", "a\nb", "[red]", "\u202eabc", "a b;rm -rf x"])
def test_s37_a_hostile_directory_name_is_shown_escaped_and_quoted(
    place: Place, directory: str
) -> None:
    place.bundle(place.user_plugins, directory=directory, manifest="name: [\n")
    result = place.run("list")
    assert result.code == 0
    assert not bad_characters(result.out + result.err)
    (row,) = place.json("list")
    assert row["name"] == directory
    command = row["next_command"]
    assert not bad_characters(command)
    if directory.isascii() and directory.isprintable():
        assert shlex.split(command)[-1].endswith(directory)


def test_lone_surrogates_in_names_are_no_problem(place: Place) -> None:
    root = os.fsencode(place.user_plugins) + b"/\xff\xfe"
    os.makedirs(root)
    with open(root + b"/plugin.yaml", "wb") as file:
        file.write(b"name: x")
    for command in (["list"], ["list", "--json"], ["info", os.fsdecode(b"\xff\xfe")]):
        result = place.run(*command)
        assert result.code == 0, result
        assert not bad_characters(result.out)
