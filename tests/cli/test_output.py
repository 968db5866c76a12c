"""The streams, the last sieve, the tables."""

from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionplug.cli.output import ClosedOutputError, Output, columns, is_plain, visible
from lionplug.cli.tables import Cell, Column, draw_table


class Stream(io.StringIO):
    """A stream that may be a terminal."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@given(st.text())
def test_the_sieve_lets_no_control_or_format_character_pass(text: str) -> None:
    shown = visible(text)
    kinds = {unicodedata.category(character) for character in shown if character != "\n"}
    assert not kinds & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert visible(shown) == shown


def test_the_sieve_keeps_letters_and_escapes() -> None:
    assert visible("aü\n\\u{1b}") == "aü\n\\u{1b}"
    assert visible("\x1b[1m\x7f\u3164\r") == "\\u{1b}[1m\\u{7f}\\u{3164}\\u{d}"


@pytest.mark.parametrize(
    ("terminal", "variables", "plain"),
    [
        (True, {}, False),
        (True, {"NO_COLOR": "1"}, True),
        (True, {"NO_COLOR": ""}, False),
        (True, {"TERM": "dumb"}, True),
        (False, {}, True),
        (False, {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1"}, True),
    ],
)
def test_escape_codes_only_on_a_willing_terminal(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, variables: dict[str, str], plain: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    stream = Stream(terminal)
    assert is_plain(stream) is plain
    drawn = draw_table([Column(title="A")], [[Cell(text="x", style="green")]], stream)
    assert ("\x1b" in drawn) is not plain
    assert is_plain(None)


def test_a_table_interprets_nothing() -> None:
    hostile = "[bold]x[/bold] :lock: https://a.b [link=x]y[/link] 12"
    drawn = draw_table([Column(title="[i]T[/i]")], [[Cell(text=hostile)]], Stream(False))
    assert drawn == f"[i]T[/i]\n{hostile}\n"
    assert "\x1b[2J" not in draw_table([Column(title="T")], [[Cell(text="\x1b[2J")]], Stream(True))


@given(st.lists(st.text("ab -", min_size=1, max_size=200), min_size=1, max_size=4))
def test_a_table_fits_80_columns_and_hides_nothing(texts: list[str]) -> None:
    heads = [Column(title="N", least=8, most=32), Column(title="V", least=7, most=12)]
    heads += [Column(title="A")]
    rows = [[Cell(text=text), Cell(text="1.0"), Cell(text=text)] for text in texts]
    drawn = draw_table(heads, rows, Stream(False))
    assert max(map(len, drawn.split("\n"))) <= 80
    for letter in "ab":
        assert drawn.count(letter) == 2 * sum(text.count(letter) for text in texts)


def test_width_is_the_terminals_or_80(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "123")
    assert columns(Stream(True)) == 123
    assert columns(Stream(False)) == 80
    assert columns(None) == 80
    monkeypatch.setenv("COLUMNS", "5")
    assert columns(Stream(True)) == 40


def test_json_puts_text_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output()
    output.document({"not": "asked for"})
    output.text("as text")
    output.as_json = True
    output.text(["one", "two"])
    output.note("three")
    output.document({"ü": "\x7f"})
    out, err = capsys.readouterr()
    assert out == 'as text\n{\n  "\\u00fc": "\\u007f"\n}\n'
    assert err == "one\ntwo\nthree\n"
    assert output.width == 80


def test_an_ascii_stream_gets_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding="ascii"))
    Output().text("ü")
    assert raw.getvalue() == b"\\xfc\n"


class Broken(io.StringIO):
    buffer = io.BytesIO()

    def write(self, text: str) -> int:
        raise BrokenPipeError

    def flush(self) -> None:
        raise BrokenPipeError


@pytest.mark.parametrize("stream", [Broken(), None])
def test_a_closed_output_ends_the_command_quietly(
    monkeypatch: pytest.MonkeyPatch, stream: Broken | None
) -> None:
    monkeypatch.setattr("sys.stdout", stream)
    with pytest.raises(ClosedOutputError):
        Output().text("x")
    with pytest.raises(ClosedOutputError):
        Output().raw(b"x")
    monkeypatch.setattr("sys.stderr", stream)
    Output().note("nobody hears it")
