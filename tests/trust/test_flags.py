"""Flags of single files: one fixture for each (security rule S25)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionplug.text import is_blank
from lionplug.trust.flags import EXAMINED, LONG_CODE_LINE, Flag, flags_of


def flags(path, data, **options):
    found = flags_of(path, data.encode() if isinstance(data, str) else data, **options)
    return {flag.code: flag for flag in found}


def one(path, data, **options):
    (flag,) = flags(path, data, **options).values()
    return flag


def test_s25_ordinary_files_have_no_flags():
    assert flags("a.py", "# coding: utf-8\nx = 'Gr\u00fc\u00dfe'\r\n\t\f", code=True) == {}
    assert flags("a.md", "\ufeff# Title\n\n\u4f60\u597d \u00bd \u2713\u00a0x\n") == {}
    assert flags("a.json", b"") == {}


def test_s25_invisible_characters_in_instructions():
    flag = one("agents/a.md", "Do\u200b this.\nAnd\U000e0041\U000e0042 that.\n")
    assert (flag.code, flag.severity, flag.count) == ("invisible", "warn", 3)
    assert str(flag) == "3 invisible characters (at 1:3, 2:4, 2:5)"


def test_s25_invisible_characters_in_code():
    flag = one("a.py", "x = 1\nif x\u3164: pass\n", code=True)
    assert str(flag) == "1 invisible character (at 2:5)"


def test_s25_directions_of_text():
    flag = one("a.py", "x = '\u202e' # \u2066\n", code=True)
    assert (flag.code, flag.count) == ("bidi", 2)
    assert str(flag) == "2 characters that steer the direction of text (at 1:6, 1:11)"


def test_s25_only_the_first_positions_are_named():
    flag = one("a.md", "\u200b\n" * 7)
    assert flag.count == 7
    assert str(flag) == "7 invisible characters (at 1:1, 2:1, 3:1, 4:1, 5:1, ...)"


def test_s25_a_lone_carriage_return_begins_a_line():
    flag = one("a.py", "# harmless\rimport os\r\n", code=True)
    assert (flag.code, flag.count, flag.positions) == ("lone-cr", 1, ((1, 11),))
    assert str(flag) == "1 lone carriage return, which begins a new line of code (at 1:11)"
    assert one("a.py", "\r\r\r\n", code=True).count == 2


def test_s25_control_characters():
    flag = one("a.md", "\x1b[2J\x07\x9b")
    assert (flag.code, flag.count) == ("control", 3)


@pytest.mark.parametrize("character", ["\x85", "\u2028", "\u2029"])
def test_s25_hidden_line_breaks_are_refused_in_manifests(character):
    flag = one("plugin.yaml", f"name: x # {character}evil: y", manifest=True)
    assert (flag.code, flag.severity, flag.positions) == ("separator", "refuse", ((1, 11),))
    assert one("a.md", f"a{character}b").severity == "warn"


@pytest.mark.parametrize("path", ["a.py", "b/c.pyw", "script"])
def test_s25_another_encoding_is_refused_in_python(path):
    head = "#!/usr/bin/env python3\n" if path == "script" else ""
    flag = one(path, f"{head}# coding: unicode_escape\n# \\nimport os\n", code=True)
    assert (flag.code, flag.severity) == ("encoding", "refuse")
    assert str(flag) == (
        "declares the source encoding unicode_escape, so Python reads other code than is shown; "
        "only UTF-8 can be approved"
    )
    assert flags("a.txt", "# coding: unicode_escape") == {}


@pytest.mark.parametrize("path", ["a.py", "b/c.pyw", "D.PY"])
@pytest.mark.parametrize(
    ("data", "byte", "offset"),
    [
        ("x = 1\n".encode("utf-16"), "0xff", "0"),
        ("x = 1\n".encode("utf-16-le"), "0x00", "1"),
        ("x = 1\n".encode("utf-16-be"), "0x00", "0"),
        ("x = 1\n".encode("utf-32"), "0xff", "0"),
        ("# \u00e9\n".encode("latin-1"), "0xe9", "2"),
        ("# coding: latin-1\n# \u00e9\n".encode("latin-1"), "0xe9", "20"),
        (b"\xef\xbb\xbfx = '\xc3'\n", "0xc3", "8"),
        (b"# \xed\xa0\x80\n", "0xed", "2"),
        (b"# \xc0\x80\n", "0xc0", "2"),
        (b"x = 1\n# \0import os\n", "0x00", "8"),
        (b"x\n" * (EXAMINED // 2) + b"\xff", "0xff", f"{EXAMINED:,}"),
        (b"x\n" * (EXAMINED // 2) + b"\0", "0x00", f"{EXAMINED:,}"),
    ],
)
def test_s25_python_that_is_no_utf8_is_refused(path, data, byte, offset):
    flag = one(path, data, code=True)
    assert (flag.code, flag.severity) == ("encoding", "refuse")
    assert str(flag) == (
        f"is no text in UTF-8: found the byte {byte} at offset {offset}, so it can't be shown as "
        "Python would read it; save it as UTF-8 without NUL characters, or give it another ending "
        "if it is no Python source"
    )


@given(st.binary(max_size=60))
def test_s25_python_is_refused_exactly_where_it_is_no_utf8(data):
    try:
        good = "\0" not in data.decode("utf-8")
    except UnicodeDecodeError:
        good = False
    refused = [flag for flag in flags_of("a.py", data) if flag.message.startswith("is no text")]
    assert bool(refused) != good


def test_s25_a_byte_order_mark_and_any_character_are_allowed_in_python():
    assert flags("a.py", b"\xef\xbb\xbfx = '\xf0\x9f\xa6\x81'\n", code=True) == {}


def test_s25_binaries():
    for data in (b"\x7fELF\x00", b"\xff\xfea", "text".encode("utf-16")):
        assert str(one("a.bin", data)) == "binary content, which can't be shown as text"


def test_s25_minified_lines():
    line = "x" * (LONG_CODE_LINE + 1)
    flag = one("a.js", f"a\n{line}\n", code=True)
    assert (flag.code, flag.positions) == ("long-line", ((2, 1),))
    assert str(flag) == (
        "minified: 1 line of more than 1,000 characters, the longest 1,002 (at 2:1)"
    )
    assert flags("a.md", f"a\n{line}\n") == {}
    assert "minified: 2 lines of more than 5,000" in str(one("a.md", f"{line * 5}\n" * 2))


def test_s25_what_was_not_examined_is_said():
    whole = b"x\n" * (EXAMINED // 2)
    assert flags("a.txt", whole) == {}
    found = flags("a.txt", whole + "\u200b".encode())
    assert [str(flag) for flag in found.values()] == [
        f"not examined beyond its first {EXAMINED:,} of {EXAMINED + 3:,} bytes"
    ]
    # The examined part ends inside a character, which does not make it a binary.
    assert list(flags("a.txt", b"x" + whole[:-2] + "\u4f60".encode())) == ["unexamined"]
    assert list(flags("a.txt", whole[:-1] + b"\xff\xff" + whole)) == ["unexamined", "binary"]


@given(st.characters(exclude_categories=["Cs"]))
def test_s25_every_character_that_draws_nothing_is_flagged(character):
    if is_blank(character):
        assert flags("a.md", f"a{character}b").keys() <= {"invisible", "bidi"}
        assert flags("a.md", f"a{character}b")
    else:
        assert not flags("a.md", f"a{character}b").keys() & {"invisible", "bidi"}


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes(data, code):
    for flag in flags_of("a.py", data, code=code):
        assert all(" " <= character <= "~" for character in str(flag))
        assert len(flag.positions) <= min(flag.count, 5)


def test_to_dict():
    flag = Flag(code="x", message="m", count=2, positions=((1, 2),))
    assert flag.to_dict() == {
        "code": "x",
        "severity": "warn",
        "message": "m",
        "count": 2,
        "positions": [[1, 2]],
    }
