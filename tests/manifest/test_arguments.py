"""Arguments are checked with sentences of ours, by RE2, and without reaching for anything."""

from __future__ import annotations

import subprocess
import sys
import time

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referencing.exceptions import NoSuchResource

from lionplug.manifest.arguments import _refuse as retrieve
from lionplug.manifest.parameters import validator
from lionplug.manifest.sentences import explain


def problems(schema, value):
    """What is wrong with ``arguments.a``, without that place."""
    schema = {"type": "object", "properties": {"a": schema}}
    found = validator(schema).problems({"a": value})
    assert all(text.startswith("arguments.a") for text in found)
    return [text.removeprefix("arguments.a") for text in found]


@pytest.mark.parametrize(
    ("schema", "value", "sentence"),
    [
        ({"type": "string"}, 3, ": expected a string, found 3"),
        ({"type": "integer"}, "x", ": expected a whole number, found 'x'"),
        ({"type": "number"}, True, ": expected a number, found true"),
        ({"type": ["array", "null"]}, {}, ": expected a list or null, found an empty object"),
        ({"type": "object"}, [1, 2], ": expected an object, found a list of 2"),
        ({"type": "boolean"}, None, ": expected true or false, found null"),
        ({"type": "string"}, 10**30, ": expected a string, found a very large number"),
        ({"type": "string"}, 1.5, ": expected a string, found 1.5"),
        ({"type": "string"}, {1}, ": expected a string, found a set"),
        ({"type": "string"}, {"b": 1}, ": expected a string, found an object"),
        ({"type": "string"}, [], ": expected a string, found an empty list"),
        ({"enum": ["x", 1, None]}, "y", ": expected 'x', 1 or null, found 'y'"),
        (
            {"enum": [*range(20)]},
            "y",
            ": expected 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 or 10 others, found 'y'",
        ),
        ({"enum": []}, "y", ": expected nothing, found 'y'"),
        ({"const": "x"}, "y", ": expected 'x', found 'y'"),
        ({"minimum": 3}, 2, ": expected at least 3, found 2"),
        ({"maximum": 3}, 4, ": expected at most 3, found 4"),
        ({"exclusiveMinimum": 3}, 3, ": expected more than 3, found 3"),
        ({"exclusiveMaximum": 3}, 3, ": expected less than 3, found 3"),
        ({"multipleOf": 3}, 4, ": expected a multiple of 3, found 4"),
        ({"minLength": 3}, "ab", ": expected at least 3 characters, found 2"),
        ({"maxLength": 1}, "ab", ": expected at most 1 characters, found 2"),
        ({"minItems": 1}, [], ": expected at least 1 items, found 0"),
        ({"maxItems": 1}, [1, 2], ": expected at most 1 items, found 2"),
        ({"minProperties": 1}, {}, ": expected at least 1 properties, found 0"),
        ({"maxProperties": 0}, {"b": 1}, ": expected at most 0 properties, found 1"),
        ({"uniqueItems": True}, [1, 1], ": expected items that all differ"),
        ({"contains": {"type": "null"}}, [1], ": expected an item of another form, found none"),
        (
            {"contains": True, "minContains": 2},
            [1],
            ": expected at least 2 items of one form",
        ),
        ({"contains": True, "maxContains": 1}, [1, 2], ": expected at most 1 items of one form"),
        ({"prefixItems": [True], "items": False}, [1, 2], ": expected no more items"),
        ({"prefixItems": [True], "unevaluatedItems": False}, [1, 2], ": expected no more items"),
        ({"pattern": "^b+$"}, "abc", ": expected a match of the pattern '^b+$', found 'abc'"),
        ({"required": ["b"]}, {}, ": 'b' is missing"),
        ({"dependentRequired": {"b": ["c"]}}, {"b": 1}, ": 'c' is missing"),
        (
            {"properties": {"query": {}}, "additionalProperties": False},
            {"qery": 1},
            ": 'qery' is not known (did you mean 'query'?)",
        ),
        ({"unevaluatedProperties": False}, {"b": 1}, ": holds properties that are not known"),
        ({"not": {"type": "string"}}, "x", ": found 'x', which is excluded"),
        (False, "x", ": expected nothing here"),
        ({"items": {"type": "string"}}, ["x", 1], "[1]: expected a string, found 1"),
        (
            {"patternProperties": {"^n": {"type": "number"}}, "additionalProperties": False},
            {"n1": "x"},
            ".n1: expected a number, found 'x'",
        ),
        (
            {"additionalProperties": {"type": "number"}},
            {"\u202eb c": "x"},
            ".\\u{202e}b c: expected a number, found 'x'",
        ),
        (
            {"propertyNames": {"maxLength": 1}},
            {"bc": 1},
            ": expected at most 1 characters, found 2",
        ),
        (
            {"anyOf": [{"type": "string"}, {"properties": {"b": {"type": "string"}}}]},
            {"b": 1},
            ": expected one of 2 forms, found an object; nearest: arguments.a.b: expected a "
            "string, found 1",
        ),
        (
            {"oneOf": [{"type": "string"}, {"type": "null"}]},
            1,
            ": expected one of 2 forms, found 1; nearest: arguments.a: expected a string, found 1",
        ),
        (
            {"oneOf": [{"type": "string"}, {"minLength": 1}]},
            "x",
            ": expected exactly one of 2 forms, found several that fit",
        ),
        ({"anyOf": [False]}, 1, ": expected one of 1 forms, found 1; nearest: arguments.a: "
         "expected nothing here"),
    ],
)  # fmt: skip
def test_each_keyword_has_its_sentence(schema, value, sentence):
    assert problems(schema, value) == [sentence]


