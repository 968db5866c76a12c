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

from lionplug.cli.output import encode_json
from lionplug.cli.results import jsonable, result_lines


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
    assert jsonable(value) == expected


def test_a_value_that_holds_itself_ends() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert json.dumps(jsonable(loop)).endswith('"[[...]]"' + "]" * 64)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(JSON)
def test_a_document_is_ascii_and_strict_json(value: object) -> None:
    text = encode_json(jsonable(value))
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
