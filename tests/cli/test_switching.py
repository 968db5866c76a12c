"""``enable`` and ``disable``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.cli.place import Place

Greeter = Callable[..., Path]


def test_disable_and_enable_say_what_changed(place: Place, greeter: Greeter) -> None:
    greeter()
    place.approve()
    steps = [
        ("enable", "Nothing changed: greeter is active.\n"),
        ("disable", "greeter is disabled; it was active and is disabled now.\n"),
        (
            "disable",
            "Nothing changed: greeter is disabled.\n  disabled by you\n"
            "Next: lionplug enable greeter\n",
        ),
        ("enable", "greeter is enabled; it was disabled and is active now.\n"),
    ]
    for verb, text in steps:
        result = place.run(verb, "greeter")
        assert (result.code, result.out, result.err) == (0, text, "")
    assert not place.marker.exists()


def test_enabling_approves_nothing(place: Place, greeter: Greeter) -> None:
    greeter()
    assert place.json("disable", "greeter")["state"] == "disabled"
    result = place.run("enable", "greeter")
    assert result.out.startswith("greeter is enabled; it was disabled and is untrusted now.\n")
    assert result.out.endswith("Next: lionplug trust greeter\n")


def test_json_tells_whether_it_changed(place: Place, greeter: Greeter) -> None:
    greeter()
    assert place.json("disable", "greeter")["changed"] is True
    assert place.json("disable", "greeter")["changed"] is False


def test_enable_is_refused_when_a_settings_file_disables(place: Place, greeter: Greeter) -> None:
    greeter()
    settings = place.home / ".lionplug" / "settings.yaml"
    settings.write_text("disabled:\n  - greeter\n")
    settings.chmod(0o600)
    result = place.run("enable", "greeter")
    assert result.code == 1, result
    assert f"{settings}:2" in result.err or f"{settings}, line 2" in result.err
    assert settings.read_text() == "disabled:\n  - greeter\n"
