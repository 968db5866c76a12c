"""The schemas of tools: bounded, closed in themselves, and the same rules as 2020-12 (S29)."""

from __future__ import annotations

import subprocess
import sys
import time

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lionplug.errors import UsageError
from lionplug.manifest.parameters import check_parameters, schema_problems, validator


def of(**properties):
    return {"type": "object", "properties": properties}


ENDLESS = "expected references that come back only through a property or an item"
DOUBLED = "expected a part that refers back to itself to hand on each value only once"
TOO_MANY = "parameters: expected at most 10000 parts, each counted as often as it is reached"
NO_PART = "expected a reference to a part of this schema"
NO_REF = "expected '#' or '#/...', a part of this schema, found "


def test_an_ordinary_schema_is_fine():
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **of(
            query={"type": "string", "minLength": 1, "pattern": "^[a-z]+$", "default": "x"},
            limit={"type": ["integer", "null"], "minimum": 1, "maximum": 5.5},
            kinds={"type": "array", "items": {"enum": ["a", 1, None]}, "uniqueItems": True},
            other={"$ref": "#/$defs/named%20part"},
            anything=True,
        ),
        "required": ["query"],
        "additionalProperties": False,
        "$defs": {"named part": {"const": 1}},
        "x-vendor": {"$id": "not looked at"},
        "examples": [{"$ref": "http://not-looked-at"}],
    }
    assert check_parameters(schema) == []


@pytest.mark.parametrize("schema", [None, [], "object", 1, True])
def test_what_is_no_mapping(schema):
    assert check_parameters(schema) == ["parameters: expected a mapping"]


@pytest.mark.parametrize("schema", [{}, {"type": "array"}, {"type": ["object"]}])
def test_the_top_is_an_object(schema):
    assert check_parameters(schema) == ["parameters.type: expected 'type: object' at the top"]


def test_s29_size_depth_and_data_are_bounded():
    assert check_parameters(of(a={"description": "x" * 70_000})) == [
        "parameters: expected at most 65536 bytes as JSON, found 70055"
    ]
    deep: dict = {"type": "object"}
    for _ in range(16):
        deep = of(a=deep)
    assert check_parameters(deep) == ["parameters: expected at most 32 levels"]
    assert check_parameters(deep["properties"]["a"]) == []
    assert check_parameters(of(a={"default": {1, 2}})) == ["parameters: expected JSON data"]
    assert check_parameters(of(a={"default": float("nan")})) == ["parameters: expected JSON data"]
    endless: dict = {"type": "object"}
    endless["default"] = endless
    assert check_parameters(endless) == ["parameters: expected at most 32 levels"]


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        ("http://127.0.0.1:1/x.json", NO_REF + "'http://127.0.0.1:1/x.json'"),
        ("file:///etc/passwd", NO_REF + "'file:///etc/passwd'"),
        ("other.json#/a", NO_REF + "'other.json#/a'"),
        ("#anchor", NO_REF + "'#anchor'"),
        ("#/$defs/absent", NO_PART),
        ("#/properties/a/~0", NO_PART),
        ("#/required/01", NO_PART),
        (1, NO_REF + "1"),
        ("", NO_REF + "''"),
    ],
)
def test_s29_references_stay_inside_and_lead_somewhere(reference, problem):
    schema = {**of(a={"$ref": reference}), "required": ["a"]}
    assert f"parameters.properties.a.$ref: {problem}" in check_parameters(schema)


@pytest.mark.parametrize("reference", ["#/required", "#/required/0", "#/title"])
def test_a_reference_to_what_is_no_schema(reference):
    schema = {**of(a={"$ref": reference}), "required": ["a"], "title": "t"}
    assert check_parameters(schema) == ["parameters.properties.a.$ref: expected a schema"]


def test_what_a_reference_leads_to_is_checked_wherever_it_stands():
    schema = {**of(a={"$ref": "#/x-parts/0"}), "x-parts": [{"type": "strng"}]}
    assert check_parameters(schema) == [
        "parameters.x-parts[0].type: expected array, boolean, integer, null, number, object or "
        "string, found 'strng' (did you mean 'string'?)"
    ]


@pytest.mark.parametrize(
    ("keyword", "value"),
    [
        ("$id", "x"),
        ("$anchor", "x"),
        ("$dynamicRef", "#x"),
        ("$dynamicAnchor", "x"),
        ("$recursiveRef", "#"),
        ("$recursiveAnchor", True),
        ("$vocabulary", {}),
        ("dependencies", {}),
        ("additionalItems", False),
    ],
)
def test_s29_keywords_that_change_what_a_reference_means_are_refused(keyword, value):
    [problem] = check_parameters(of(a={keyword: value}))
    assert problem.startswith(f"parameters.properties.a.{keyword}: expected no '{keyword}'; ")