def test_nested_places_are_whole():
    schema = {
        "type": "object",
        "properties": {"a": {"items": {"properties": {"b": {"type": "string"}}}}},
        "anyOf": [{"properties": {"a": {"items": {"required": ["c"]}}}}],
    }
    assert validator(schema).problems({"a": [{"b": 1}]}) == [
        "arguments.a[0].b: expected a string, found 1",
        "arguments: expected one of 1 forms, found an object; nearest: "
        "arguments.a[0]: 'c' is missing",
    ]


def test_keywords_without_a_sentence_of_their_own_are_named():
    error = jsonschema.ValidationError("text", validator="novel", instance=1, schema={})
    assert explain(error) == "arguments: does not fit 'novel' of the schema"


def test_nothing_outside_the_schema_is_ever_retrieved():
    with pytest.raises(NoSuchResource):
        retrieve("http://127.0.0.1:1/x.json")


def test_what_fits_has_no_problems():
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"q": {"type": "string", "pattern": "^a"}, "n": {"type": "integer"}},
        "patternProperties": {"^x-": {"$ref": "#/$defs/s"}},
        "additionalProperties": False,
        "$defs": {"s": {"type": "string"}},
    }
    check = validator(schema)
    assert check.problems({"q": "ab", "n": 1, "x-1": "y"}) == []
    assert check.problems({"x-1": 1}) == ["arguments.x-1: expected a string, found 1"]
    assert check.problems([]) == ["arguments: expected an object, found an empty list"]


def test_problems_are_bounded_in_number_and_length():
    schema = {"type": "object", "additionalProperties": {"type": "number"}}
    found = validator(schema).problems({"\u202e" * 100 + str(i): "x" * 10_000 for i in range(100)})
    assert len(found) == 10
    assert all(len(text) <= 400 and text.isascii() and text.isprintable() for text in found)
    assert found[0].endswith("...")


def test_deep_and_enormous_arguments_are_told_not_raised():
    schema = {"type": "object", "additionalProperties": {"$ref": "#"}}
    check = validator(schema)

    def nested(levels):
        value: dict = {}
        for _ in range(levels):
            value = {"a": value}
        return value

    assert check.problems(nested(20)) == []
    too_deep = ["arguments: expected at most 64 levels of nesting"]
    assert check.problems(nested(64)) == too_deep
    assert check.problems(nested(100_000)) == too_deep
    too_large = ["arguments: can't be checked against the schema; use smaller values"]
    number = {"type": "object", "properties": {"a": {"multipleOf": 0.1, "minimum": 5}}}
    assert validator(number).problems({"a": 10**400}) == too_large
    assert validator(number).problems({"a": -(10**5000)}) == too_large


