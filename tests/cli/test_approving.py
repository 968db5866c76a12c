"""``trust`` and ``revoke``, with a terminal and without."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.place import Place, Terminal

Greeter = Callable[..., Path]

DATA_ONLY = """\
name: greeter
version: "1.0"
lionplug: ">=0"
capabilities:
  agents: [agents/one.md]
"""

QUESTION = "(anything else refuses): "


@pytest.fixture
def note(place: Place, greeter: Greeter) -> Path:
    """A bundle without code."""
    root = greeter(manifest=DATA_ONLY)
    shutil.rmtree(root / "tools")
    (root / "agents").mkdir()
    (root / "agents" / "one.md").write_text("---\nname: one\ndescription: One\n---\nBe one.\n")
    return root


def state(place: Place) -> str:
    return str(place.json("list")[0]["state"])


def digits(place: Place) -> str:
    digest = str(place.json("info", "greeter")["digest"])
    return digest.removeprefix("lp1:sha256:")


def ask(place: Place, *options: str) -> Terminal:
    terminal = place.terminal("trust", "greeter", *options)
    terminal.wait_for(QUESTION)
    return terminal


def test_s23_the_first_six_digits_approve_what_executes(place: Place, greeter: Greeter) -> None:
    greeter()
    wanted = digits(place)[:6]
    terminal = ask(place)
    terminal.type(wanted + "\n")
    assert terminal.finish() == 0, terminal.text
    assert "Approved greeter 1.0: lp1:sha256:" + wanted in terminal.text
    assert "It is active now." in terminal.text
    assert state(place) == "active"
    assert not place.marker.exists()


WRONG: dict[str, Callable[[str], str]] = {
    "yes": lambda _: "y",
    "nothing": lambda _: "",
    "short": lambda right: right[:5],
    "long": lambda right: right[:7],
    "whole": lambda right: right,
    "upper case": lambda right: "ABCDEF" if right[:6].isdigit() else right[:6].upper(),
    "another": lambda right: right[6:12],
}


@pytest.mark.parametrize("answer", WRONG.values(), ids=WRONG.keys())
def test_s23_any_other_answer_refuses(
    place: Place, greeter: Greeter, answer: Callable[[str], str]
) -> None:
    greeter()
    result = place.run("trust", "greeter", answer=answer(digits(place)))
    assert result.code == 1
    assert result.err.endswith(
        "(anything else refuses): "
        "Error: greeter is not approved: the answer was no. Nothing of it runs.\n"
    )
    assert state(place) == "untrusted"


def test_s23_typing_ahead_does_not_answer(place: Place, greeter: Greeter) -> None:
    greeter()
    right = digits(place)[:6]
    terminal = place.terminal("trust", "greeter")
    terminal.type(f"{right}\ny\n{right}\n")  # before the program has even started
    terminal.wait_for(QUESTION)
    terminal.type("\n")
    assert terminal.finish() == 1
    assert state(place) == "untrusted"


def test_s23_ctrl_c_and_ctrl_d_are_no(place: Place, greeter: Greeter) -> None:
    greeter()
    for key, code in [("\x03", 130), ("\x04", 1)]:
        terminal = ask(place)
        terminal.type(key)
        assert terminal.finish() == code, terminal.text
        assert "Traceback" not in terminal.text
    assert state(place) == "untrusted"
    staging = place.home / ".lionplug" / "staging"
    assert not staging.exists() or not list(staging.iterdir())


@pytest.mark.parametrize("number", [1, 15])
def test_s23_a_signal_is_no_and_leaves_no_copy(place: Place, greeter: Greeter, number: int) -> None:
    greeter()
    terminal = ask(place)
    terminal.process.send_signal(number)
    assert terminal.finish() == 128 + number
    assert state(place) == "untrusted"
    staging = place.home / ".lionplug" / "staging"
    assert not staging.exists() or not list(staging.iterdir())


def test_s23_piped_answers_do_not_count(place: Place, greeter: Greeter) -> None:
    greeter()
    yes = subprocess.Popen(["yes", digits(place)[:6]], stdout=subprocess.PIPE)
    assert yes.stdout is not None
    terminal = place.terminal("trust", "greeter", stdin=yes.stdout.fileno())
    terminal.wait_for(QUESTION)
    terminal.type("\n")
    assert terminal.finish() == 1
    yes.kill()
    yes.communicate()
    assert state(place) == "untrusted"


@pytest.mark.parametrize("options", [(), ("--yes",)])
def test_s23_without_a_terminal_nothing_is_asked_and_nothing_approved(
    place: Place, greeter: Greeter, options: tuple[str, ...]
) -> None:
    greeter()
    answer = "y\n" + digits(place)[:6] + "\n"
    result = place.run("trust", "greeter", *options, stdin=answer)
    assert result.code == 1
    assert result.out == ""
    assert result.err == (
        "Error: greeter is not approved: there is no terminal to ask on, or this is a "
        "background job of it. Run the command on a terminal, or approve one exact tree with "
        "--expect DIGEST; the author tells the digest, and 'digest PATH' prints it.\n"
        "Next: lionplug info greeter\n"
    )
    assert state(place) == "untrusted"


VARIABLES = {
    "LIONPLUG_TRUST_YES": "1",
    "LIONPLUG_YES": "1",
    "YES": "1",
    "CI": "1",
    "LIONPLUG_ASSUME_YES": "true",
}


def test_s23_no_variable_answers(place: Place, greeter: Greeter) -> None:
    greeter()
    digest = "lp1:sha256:" + digits(place)
    variables: dict[str, Any] = VARIABLES | {
        "LIONPLUG_TRUST_EXPECT": digest,
        "LIONPLUG_EXPECT": digest,
    }
    assert place.outside("trust", "greeter", **variables).code == 1
    terminal = place.terminal("trust", "greeter", **variables)
    terminal.wait_for(QUESTION)
    terminal.type("\n")
    assert terminal.finish() == 1
    assert state(place) == "untrusted"


def test_s23_yes_needs_a_terminal_and_still_prints_everything(
    place: Place, greeter: Greeter
) -> None:
    greeter()
    terminal = place.terminal("trust", "greeter", "--yes")
    assert terminal.finish() == 0, terminal.text
    assert "tools/greet.py" in terminal.text
    assert QUESTION not in terminal.text
    assert state(place) == "active"


def test_s23_data_asks_yes_or_no(place: Place, note: Path) -> None:
    for answer, expected in [("", 1), ("n", 1), (digits(place)[:6], 1), ("Yes", 0)]:
        result = place.run("trust", "greeter", answer=answer)
        assert "Approve? [y/N] " in result.err
        assert result.code == expected, result
    assert state(place) == "active"


def test_s23_expect_approves_exactly_one_tree_without_a_terminal(
    place: Place, greeter: Greeter
) -> None:
    root = greeter()
    digest = place.run("digest", str(root)).out.strip()
    result = place.run("trust", "greeter", "--expect", digest)
    assert result.code == 0, result
    assert "tools/greet.py" in result.out
    assert result.out.endswith(f"Approved greeter 1.0: {digest}\nIt is active now.\n")
    again = place.run("trust", "greeter", "--expect", digest)
    assert again.code == 0
    assert again.out.startswith("Nothing to approve: exactly these files of greeter 1.0 are")


def test_s23_another_digest_is_refused(place: Place, greeter: Greeter) -> None:
    greeter()
    real = "lp1:sha256:" + digits(place)
    other = "lp1:sha256:" + "0" * 64
    result = place.run("trust", "greeter", "--expect", other)
    assert result.code == 1
    assert result.out == ""
    assert result.err == (
        f"Error: greeter is not approved: its tree is {real}, expected {other}. "
        "Look at what it brings before you go on.\nNext: lionplug info user:greeter\n"
    )
    assert state(place) == "untrusted"


@pytest.mark.parametrize(
    "change",
    [
        lambda digest: digest[:-1],
        lambda digest: digest[:17],
        lambda digest: digest.removeprefix("lp1:sha256:"),
        lambda digest: "lp1:sha256:" + digest[11:].upper().replace("0", "A"),
        lambda digest: digest + "0",
        lambda digest: " " + digest,
        lambda digest: "",
    ],
    ids=["short", "six digits", "bare", "upper case", "long", "space", "empty"],
)
def test_s23_expect_takes_the_full_digest_only(
    place: Place, greeter: Greeter, change: Callable[[str], str]
) -> None:
    greeter()
    result = place.run("trust", "greeter", "--expect", change("lp1:sha256:" + digits(place)))
    assert result.code == 2, result
    assert "--expect: " in result.err
    assert "is no full tree digest; expected lp1:sha256: and 64 hex digits." in result.err
    assert state(place) == "untrusted"


def test_expect_and_yes_exclude_each_other(place: Place, greeter: Greeter) -> None:
    greeter()
    result = place.run("trust", "greeter", "--yes", "--expect", "lp1:sha256:" + "0" * 64)
    assert result.code == 2
    assert "Error: --expect and --yes exclude each other" in result.err


def test_trust_takes_one_plugin(place: Place, greeter: Greeter) -> None:
    greeter()
    greeter(name="other")
    result = place.run("trust", "greeter", "other", "--expect", "lp1:sha256:" + "0" * 64)
    assert result.code == 2


def test_a_second_approval_shows_the_difference_first(place: Place, greeter: Greeter) -> None:
    root = greeter()
    place.approve()
    with (root / "tools" / "greet.py").open("a") as file:
        file.write("SECOND = 2\n")
    wanted = digits(place)[:6]
    terminal = ask(place)
    shown = terminal.text
    assert shown.index("What changed since the approval:") < shown.index("+SECOND = 2")
    assert shown.index("+SECOND = 2") < shown.index(QUESTION)
    terminal.type(wanted + "\n")
    assert terminal.finish() == 0, terminal.text
    assert state(place) == "active"


def test_what_is_redirected_is_shown_on_the_terminal_too(
    place: Place, greeter: Greeter, tmp_path: Path
) -> None:
    greeter()
    wanted = digits(place)[:6]
    with (tmp_path / "log").open("wb") as log:
        terminal = place.terminal("trust", "greeter", stdout=log.fileno())
        terminal.wait_for(QUESTION)
        assert "tools/greet.py" in terminal.text
        terminal.type(wanted + "\n")
        assert terminal.finish() == 0, terminal.text
    written = (tmp_path / "log").read_text()
    assert "tools/greet.py" in written
    assert QUESTION not in written


def test_json_answers_on_standard_output_and_shows_on_standard_error(
    place: Place, greeter: Greeter
) -> None:
    greeter()
    digest = "lp1:sha256:" + digits(place)
    result = place.run("trust", "greeter", "--expect", digest, "--json")
    assert result.code == 0, result
    assert result.json["approved"] is True
    assert result.json["changed"] is True
    assert result.json["digest"] == digest
    assert result.json["state"] == "active"
    assert "tools/greet.py" in result.err


def test_swapped_files_while_it_is_asked_are_not_approved(place: Place, greeter: Greeter) -> None:
    root = greeter()
    wanted = digits(place)[:6]
    terminal = ask(place)
    (root / "tools" / "greet.py").write_text("def greet(who): return 'evil'\n")
    terminal.type(wanted + "\n")
    assert terminal.finish() == 0, terminal.text
    assert state(place) == "changed"
    assert place.run("call", "greet", "who=you").code == 1


def test_revoke_takes_the_approval_back(place: Place, greeter: Greeter) -> None:
    root = greeter()
    place.approve()
    result = place.run("revoke", "greeter")
    assert result.code == 0
    assert result.out == (
        f"Revoked greeter at {root}.\n"
        "No new call enters it. A running program that has loaded its code keeps that\n"
        "code: restart lionplug to be rid of it.\n"
    )
    assert state(place) == "untrusted"
    again = place.run("revoke", "greeter")
    assert (again.code, again.out) == (0, "Nothing changed: greeter is not approved.\n")
    assert place.json("revoke", "greeter")["revoked"] is False
    assert not place.marker.exists()


@pytest.mark.parametrize("damage", ["gone", "invalid", "unreadable"])
def test_revoke_works_whatever_is_left_of_the_plugin(
    place: Place, greeter: Greeter, damage: str
) -> None:
    root = greeter()
    place.approve()
    if damage == "gone":
        shutil.rmtree(root)
    elif damage == "invalid":
        (root / "plugin.yaml").write_text("{")
    else:
        (root / "plugin.yaml").unlink()
        os.mkfifo(root / "plugin.yaml")
    result = place.json("revoke", "greeter")
    assert result == {
        "name": "greeter",
        "location": str(root),
        "revoked": True,
        "was_imported": False,
    }


def test_what_another_plugin_has_too_is_said_after_approving(
    place: Place, greeter: Greeter
) -> None:
    greeter()
    greeter(name="dup")
    place.approve()
    digest = place.json("info", "dup")["digest"]
    result = place.run("trust", "dup", "--expect", digest)
    assert result.code == 0
    _, _, told = result.out.partition("It is active now.\n")
    assert told.replace("\n", " ").strip() == (
        'But tool "greet" is refused: dup (user:dup) and greeter (user:greeter) both declare '
        'tool "greet"; disable one of them.'
    )


def test_an_approved_plugin_needs_no_terminal_to_say_so(place: Place, greeter: Greeter) -> None:
    greeter()
    place.approve()
    result = place.run("trust", "greeter")
    assert result.code == 0
    assert result.out.startswith("Nothing to approve: exactly these files")
