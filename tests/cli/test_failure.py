"""How failures are told: exit code, text, JSON."""

from __future__ import annotations

import click
import pytest

from lionplug import errors
from lionplug.cli.failure import Failure, ToolFailure, explain
from lionplug.cli.output import ClosedOutputError
from tests.cli.place import Place


def told(error: BaseException, *, debug: bool = False) -> Failure:
    try:
        raise error
    except BaseException as caught:  # noqa: BLE001 - raised to have a traceback
        return explain(caught, debug=debug)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.LionplugError("x"), 1),
        (errors.PluginNotFoundError("x"), 1),
        (errors.NotGrantedError("x"), 1),
        (errors.AmbiguousNameError("x"), 2),
        (errors.UsageError("x"), 2),
        (click.UsageError("x"), 2),
        (click.ClickException("x"), 1),
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
        (ClosedOutputError(), 141),
        (BrokenPipeError(), 141),
        (RuntimeError("x"), 1),
        (MemoryError(), 1),
    ],
)
def test_exit_codes(error: BaseException, code: int) -> None:
    failure = told(error)
    assert failure.code == code
    assert bool(failure.lines) is (code != 141)


def test_an_error_ends_with_the_command_to_run() -> None:
    error = errors.NotGrantedError(
        "web is untrusted.", plugin="web", state="untrusted", command="lionplug trust web"
    )
    failure = told(error)
    assert failure.lines == ("Error: web is untrusted.", "Next: lionplug trust web")
    assert failure.error == {
        "type": "NotGrantedError",
        "message": "web is untrusted.",
        "plugin": "web",
        "file": None,
        "field": None,
        "command": "lionplug trust web",
        "state": "untrusted",
        "surface": None,
        "name": None,
        "problems": [],
        "choices": [],
    }


def test_problems_and_choices_are_data() -> None:
    problem = errors.Problem("unknown-key", "no such key", file="plugin.yaml", line=3, column=1)
    failure = told(errors.ManifestError([problem], "2 problems:", plugin="web"))
    assert failure.error["problems"] == [problem.to_dict()]
    assert failure.lines == ("Error: 2 problems:", "plugin.yaml:3:1: no such key")
    failure = told(errors.ArgumentsError("bad", problems=["limit: not an integer"]))
    assert failure.error["problems"] == [{"message": "limit: not an integer"}]
    failure = told(errors.AmbiguousNameError("two", choices=["user:a", "project:a"]))
    assert failure.error["choices"] == ["user:a", "project:a"]


def test_the_unexpected_is_one_line_and_a_hint() -> None:
    failure = told(OSError(28, "No space\x1b[2J\nleft"))
    assert failure.lines == (
        "Error: OSError: [Errno 28] No space\\u{1b}[2J left",
        "This was not expected; run again with --debug for the traceback.",
    )
    assert told(KeyError()).lines[0] == "Error: KeyError"


def test_debug_shows_the_traceback_with_nothing_hidden_in_it() -> None:
    failure = told(RuntimeError("a\x1b[2J"), debug=True)
    assert failure.lines[0] == "Traceback (most recent call last):"
    assert "RuntimeError: a\\u{1b}[2J" in failure.lines
    assert failure.lines[-2] == "Error: RuntimeError: a\\u{1b}[2J"
    assert told(click.UsageError("x"), debug=True).lines == ("Error: x",)


def test_a_tools_own_error_names_tool_and_plugin() -> None:
    cause = ValueError("bad\nworse\x07")
    vars(cause)["__notes__"] = ["in plugin web"]  # as add_note does, from Python 3.11 on
    failure = ToolFailure("search", "web")
    failure.__cause__ = cause
    shown = told(failure)
    assert shown.code == 1
    assert shown.lines == (
        "Error: tool search of web failed:",
        "ValueError: bad",
        "worse\\u{7}",
        "in plugin web",
        "Run again with --debug for the traceback.",
    )
    assert shown.error["type"] == "ValueError"
    assert (shown.error["plugin"], shown.error["name"]) == ("web", "search")


def test_without_a_command_the_help_is_shown(place: Place) -> None:
    result = place.run()
    assert (result.code, result.out) == (2, "")
    assert result.err == place.run("--help").out
    assert "Error" not in result.err


def test_choices_stand_on_lines_of_their_own_and_foreign_text_is_escaped(place: Place) -> None:
    result = place.run("completion")
    assert result.code == 2
    assert result.err.endswith(
        "Error: Missing argument 'SHELL'. Choose from:\n  bash,\n  fish,\n  zsh\n"
    )
    assert "\\u{9}" in place.run("info", "a\tb").err
    assert "\x1b" not in place.run("--a\x1b").err
