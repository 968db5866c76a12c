"""``diff``, ``digest`` and ``show``."""

from __future__ import annotations

import base64
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionplug.cli.comparing import readable
from tests.cli.place import MANIFEST, Place

Greeter = Callable[..., Path]


def test_diff_shows_what_changed(place: Place, greeter: Greeter) -> None:
    root = greeter()
    assert place.run("diff", "greeter").code == 1
    place.approve()
    assert place.run("diff", "greeter").out == "greeter is what was approved.\n"
    (root / "tools" / "greet.py").write_text("X = 1\n")
    (root / "added.txt").write_text("more\n")
    result = place.run("diff", "greeter")
    assert result.code == 0
    assert "+X = 1" in result.out
    assert "added.txt" in result.out
    document = place.json("diff", "greeter")
    assert "added.txt" in str(document)
    assert not place.marker.exists()


def test_digest_prints_the_digest_alone(place: Place, greeter: Greeter) -> None:
    root = greeter()
    result = place.run("digest", str(root))
    assert result.code == 0
    assert result.err == ""
    digest = result.out.removesuffix("\n")
    assert digest.startswith("lp1:sha256:")
    assert len(digest) == 75
    assert place.json("digest", str(root)) == {"path": str(root), "digest": digest}
    assert place.json("info", "greeter")["digest"] == digest


@pytest.mark.parametrize("path", ["nowhere", ".", "README.md"])
def test_digest_of_what_is_no_bundle_is_refused(place: Place, path: str) -> None:
    result = place.run("digest", path)
    assert result.code == 1
    assert result.out == ""
    assert result.err.startswith("Error: ")
    assert "not expected" not in result.err


def test_show_prints_the_present_or_the_approved_file(place: Place, greeter: Greeter) -> None:
    root = greeter(code="VERSION = 1\n")
    refused = place.run("show", "greeter", "tools/greet.py", "--approved")
    assert refused.code == 1
    place.approve()
    (root / "tools" / "greet.py").write_text("VERSION = 2\n")
    assert place.run("show", "greeter", "tools/greet.py").out == "VERSION = 2\n"
    approved = place.run("show", "greeter", "tools/greet.py", "--approved")
    assert approved.out.endswith("VERSION = 1\n")


def test_s25_show_makes_hidden_characters_visible(place: Place, greeter: Greeter) -> None:
    root = greeter()
    text = "a\u200bb\u202e\r\x1b[2J\u3164\U000e0041 ü я \\u{41}\r\n\tend"
    (root / "notes.md").write_bytes(text.encode())
    result = place.run("show", "greeter", "notes.md")
    assert result.out == (
        "a\\u{200b}b\\u{202e}\\u{d}\\u{1b}[2J\\u{3164}\\u{e0041} ü я \\u{5c}u{41}\n        end\n"
    )
    document = place.json("show", "greeter", "notes.md")
    assert document["text"] == text
    assert base64.b64decode(document["base64"]) == text.encode()


@given(st.text())
def test_readable_lines_hide_nothing(text: str) -> None:
    assert all(line.isprintable() for line in readable(text))


def test_show_refuses_binary_text_but_gives_the_bytes(place: Place, greeter: Greeter) -> None:
    root = greeter()
    data = bytes(range(256))
    (root / "data.bin").write_bytes(data)
    refused = place.run("show", "greeter", "data.bin")
    assert refused.code == 1
    assert refused.err == (
        "Error: data.bin of greeter is not UTF-8 text (256 bytes); use --raw with a file or a "
        "pipe, or --json\n"
    )
    document = place.json("show", "greeter", "data.bin")
    assert document["text"] is None
    assert base64.b64decode(document["base64"]) == data
    raw = subprocess.run(
        [sys.executable, "-m", "lionplug", "show", "greeter", "data.bin", "--raw"],
        cwd=place.project,
        env=place.environment(),
        capture_output=True,
        check=True,
        timeout=20,
    )
    assert raw.stdout == data
    (root / "latin.txt").write_bytes(b"\xfc")
    assert place.run("show", "greeter", "latin.txt").code == 1


def test_raw_bytes_never_go_to_a_terminal(place: Place, greeter: Greeter) -> None:
    greeter()
    terminal = place.terminal("show", "greeter", "plugin.yaml", "--raw")
    assert terminal.finish() == 2
    assert "--raw is for a file or a pipe, not for a terminal" in terminal.text
    result = place.run("show", "greeter", "plugin.yaml", "--raw", "--json")
    assert result.code == 2
    assert result.json["error"]["message"] == "--raw and --json exclude each other"


def test_show_names_a_missing_file(place: Place, greeter: Greeter) -> None:
    greeter()
    for file in ("nothing.py", "../secret", "/etc/passwd", "tools", "a\x1b"):
        result = place.run("show", "greeter", file)
        assert result.code == 1, result
        assert "\x1b" not in result.err
        assert result.out == ""


def test_a_file_that_is_not_there_is_named_with_the_nearest(place: Place, greeter: Greeter) -> None:
    greeter()
    result = place.run("show", "greeter", "tools/great.py")
    assert result.code == 1
    assert result.err == (
        "Error: greeter has no file tools/great.py (did you mean 'tools/greet.py'?). "
        "'info' lists the files it has.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["trust", "greeter"], "approved"),
        (["trust", "greeter", "--expect", "lp1:sha256:" + 64 * "0"], "approved"),
        (["show", "greeter", "plugin.yaml"], "shown"),
    ],
)
def test_a_broken_manifest_is_named_with_all_its_problems(
    place: Place, greeter: Greeter, arguments: list[str], wanted: str
) -> None:
    root = greeter(manifest=MANIFEST.format(name="greeter") + "nope: 1\nalso: 2\n")
    result = place.run(*arguments)
    assert result.code == 1
    first, *problems = result.err.splitlines()
    assert first == (
        f"Error: greeter at {root} can't be {wanted}: its manifest has 2 problems. Mend first:"
    )
    assert [line.partition(" ")[0] for line in problems] == [
        "plugin.yaml:9:1:",
        "plugin.yaml:10:1:",
    ]
    error = place.json(*arguments, code=1)["error"]
    assert (error["type"], error["plugin"]) == ("ManifestError", "greeter")
    assert len(error["problems"]) == 2