def test_the_dialect_is_2020_12_and_stands_at_the_top():
    dialect = "https://json-schema.org/draft/2020-12/schema"
    assert check_parameters({"$schema": dialect, "type": "object"}) == []
    message = f"expected '{dialect}' at the top of the schema, or no '$schema'"
    draft7 = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}
    assert check_parameters(draft7) == [f"parameters.$schema: {message}"]
    assert check_parameters(of(a={"$schema": dialect})) == [
        f"parameters.properties.a.$schema: {message}"
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "$ref": "#"},
        {"type": "object", "allOf": [{"anyOf": [{"$ref": "#/allOf/0"}]}]},
        {"type": "object", "not": {"$ref": "#"}},
        {"type": "object", "if": True, "then": {"$ref": "#"}},
        {"type": "object", "propertyNames": {"$ref": "#"}},
        {"type": "object", "dependentSchemas": {"a": {"$ref": "#"}}},
        {
            **of(a={"$ref": "#/$defs/a"}),
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
        },
    ],
)
def test_s29_a_schema_that_never_ends_is_refused(schema):
    [problem] = schema_problems(schema)
    assert problem.text == ENDLESS


@pytest.mark.parametrize(
    "schema",
    [
        of(children={"type": "array", "items": {"$ref": "#"}}),
        of(left={"$ref": "#"}, right={"$ref": "#"}),
        {"type": "object", "additionalProperties": {"$ref": "#"}},
        {**of(a={"$ref": "#"}), "additionalProperties": {"$ref": "#"}},
        {"type": "object", "patternProperties": {"^a": {"$ref": "#"}}},
        of(pair={"prefixItems": [{"$ref": "#"}, {"$ref": "#"}], "items": {"$ref": "#"}}),
        {
            "type": "object",
            "anyOf": [
                of(all={"type": "array", "items": {"$ref": "#"}}),
                of(any={"type": "array", "items": {"$ref": "#"}}),
            ],
        },
        of(a={"contains": {"$ref": "#"}}),
    ],
)
def test_s29_a_schema_may_come_back_through_properties_and_items(schema):
    assert check_parameters(schema) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "allOf": [of(a={"$ref": "#"}), of(a={"$ref": "#"})]},
        {"anyOf": [{"$ref": "#/$defs/a"}] * 2, "$defs": {"a": of(b={"$ref": "#"})}},
        {**of(a={"$ref": "#"}), "patternProperties": {"^a": {"$ref": "#"}}},
        {"patternProperties": {"^a": {"$ref": "#"}}, **of(a={"$ref": "#"})},
        {"type": "object", "patternProperties": {"^a": {"$ref": "#"}, "^b": {"$ref": "#"}}},
        {**of(a={"$ref": "#"}), "anyOf": [{"additionalProperties": {"$ref": "#"}}]},
        {"type": "object", "additionalProperties": {"$ref": "#"}, "allOf": [of(a={"$ref": "#"})]},
        of(a={"items": {"$ref": "#"}, "contains": {"$ref": "#"}}),
        of(a={"prefixItems": [{"$ref": "#"}], "contains": {"$ref": "#"}}),
        of(a={"items": {"$ref": "#"}, "allOf": [{"prefixItems": [{"$ref": "#"}]}]}),
        {**of(a={"$ref": "#"}), "unevaluatedProperties": False},
    ],
)  # fmt: skip
def test_s29_a_schema_whose_work_doubles_with_each_level_is_refused(schema):
    schema = {"type": "object", **schema}
    texts = [problem.text for problem in schema_problems(schema)]
    assert DOUBLED in texts


def test_s29_each_reference_counts_as_often_as_it_is_reached():
    def doubled(levels):
        parts = {f"p{i}": {"allOf": [{"$ref": f"#/$defs/p{i + 1}"}] * 2} for i in range(levels)}
        return {"type": "object", "$ref": "#/$defs/p0", "$defs": {**parts, f"p{levels}": {}}}

    assert check_parameters(doubled(8)) == []
    began = time.process_time()
    assert check_parameters(doubled(14)) == [TOO_MANY]
    assert check_parameters(doubled(400)) == [TOO_MANY, TOO_DEEP]
    assert time.process_time() - began < 0.5


TOO_DEEP = "parameters: expected at most 32 levels of parts, references followed"


def test_s29_long_chains_of_references_are_too_deep():
    parts = {f"p{i}": {"$ref": f"#/$defs/p{i + 1}"} for i in range(2000)}
    schema = {"type": "object", "$ref": "#/$defs/p0", "$defs": {**parts, "p2000": {}}}
    assert check_parameters(schema) == [TOO_DEEP]


