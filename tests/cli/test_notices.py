"""What the command says about scopes and files that it can't use."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.cli.place import Place

Greeter = Callable[..., Path]


def test_a_setting_without_effect_is_told_on_standard_error(place: Place, greeter: Greeter) -> None:
    greeter()
    settings = place.project / ".lionplug" / "settings.yaml"
    settings.parent.mkdir()
    settings.write_text("safe_scopes: [/tmp]\n")
    result = place.run("list", "--json")
    assert result.code == 0
    assert [row["name"] for row in result.json] == ["greeter"]
    assert "safe_scopes" in result.err


def test_a_bad_trust_file_trusts_nothing_and_is_told(place: Place, greeter: Greeter) -> None:
    greeter()
    place.approve()
    (file,) = (place.home / ".lionplug").rglob("trust.json")
    data = file.read_text()
    for content in ("{", json.dumps({"format": 999}), data.replace("sha256", "sha255")):
        file.write_text(content)
        result = place.run("list")
        assert result.code == 0, result
        assert "active" not in result.out
        assert place.run("call", "greet", "who=x").code == 1
    assert not place.marker.exists()


def test_s6_a_home_that_is_none_trusts_nothing(place: Place) -> None:
    bundle = place.bundle(place.project_plugins)
    result = place.outside("list", HOME="relative")
    assert result.code == 0, result
    assert "HOME=relative is a relative path" in result.err
    refused = place.outside("digest", str(bundle), HOME="relative")
    assert refused.code == 1
    assert refused.err.startswith("Error: ")
    assert "not expected" not in refused.err


def test_what_cannot_be_reviewed_is_refused_without_a_question(
    place: Place, greeter: Greeter
) -> None:
    greeter(
        manifest="name: greeter\nversion: '1'\nlionplug: '>=0'\ncapabilities:\n"
        "  hooks_external:\n    PreToolUse:\n      - hooks:\n"
        f"          - {{type: command, command: [echo, '{'x' * 5000}']}}\n"
    )
    terminal = place.terminal("trust", "greeter")
    assert terminal.finish() == 1
    assert "Error: greeter can't be approved: " in terminal.text
    assert "(anything else refuses)" not in terminal.text
    assert place.json("list")[0]["state"] == "untrusted"


def test_a_changed_copy_is_told_once(place: Place, greeter: Greeter) -> None:
    root = greeter()
    place.approve()
    with (root / "tools" / "greet.py").open("a") as file:
        file.write("#\n")
    result = place.outside("call", "greet", "who=x")
    assert result.code == 1
    assert result.err.startswith("Error: ")
    assert result.err.count("\n") == 2
    assert result.err.endswith("Next: lionplug trust greeter\n")
