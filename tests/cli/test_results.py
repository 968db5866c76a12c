"""What a tool returned, shown as text and as JSON."""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionplug.cli.output import encode_json, readable_json, visible
from lionplug.cli.results import result_lines, spelled_out, to_json


@dataclass
class Point:
    x: int
    y: Any


class Rude:
    def __repr__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ((1, (2,)), [1, [2]]),
        ({2, 1}, [1, 2]),
        (frozenset("a"), ["a"]),
        (OrderedDict(a=1), {"a": 1}),
        ({1: "a", None: "b"}, {"1": "a", "None": "b"}),
        (Point(1, Point(2, ())), {"x": 1, "y": {"x": 2, "y": []}}),
        (Point, repr(Point)),
        (b"a", "b'a'"),
        (math.inf, "inf"),
        (1 + 2j, "(1+2j)"),
        (Rude(), "<Rude: its repr raised ValueError>"),
    ],
)
def test_every_value_has_a_json_form(value: object, expected: object) -> None:
    assert to_json(value).value == expected


def test_a_value_that_holds_itself_ends() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert json.dumps(to_json(loop).value).endswith('"[[...]]"' + "]" * 64)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(JSON)
def test_a_document_is_ascii_and_strict_json(value: object) -> None:
    text = encode_json(to_json(value).value)
    assert text.isascii()
    assert all(character == "\n" or character.isprintable() for character in text)

    def refuse(name: str) -> Any:
        raise AssertionError(name)

    json.loads(text, parse_constant=refuse)


def test_text_is_printed_as_it_is_with_controls_escaped() -> None:
    assert result_lines("a\n\tb\x1b[2J\r\n\u200bü\\u{41}\n") == [
        "a",
        "        b\\u{1b}[2J",
        "\\u{200b}ü\\u{5c}u{41}",
    ]
    assert result_lines("") == [""]
    assert result_lines([1]) == ["[", "  1", "]"]


@given(JSON)
def test_json_for_people_says_the_same_and_hides_nothing(value: object) -> None:
    data = to_json(value).value
    text = readable_json(data)
    assert visible(text) == text
    assert json.loads(text) == json.loads(encode_json(data))


class Odd:
    pass


Odd.__name__ = "Odd\x1b"


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        ([1, "a", (2,), {3}, None, {"a": 1.5}], ()),
        ({"a": b"x", "b": [b"y", math.nan, -math.inf]}, ("bytes", "nan", "-inf")),
        (Odd(), ("Odd\x1b",)),
    ],
)
def test_what_became_text_is_counted_once(value: object, kinds: tuple[str, ...]) -> None:
    assert to_json(value).as_text == kinds


def test_kinds_are_foreign_text() -> None:
    assert spelled_out([]) == []
    (line,) = spelled_out(["Odd\x1b"])
    assert line.endswith(": Odd\\u{1b}.")