def test_unevaluated_parts_count_twice():
    def nested(levels):
        part: dict = {"type": "string"}
        for _ in range(levels):
            part = {"anyOf": [of(a=part), of(b={})], "unevaluatedProperties": False}
        return part

    assert check_parameters({"type": "object", **nested(5)}) == []
    wide = {"anyOf": [nested(5)] * 60, "unevaluatedProperties": False, "type": "object"}
    assert check_parameters(wide) == [TOO_MANY]


def test_pattern_properties_and_unevaluated_properties_do_not_go_together():
    schema = {**of(), "patternProperties": {"^a": True}, "unevaluatedProperties": False}
    assert check_parameters(schema) == [
        "parameters.unevaluatedProperties: expected no 'unevaluatedProperties' in a schema with "
        "'patternProperties'; use 'additionalProperties'"
    ]


@pytest.mark.parametrize("key", ["pattern", "patternProperties"])
def test_s28_patterns_in_schemas_are_those_that_re2_can_match(key):
    schema = of(a={key: "(a)(?=b)" if key == "pattern" else {"(a)(?=b)": True}})
    [problem] = check_parameters(schema)
    assert problem.endswith(
        "look-around can't be matched in bounded time; write the pattern without it"
    )


def test_problems_are_bounded_in_number_and_length():
    schema = of(**{f"p{'x' * 100}{i}": {"type": "\u202e" * 80} for i in range(100)})
    problems = check_parameters(schema)
    assert len(problems) == 20
    assert all(len(problem) < 700 for problem in problems)


KEYWORDS = {
    "type": st.sampled_from(["string", "strng", ["null", "array"], ["null", "null"], [], 1]),
    "enum": st.sampled_from([[], [1], {}, "a"]),
    "const": st.sampled_from([None, 1, {}]),
    "multipleOf": st.sampled_from([1, 0, -1, 0.5, "1", True]),
    "maximum": st.sampled_from([1, 1.5, "1", None, True]),
    "exclusiveMinimum": st.sampled_from([1, True, None]),
    "maxLength": st.sampled_from([0, 1, 1.0, 1.5, -1, "1", True]),
    "minItems": st.sampled_from([0, -1, None]),
    "maxContains": st.sampled_from([3, "3"]),
    "uniqueItems": st.sampled_from([True, False, 1, "true"]),
    "required": st.sampled_from([[], ["a"], ["a", "a"], [1], True, "a"]),
    "dependentRequired": st.sampled_from([{}, {"a": ["b"]}, {"a": "b"}, {"a": ["b", "b"]}, []]),
    "title": st.sampled_from(["t", 1, None]),
    "$comment": st.sampled_from(["t", []]),
    "format": st.sampled_from(["uri", 3]),
    "deprecated": st.sampled_from([True, "yes"]),
    "examples": st.sampled_from([[], [1], {}]),
    "contentEncoding": st.sampled_from(["base64", 1]),
}


def keyword_schemas(inner):
    one = inner | st.sampled_from([1, None, "x", []])
    many = st.lists(one, max_size=2) | st.sampled_from([{}, 1])
    named = st.dictionaries(st.sampled_from(["a", "b"]), one, max_size=2) | st.sampled_from([[], 1])
    return st.fixed_dictionaries(
        {},
        optional={
            **KEYWORDS,
            **dict.fromkeys(["not", "if", "items", "contains", "propertyNames"], one),
            **dict.fromkeys(["additionalProperties", "unevaluatedItems", "contentSchema"], one),
            **dict.fromkeys(["allOf", "oneOf", "prefixItems"], many),
            **dict.fromkeys(["properties", "$defs", "dependentSchemas", "definitions"], named),
        },
    )


@settings(max_examples=60, deadline=None)
@given(keyword_schemas(st.booleans() | keyword_schemas(st.booleans())))
def test_the_table_of_keywords_says_what_the_metaschema_says(schema):
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError:
        expected = True
    else:
        expected = False
    found = [problem for problem in schema_problems(schema) if problem.path != ("type",)]
    top_type = [one for one in schema_problems(schema) if one.path == ("type",)]
    wrong_type = any("at the top" not in one.text for one in top_type)
    assert bool(found or wrong_type) == expected, (schema, found)


def test_a_schema_that_is_refused_makes_no_validator():
    with pytest.raises(UsageError) as caught:
        validator({"type": "array"})
    assert str(caught.value) == (
        "The schema can't be used. parameters.type: expected 'type: object' at the top."
    )


def test_checking_schemas_imports_no_validator():
    code = (
        "import sys\n"
        "from lionplug.manifest.parameters import check_parameters\n"
        "check_parameters({'type': 'object', 'properties': {'a': {'pattern': 'b'}}})\n"
        "sys.exit('jsonschema' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
