"""Fields read what they want, say no with a place, and describe themselves as JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest
import yaml
from attrs import Factory, frozen
from hypothesis import given
from hypothesis import strategies as st

from lionplug.documents.declare import declared, decode, extensions, json_schema
from lionplug.documents.fields import (
    INVALID,
    AnyNode,
    Boolean,
    Choice,
    Integer,
    JsonValue,
    ListOf,
    MapOf,
    Nested,
    Number,
    Text,
)
from lionplug.documents.problems import Problems
from lionplug.documents.yaml import read_yaml


def read(field, text: str):
    """The value of ``a``, and what is wrong with it as (code, line, column, field, message)."""
    document = read_yaml(f"a: {text}\n".encode(), "f.yaml")
    problems = Problems("f.yaml")
    problems.path.append("a")
    value = field.read(document.items[0][1], problems)
    assert problems.path == ["a"]
    return value, [
        (one.code, one.line, one.column, one.field, one.message) for one in problems.found
    ]


def refusal(field, text: str) -> str:
    value, problems = read(field, text)
    assert value is INVALID
    [(_, line, column, path, message)] = problems
    assert (line, column, path) == (1, 4, "a")
    return message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.10", "1.10"),
        ("no", "no"),
        ("null", "null"),
        ("0x1f", "0x1f"),
        ("12:30", "12:30"),
        ("2026-01-01", "2026-01-01"),
        ("1e400", "1e400"),
        ("'~'", "~"),
        ('"a\\tb"', "a\tb"),
        ("two words # comment", "two words"),
        ("|\n  a\n  b", "a\nb\n"),
        (">\n  a\n  b", "a b\n"),
    ],
)
def test_a_text_keeps_the_authors_characters(text, value):
    assert read(Text(), text) == (value, [])


@given(
    st.text(
        st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029\ufeff"),
        min_size=1,
        max_size=40,
    )
)
def test_texts_round_trip(text):
    document = read_yaml(yaml.safe_dump({"a": text}, allow_unicode=True).encode(), "f.yaml")
    problems = Problems("f.yaml")
    assert Text().read(document.items[0][1], problems) == text
    assert problems.count == 0


@pytest.mark.parametrize(
    ("text", "found"),
    [("", "nothing"), ("~", "nothing"), ("''", "''"), ("[b]", "a list"), ("{b: c}", "a mapping")],
)
def test_what_is_no_text(text, found):
    document = read_yaml(f"a: {text}\n".encode(), "f.yaml")
    problems = Problems("f.yaml")
    assert Text(hint="a name").read(document.items[0][1], problems) is INVALID
    assert [one.message for one in problems.found] == [f"expected a name, found {found}."]


def test_an_empty_text_is_a_value_where_it_may_be():
    assert read(Text(empty=True), "''") == ("", [])
    assert read(Text(empty=True), "")[0] is INVALID


def test_texts_are_checked_by_length_pattern_and_reason():
    assert refusal(Text(max_length=3), "abcd") == "expected at most 3 characters, found 4."
    assert refusal(Text(pattern="[a-z]+", hint="letters"), "a1") == "expected letters, found 'a1'."
    assert refusal(Text(pattern="[a-z]+", hint="letters"), '"a\\n"') == (
        "expected letters, found 'a\\u{a}'."
    )
    check = Text(check=lambda text: None if text == "x" else "expected x")
    assert read(check, "x") == ("x", [])
    assert refusal(check, "\u202etxt") == "expected x, found '\\u{202e}txt'."


def test_a_choice_suggests():
    field = Choice(("deny", "continue"))
    assert read(field, "deny") == ("deny", [])
    assert refusal(field, "contine") == (
        "expected deny or continue, found 'contine' (did you mean 'continue'?)."
    )
    assert refusal(field, "[]") == "expected deny or continue, found a list."


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("True", True), ("false", False), ("FALSE", False)]
)
def test_booleans(text, value):
    assert read(Boolean(), text) == (value, [])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("yes", "'yes'"),
        ("on", "'on'"),
        ("1", "'1'"),
        ("", "nothing"),
        ("'true'", "'true' in quotes"),
        ("[]", "a list"),
    ],
)
def test_no_booleans(text, found):
    document = read_yaml(f"a: {text}\n".encode(), "f.yaml")
    problems = Problems("f.yaml")
    assert Boolean().read(document.items[0][1], problems) is INVALID
    assert [one.message for one in problems.found] == [
        f"expected true or false, found {found}; write true or false."
    ]


@pytest.mark.parametrize(("text", "value"), [("0", 0), ("-3", -3), ("100", 100)])
def test_integers(text, value):
    assert read(Integer(minimum=-3, maximum=100), text) == (value, [])


@pytest.mark.parametrize(
    "text", ["010", "0x1f", "1_000", "1.0", "1e2", "+1", "yes", "-4", "101", "9" * 5000, "{}"]
)
def test_no_integers(text):
    message = refusal(Integer(minimum=-3, maximum=100), text)
    assert message.startswith("expected a whole number from -3 to 100, found ")


@pytest.mark.parametrize(("text", "value"), [("0", 0), ("1.5", 1.5), ("-1e-1", -0.1)])
def test_numbers(text, value):
    assert read(Number(minimum=-1, maximum=2), text) == (value, [])


@pytest.mark.parametrize("text", [".5", "1.", ".inf", ".nan", "1:30", "1e999", "2.1", "[]"])
def test_no_numbers(text):
    message = refusal(Number(minimum=-1, maximum=2), text)
    assert message.startswith("expected a number from -1 to 2, found ")


def test_quoted_numbers_are_texts():
    assert refusal(Number(minimum=0, maximum=2), "'1'") == (
        "expected a number from 0 to 2, found '1' in quotes."
    )


def test_lists_collect_all_problems():
    field = ListOf(item=Integer(minimum=0, maximum=9), what="digits", least=1, most=3)
    assert read(field, "[1, 2]") == ((1, 2), [])
    value, problems = read(field, "[1, x, 3, y]")
    assert value is INVALID
    assert problems == [
        ("value", 1, 4, "a", "expected 1 to 3 digits, found 4."),
        ("type", 1, 8, "a[1]", "expected a whole number from 0 to 9, found 'x'."),
        ("type", 1, 14, "a[3]", "expected a whole number from 0 to 9, found 'y'."),
    ]
    assert refusal(field, "[]") == "expected 1 to 3 digits, found 0."
    assert refusal(field, "5") == "expected a list of digits, found '5'; put it in brackets."
    assert refusal(field, "{}") == "expected a list of digits, found a mapping."
    assert read(field, "")[1][0][4] == "expected a list of digits, found nothing."


def test_unique_lists_name_both_places():
    field = ListOf(item=Text(), unique=True)
    value, problems = read(field, "[b, c, 'b']")
    assert value is INVALID
    assert [one[4] for one in problems] == [
        "'b' stands twice, at line 1, column 5 and at line 1, column 11; keep one."
    ]
    assert read(ListOf(item=Text()), "[b, b]") == (("b", "b"), [])


def test_maps_check_keys_and_values():
    field = MapOf(key=Text(pattern="[A-Z]+", hint="capitals"), value=Integer(minimum=0, maximum=9))
    assert read(field, "{A: 1, B: 2}") == ({"A": 1, "B": 2}, [])
    value, problems = read(field, "{A: x, b: 2}")
    assert value is INVALID
    assert [(one[3], one[4]) for one in problems] == [
        ("a.A", "expected a whole number from 0 to 9, found 'x'."),
        ("a.b", "expected capitals, found 'b'."),
    ]
    assert refusal(field, "[]") == "expected a mapping, found a list."


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{b: [1, -2.5, true, null, ~, x, '1', 'true', '']}", {
            "b": [1, -2.5, True, None, None, "x", "1", "true", ""]
        }),
        ("[010, 0o17, 0x1F, 1e3, 1., .5, +7]", [10, 15, 31, 1000.0, 1.0, 0.5, 7]),
        ("[yes, no, on, 12:30, 1_0, 0b1, 2026-01-01]", [
            "yes", "no", "on", "12:30", "1_0", "0b1", "2026-01-01"
        ]),
        ("{1: a, true: b, null: c}", {"1": "a", "true": "b", "null": "c"}),
        ("[-9223372036854775807, 9223372036854775807]", [-(2**63 - 1), 2**63 - 1]),
    ],
)  # fmt: skip
def test_json_values_follow_the_core_schema(text, value):
    found, problems = read(JsonValue(), text)
    assert (found, problems) == (value, [])
    assert repr(found) == repr(value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (".inf", "expected a finite number, found '.inf'"),
        ("-.Inf", "expected a finite number, found '-.Inf'"),
        (".NaN", "expected a finite number, found '.NaN'"),
        ("1e999", "expected a number that fits 64 bits, found '1e999'"),
        (f"{2**63}", f"expected an integer that fits 64 bits, found '{2**63}'"),
        ("0xffffffffffffffff", "expected an integer that fits 64 bits, found '0xffffffffffffffff'"),
    ],
)  # fmt: skip
def test_json_values_that_json_cannot_carry(text, reason):
    assert refusal(JsonValue(), text) == f"{reason}; quote it if a text is meant."


def test_numbers_of_a_million_digits_are_refused_at_once():
    value, problems = read(JsonValue(), "[" + "9" * 500_000 + ", 0." + "9" * 400_000 + "]")
    assert value is INVALID
    assert len(problems) == 2


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(
        st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029\ufeff")
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", min_size=1), inner),
    max_leaves=12,
)


@given(JSON)
def test_json_data_round_trip(value):
    # YAML has no pairs of escapes for one character, which is how JSON in ASCII writes some.
    text = json.dumps({"a": value}, ensure_ascii=False)
    document = read_yaml(text.encode(), "f.yaml")
    problems = Problems("f.yaml")
    assert JsonValue().read(document.items[0][1], problems) == value
    assert problems.count == 0


@frozen(kw_only=True)
class Inner:
    size: int = declared(Integer(minimum=0, maximum=9), doc="How large.")
    kind: str = declared(Choice(("a", "b")), doc="Which.", default="a")


@frozen(kw_only=True)
class Outer:
    name: str = declared(Text(pattern="[a-z]+", hint="letters"), doc="Its name.")
    class_: str = declared(Text(), doc="Its class.", default="", key="class")
    inner: Inner | None = declared(  # noqa: RUF009
        Nested(Inner), doc="What is inside.", default=None
    )
    many: tuple[Inner, ...] = declared(ListOf(item=Nested(Inner)), doc="More.", default=())
    on: bool = declared(Boolean(), doc="Whether.", default=False)
    data: object = declared(JsonValue(), doc="Any data.", default=None)
    table: Mapping[str, str] = declared(
        MapOf(key=Text(), value=Text()), doc="A table.", default=Factory(dict)
    )
    node: object = declared(AnyNode(), doc="The node itself.", default=None)
    annotations: Mapping[str, Any] = extensions()

    def contradictions(self):
        if self.on and self.class_ == "off":
            yield "class", "value", "expected another class."
        if self.on and self.class_ == "":
            yield "class", "value", "expected a class."


def decoded(text: str):
    problems = Problems("f.yaml")
    value = decode(Outer, read_yaml(text.encode(), "f.yaml"), problems)
    return value, [str(one) for one in problems.found]


def test_a_mapping_becomes_an_instance():
    value, problems = decoded(
        "name: abc\nclass: 1.10\ninner: {size: 3}\nmany: [{size: 1, kind: b}]\non: true\n"
        "data: [1]\ntable: {a: no}\nx-note: {any: 1}\nx-2: b\n"
    )
    assert problems == []
    assert value == Outer(
        name="abc",
        class_="1.10",
        inner=Inner(size=3),
        many=(Inner(size=1, kind="b"),),
        on=True,
        data=[1],
        table={"a": "no"},
        annotations={"x-note": {"any": 1}, "x-2": "b"},
    )


def test_all_problems_come_at_once_in_the_order_of_the_file():
    value, problems = decoded(
        "nme: abc\nclass: [1]\ninner: {size: x, knd: b}\nmany: [{}, 3]\nzzzzzz: 1\nx-a: .inf\n"
    )
    assert value is INVALID
    assert problems == [
        "f.yaml:1:1: nme: the key 'nme' is not known (did you mean 'name'?). "
        "Keys of your own must begin with 'x-'.",
        "f.yaml:1:1: the key 'name' is missing; add it.",
        "f.yaml:2:8: class: expected a text, found a list.",
        "f.yaml:3:15: inner.size: expected a whole number from 0 to 9, found 'x'.",
        "f.yaml:3:18: inner.knd: the key 'knd' is not known (did you mean 'kind'?). "
        "Keys of your own must begin with 'x-'.",
        "f.yaml:4:8: many[0]: the key 'size' is missing; add it.",
        "f.yaml:4:12: many[1]: expected a mapping, found '3'.",
        "f.yaml:5:1: zzzzzz: the key 'zzzzzz' is not known; the keys here are name, class, inner, "
        "many, on, data, table or node. Keys of your own must begin with 'x-'.",
        "f.yaml:6:6: x-a: expected a finite number, found '.inf'; quote it if a text is meant.",
    ]


def test_contradictions_stand_at_their_key_or_at_the_mapping():
    assert decoded("name: a\non: true\nclass: off\n")[1] == ["f.yaml:3:8: expected another class."]
    assert decoded("on: true\nname: a\n")[1] == ["f.yaml:1:1: expected a class."]


def test_extensions_are_allowed_where_nothing_keeps_them():
    problems = Problems("f.yaml")
    document = read_yaml(b"size: 1\nx-a: 2\n", "f.yaml")
    assert decode(Inner, document, problems) == Inner(size=1)
    assert repr(INVALID) == "INVALID"


def test_what_is_no_mapping():
    problems = Problems("f.yaml")
    document = read_yaml(b"a: [1]", "f.yaml")
    assert decode(Outer, document.items[0][1], problems) is INVALID
    assert [one.message for one in problems.found] == ["expected a mapping, found a list."]


def test_hostile_keys_are_shown_in_printable_ascii():
    _, problems = decoded('name: a\n"\\e[2J\\u202e": 1\n' + "k" * 300 + ": 1\n")
    assert all(text.isascii() and text.isprintable() for text in problems)
    assert all(len(text) < 400 for text in problems)


def test_the_json_schema_says_the_same():
    schema = json_schema(Outer)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["required"] == ["name"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["on"] == {
        "type": "boolean",
        "description": "Whether.",
        "default": False,
    }
    validator = jsonschema.Draft202012Validator(schema)
    for text in (
        "name: abc\n",
        "name: abc\nclass: 1.10\ninner: {size: 3}\nx-a: [1]\n",
        "name: 1\n",
        "name: a1\n",
        "name: a\nnme: b\n",
        "name: a\ninner: {size: 10}\n",
        "name: a\ninner: {size: 1, kind: c}\n",
        "name: a\nmany: [{}]\n",
        "name: a\nclass: ''\n",
        "{}",
    ):
        value, problems = decoded(text)
        assert validator.is_valid(yaml.safe_load(text)) == (value is not INVALID) or text == (
            "name: 1\n"  # a pattern says nothing about what YAML takes for a number
        ), (text, problems)
