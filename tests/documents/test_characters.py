"""Bytes that are no text that every YAML reader reads alike are refused (S30)."""

from __future__ import annotations

import pytest

from lionplug.documents.yaml import read_yaml
from lionplug.errors import ManifestError


def problems_of(data: bytes):
    with pytest.raises(ManifestError) as caught:
        read_yaml(data, "plugin.yaml")
    return [
        (problem.code, problem.line, problem.column, problem.message)
        for problem in caught.value.problems
    ]


def test_s30_more_than_a_mebibyte_is_refused_before_it_is_parsed():
    data = b"a: " + b"x" * 2**20
    assert problems_of(data) == [
        (
            "too-large",
            0,
            0,
            "expected at most 1048576 bytes, found 1048579; move long texts into files of their "
            "own.",
        )
    ]
    assert read_yaml(data[: 2**20], "plugin.yaml").items[0][1].text == "x" * (2**20 - 3)


@pytest.mark.parametrize(
    ("codec", "name"),
    [
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16"),
        ("utf-16-be", "UTF-16"),
        ("utf-32", "UTF-32"),
        ("utf-32-le", "UTF-32"),
        ("utf-32-be", "UTF-32"),
    ],
)
def test_s30_wide_encodings_are_named(codec, name):
    assert problems_of("name: demo".encode(codec)) == [
        ("encoding", 1, 1, f"expected UTF-8, found {name}; save the file as UTF-8.")
    ]


def test_s30_bad_bytes_are_placed_by_offset_line_and_column():
    assert problems_of(b"\xef\xbb\xbfa: 1\nb: \xc3\xa9\xff") == [
        (
            "encoding",
            2,
            5,
            "expected UTF-8, found the byte 0xff at offset 13; save the file as UTF-8.",
        )
    ]


@pytest.mark.parametrize(
    ("text", "code", "place", "message"),
    [
        ("a: 1\nb: \0", "nul", (2, 4), "expected text, found a NUL character; remove it."),
        (
            "a: 1\rb: 2",
            "lone-cr",
            (1, 5),
            "found a carriage return without a line feed, which some readers take for the end "
            "of the line and some don't; end lines with LF or CRLF.",
        ),
        (
            "# x\u2028b: 2",
            "line-separator",
            (1, 4),
            "found LS (U+2028), which some readers take for the end of the line and some don't; "
            "remove it, or write it as an escape in double quotes.",
        ),
        (
            "# x\u2029b: 2",
            "line-separator",
            (1, 4),
            "found PS (U+2029), which some readers take for the end of the line and some don't; "
            "remove it, or write it as an escape in double quotes.",
        ),
        (
            "# x\x85b: 2",
            "line-separator",
            (1, 4),
            "found NEL (U+0085), which some readers take for the end of the line and some don't; "
            "remove it, or write it as an escape in double quotes.",
        ),
        (
            "a: \x1b[2J",
            "control-character",
            (1, 4),
            "found the control character U+001B; remove it, or write it as an escape in double "
            "quotes.",
        ),
        (
            "a: b\ufeff",
            "byte-order-mark",
            (1, 5),
            "found a byte order mark inside the text; remove it.",
        ),
    ],
)
def test_s30_each_refused_character_has_its_own_message(text, code, place, message):
    assert problems_of(text.encode()) == [(code, *place, message)]


def test_all_refused_characters_are_told_with_their_places():
    found = problems_of("a: \x01\r\n\r\n\u00e9\x7f\x02".encode())
    assert [(code, line, column) for code, line, column, _ in found] == [
        ("control-character", 1, 4),
        ("control-character", 3, 2),
        ("control-character", 3, 3),
    ]


def test_what_is_not_told_is_counted():
    found = problems_of(b"\x01" * 80)
    assert len(found) == 51
    assert found[-1] == ("more", 0, 0, "30 more problems are not shown; mend these first.")


def test_a_byte_order_mark_and_crlf_are_fine():
    document = read_yaml(b"\xef\xbb\xbfname: demo\r\nversion: 1.10\r\n", "plugin.yaml")
    assert [(key.text, value.text) for key, value in document.items] == [
        ("name", "demo"),
        ("version", "1.10"),
    ]
    first, second = (key for key, _ in document.items)
    assert (first.line, first.column, second.line, second.column) == (1, 1, 2, 1)