def test_where_schema_times_nesting_is_too_much_it_is_told(monkeypatch):
    part: dict = {"$ref": "#"}
    for _ in range(12):
        part = {"allOf": [part]}
    check = validator({"type": "object", "additionalProperties": part})
    value: dict = {}
    for _ in range(60):
        value = {"a": value}
    assert check.problems(value) == [
        "arguments: can't be checked against the schema; use smaller values"
    ]


def test_s29_validation_opens_nothing_and_never_calls_re_on_a_foreign_pattern():
    code = r"""
import re, sys
from lionplug.manifest.arguments import _refuse as retrieve
from lionplug.manifest.parameters import validator
from lionplug.manifest.sentences import explain

schema = {
    "type": "object",
    "properties": {
        "p": {"type": "string", "pattern": "^FOREIGN+$", "format": "uri"},
        "m": {"patternProperties": {"FOREIGN[0-9]": {"type": "string"}},
              "additionalProperties": {"type": "null"}},
        "n": {"propertyNames": {"pattern": "FOREIGN"}, "$ref": "#/$defs/x"},
        "u": {"properties": {"a": True}, "anyOf": [{"required": ["a"]}]},
        "h": {"format": "hostname", "contentMediaType": "text/html"},
    },
    "additionalProperties": False,
    "$defs": {"x": {"anyOf": [{"type": "object"}, {"type": "null"}]}},
}
good = {"p": "FOREIGN", "m": {"FOREIGN1": "x", "b": None}, "n": {"FOREIGN": 1}, "h": "a b"}
bad = {"p": "x", "m": {"FOREIGN1": 1, "b": 2}, "n": {"b": 1}, "u": {}, "zz": 1}

def guarded(name):
    original = getattr(re, name)
    def call(pattern, *rest, **named):
        text = pattern if isinstance(pattern, str) else getattr(pattern, "pattern", "")
        assert "FOREIGN" not in str(text), (name, text)
        return original(pattern, *rest, **named)
    return call

check = validator(schema)  # which compiles each foreign pattern once, to see that it is one
check.problems({"zz": 1})  # loads what suggestions need
for name in ("compile", "search", "match", "fullmatch", "findall", "finditer", "sub", "split"):
    setattr(re, name, guarded(name))
seen = []
sys.addaudithook(lambda event, args: seen.append((event, args)) if armed else None)
armed = True
fine, wrong = check.problems(good), check.problems(bad)
armed = False
reached = [one for one in seen if one[0].startswith(("open", "socket", "os.", "urllib", "import",
                                                     "subprocess", "exec", "compile"))]
assert reached == [], reached
assert fine == [], fine
assert len(wrong) == 6, wrong
"""
    done = subprocess.run(
        [sys.executable, "-c", "armed = False\n" + code],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_s28_a_pattern_that_would_hang_re_is_matched_at_once():
    check = validator({"type": "object", "properties": {"a": {"pattern": "(a+)+$"}}})
    check.problems({"a": "warm"})
    began = time.process_time()
    assert len(check.problems({"a": "a" * 27 + "!"})) == 1
    assert time.process_time() - began < 0.05


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["a", "ab", "x1", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "x1"]), inner, max_size=3)
    ),
    max_leaves=6,
)
PARTS = st.recursive(
    st.sampled_from(
        [
            True,
            False,
            {"type": "string"},
            {"type": ["object", "array"]},
            {"minimum": 1},
            {"maxLength": 1},
            {"pattern": "^x[0-9]"},
            {"enum": ["a", 1, None]},
            {"required": ["a"]},
            {"dependentRequired": {"a": ["b"]}},
            {"uniqueItems": True},
        ]
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
            "patternProperties": st.dictionaries(st.sampled_from(["^x", "[0-9]$"]), inner),
            "additionalProperties": inner,
            "propertyNames": inner,
            "items": inner,
            "contains": inner,
            "not": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "if": inner,
            "then": inner,
        },
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(PARTS, VALUES)
def test_the_verdict_is_that_of_jsonschema(part, value):
    schema = {"type": "object", "properties": {"a": part}}
    expected = jsonschema.Draft202012Validator(schema).is_valid({"a": value})
    assert (validator(schema).problems({"a": value}) == []) == expected
