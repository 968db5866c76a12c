"""Signatures as data, and the JSON Schema of the arguments (security rule S29, S36)."""

from __future__ import annotations

import ast
import inspect
import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionplug.manifest.parameters import check_parameters
from lionplug.sources import Parameter, SourceSignature
from lionplug.sources.annotations import annotation_schema
from lionplug.sources.child import describe
from lionplug.sources.docstrings import argument_descriptions, first_paragraph
from lionplug.sources.encoding import declared_encoding, is_utf8_name

TYPE_NAMES = ["str", "int", "float", "bool", "None", "list", "dict", "Any", "x.Y", "t.Optional"]
ANNOTATIONS = st.recursive(
    st.sampled_from([*TYPE_NAMES, "Literal['a', \"b\", 1, True]", "'int'", "...", ""]),
    lambda inner: (
        st.tuples(inner, inner).map(" | ".join)
        | st.tuples(st.sampled_from(["list", "dict", "Optional", "tuple", "Annotated"]), inner).map(
            lambda pair: f"{pair[0]}[{pair[1]}]"
        )
        | st.tuples(inner, inner).map(lambda pair: f"Union[{pair[0]}, {pair[1]}]")
        | inner.map(repr)
    ),
)


def signature(source):
    """Return the signature of ``f``, by the helper's own code in this process."""
    return SourceSignature.from_dict(describe(source.encode(), ["f"])["f"])


def schema_of(source):
    return signature(source).to_parameters()


class TestAnnotations:
    @pytest.mark.parametrize(
        ("text", "schema"),
        [
            ("", {}),
            ("str", {"type": "string"}),
            ("builtins.int", {"type": "integer"}),
            ("float", {"type": "number"}),
            ("bool", {"type": "boolean"}),
            ("None", {"type": "null"}),
            ("list", {"type": "array"}),
            ("list[str]", {"type": "array", "items": {"type": "string"}}),
            ("typing.List[Any]", {"type": "array"}),
            (
                "list[list[int]]",
                {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
            ),
            ("tuple[int, ...]", {"type": "array", "items": {"type": "integer"}}),
            ("tuple[int, str]", {"type": "array"}),
            ("tuple[()]", {}),
            ("set[int]", {"type": "array", "items": {"type": "integer"}}),
            ("dict", {"type": "object"}),
            (
                "Mapping[str, int]",
                {"type": "object", "additionalProperties": {"type": "integer"}},
            ),
            ("Literal['a', 'b', 'a']", {"type": "string", "enum": ["a", "b"]}),
            ("Literal[1, True, None, -2]", {"enum": [1, True, None, -2]}),
            ("Literal['it\\'s \\u00e9\\n\\x41']", {"type": "string", "enum": ["it's \u00e9\nA"]}),
            ("Literal[Color.RED]", {}),
            ("Literal[b'x']", {}),
            ("Literal[1.5]", {}),
            ("Literal['\\ud800']", {}),
            ("Literal['\\U00110000']", {}),
            ("Literal['\\q']", {}),
            ("Literal[]", {}),
            ("Optional[str]", {"type": ["string", "null"]}),
            ("str | None", {"type": ["string", "null"]}),
            ("Union[int, float, int]", {"type": ["integer", "number"]}),
            ("Union[int, Union[str, None]]", {"type": ["integer", "string", "null"]}),
            ("Any | None", {}),
            ("object", {}),
            ("Path", {}),
            (
                "list[int] | None",
                {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
            ),
            (
                "Optional[list[int] | str]",
                {
                    "anyOf": [
                        {"type": "array", "items": {"type": "integer"}},
                        {"type": "string"},
                        {"type": "null"},
                    ]
                },
            ),
            ("'list[int]'", {"type": "array", "items": {"type": "integer"}}),
            ("\"'int'\"", {"type": "integer"}),
            ("'\"\\'int\\'\"'", {}),
            ("Annotated[int, Field(gt=0)]", {}),
            ("Annotated[int, 'how many', [1]]", {"type": "integer"}),
            ("Annotated[int", {}),
            ("int str", {}),
            ("int |", {}),
            ("list[int", {}),
            ("list[int str]", {}),
            ("list[" * 9 + "int" + "]" * 9, None),
            ("list[" * 40 + "int" + "]" * 40, {}),
            ("f(x)", {}),
        ],
    )
    def test_schema(self, text, schema):
        if schema is None:
            assert annotation_schema(text)["type"] == "array"
        else:
            assert annotation_schema(text) == schema

    @given(ANNOTATIONS | st.text(st.sampled_from("strlist[],| .'\"\\x0-1\n")) | st.text())
    def test_s36_any_text_gives_a_valid_schema(self, text):
        schema = annotation_schema(text[:300])
        jsonschema.Draft202012Validator.check_schema(schema)
        assert len(json.dumps(schema)) < 10_000

    def test_s36_a_deep_or_long_annotation_is_left_open(self):
        assert annotation_schema("list[" * 60 + "]" * 60) == {}
        assert annotation_schema("'" + "a" * 298 + "'") == {}


class TestParameters:
    def test_a_whole_schema(self):
        schema = schema_of(
            '''
def f(query: str, limit: int = 10, *, since: str = None, tags: list[str] = ["a"], raw=False):
    """Search.

    Args:
        query (str): What to look for,
            in words.
        limit (int, optional): How many.
        nobody: Not there.

    Returns:
        since: Not an argument.
    """
'''
        )
        assert schema == {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to look for, in words."},
                "limit": {"type": "integer", "description": "How many.", "default": 10},
                "since": {"type": ["string", "null"], "default": None},
                "tags": {"type": "array", "items": {"type": "string"}, "default": ["a"]},
                "raw": {"default": False},
            },
            "required": ["query"],
            "additionalProperties": False,
        }

    def test_what_can_not_be_named_is_left_out_and_marked(self):
        found = signature("def f(a, b=1, /, c=2, *d, **e): 0")
        assert found.to_parameters() == {"type": "object", "properties": {"c": {"default": 2}}}
        assert found.omitted == ("a", "b", "d")

    @pytest.mark.parametrize(
        "source",
        [
            "def f(): 0",
            "def f(a, b: int = 2): 0",
            "async def f(a: 'str', *, b): 0",
            "def f(**k): 0",
        ],
    )
    def test_arguments_that_python_takes_are_taken(self, source):
        names = {}
        exec(source, names)
        schema = schema_of(source)
        for arguments in ({}, {"a": "x"}, {"a": "x", "b": 1}, {"z": 1}):
            try:
                inspect.signature(names["f"]).bind(**arguments)
                fits = True
            except TypeError:
                fits = False
            assert jsonschema.Draft202012Validator(schema).is_valid(arguments) == fits

    @given(
        st.lists(
            st.builds(
                Parameter,
                name=st.from_regex(r"[a-z]{1,3}\Z"),
                kind=st.sampled_from(["positional_or_keyword", "keyword_only", "var_keyword"]),
                annotation=ANNOTATIONS.map(lambda text: text[:300]),
            ),
            max_size=8,
            unique_by=lambda item: item.name,
        ),
        st.text(max_size=200),
    )
    def test_s29_every_signature_gives_a_valid_schema(self, parameters, doc):
        schema = SourceSignature(parameters=tuple(parameters), doc=doc).to_parameters()
        assert check_parameters(schema) == []

    def test_s29_the_largest_signature_gives_a_small_schema(self):
        data = SourceSignature(doc="Args:\n  a0: " + "\u4e00" * 1980).to_dict()
        data["parameters"] = [
            {"name": f"a{i}", "kind": "keyword_only", "annotation": "int|'str'|" * 20 + "list"}
            for i in range(30)
        ]
        schema = SourceSignature.from_dict(data).to_parameters()
        assert check_parameters(schema) == []
        data["parameters"] = [
            {
                "name": f"a{i}",
                "kind": "keyword_only",
                "annotation": "Literal['" + "\u4e00" * 70 + "']",
            }
            for i in range(25)
        ]
        assert check_parameters(SourceSignature.from_dict(data).to_parameters()) == []


class TestModel:
    @given(
        st.builds(
            Parameter,
            name=st.just("a"),
            kind=st.sampled_from(["positional_only", "keyword_only"]),
            annotation=st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
            has_default=st.just(True),
            default=st.none() | st.booleans() | st.integers(-5, 5) | st.just({"x": [1.5]}),
            default_known=st.just(True),
        )
    )
    def test_round_trip(self, parameter):
        found = SourceSignature(parameters=(parameter,), doc="x", is_async=True, line=7)
        assert SourceSignature.from_dict(json.loads(json.dumps(found.to_dict()))) == found

    def test_what_is_not_there_is_left_out(self):
        plain = {"name": "a", "kind": "keyword_only"}
        assert Parameter.from_dict(plain).to_dict() == plain
        known = {**plain, "has_default": True, "default": None}
        assert Parameter.from_dict(known).to_dict() == known
        unknown = {**plain, "annotation": "int", "has_default": True}
        assert Parameter.from_dict(unknown).to_dict() == unknown

    @pytest.mark.parametrize(
        "item",
        [
            None,
            {},
            {"name": "a"},
            {"name": "a b", "kind": "keyword_only"},
            {"name": "a" * 256, "kind": "keyword_only"},
            {"name": "a", "kind": "other"},
            {"name": "a", "kind": ["keyword_only"]},
            {"name": "a", "kind": "keyword_only", "more": 1},
            {"name": "a", "kind": "keyword_only", "default": 1},
            {"name": "a", "kind": "keyword_only", "has_default": 1},
            {"name": "a", "kind": "var_keyword", "has_default": True},
            {"name": "a", "kind": "keyword_only", "annotation": "x" * 301},
            {"name": "a", "kind": "keyword_only", "has_default": True, "default": 2**54},
            {"name": "a", "kind": "keyword_only", "has_default": True, "default": float("inf")},
            {"name": "a", "kind": "keyword_only", "has_default": True, "default": "x" * 201},
            {"name": "a", "kind": "keyword_only", "has_default": True, "default": [[[1]]]},
            {"name": "a", "kind": "keyword_only", "has_default": True, "default": [0] * 21},
            {"name": "a", "kind": "keyword_only", "has_default": True, "default": {1: 2}},
            {"name": "a", "kind": "keyword_only", "has_default": True, "default": b"x"},
        ],
    )
    def test_s36_anything_else_is_refused(self, item):
        data = {**SourceSignature().to_dict(), "parameters": [item]}
        with pytest.raises(ValueError, match="not a signature"):
            SourceSignature.from_dict(data)

    def test_s36_too_much_is_refused(self):
        item = {"name": "a", "kind": "keyword_only", "annotation": "x" * 200}
        many = [{**item, "name": f"a{i}"} for i in range(40)]
        with pytest.raises(ValueError, match="not a signature"):
            SourceSignature.from_dict({**SourceSignature().to_dict(), "parameters": many})

    def test_a_name_twice_is_refused(self):
        item = {"name": "a", "kind": "keyword_only"}
        with pytest.raises(ValueError, match="not a signature"):
            SourceSignature.from_dict({**SourceSignature().to_dict(), "parameters": [item, item]})

    def test_text_is_what_a_parser_reads(self):
        source = "async def f(a: int, b=2, *c, d, e: str = 'x', **g)"
        assert signature(f"{source}: 0").text("f") == source
        assert ast.parse(f"{source}: 0")


class TestDocstrings:
    def test_sphinx(self):
        doc = """Do it.

:param a: First,
    and on.
:param int b: Second.
:param *c: Third.
:returns: Nothing.
:param:
:param : empty
"""
        assert argument_descriptions(doc) == {"a": "First, and on.", "b": "Second.", "c": "Third."}

    def test_google(self):
        doc = """Do it.

Args:
    a (dict(str)): First.

        More of it.
    **b: Second.
    c:
        Third.
    not an item
Other:
    d: no
"""
        assert argument_descriptions(doc) == {
            "a": "First. More of it.",
            "b": "Second.",
            "c": "Third.",
        }

    @pytest.mark.parametrize("doc", ["", "\n\n", "x", "Args:", ":param", "Args:\n  (((: x"])
    def test_nothing(self, doc):
        assert argument_descriptions(doc) == {}

    def test_first_paragraph(self):
        assert first_paragraph("\n one\n two \n\nthree") == "one two"
        assert first_paragraph("") == ""

    @given(st.text(st.sampled_from("Args:\n ()param*x"), max_size=300))
    def test_any_text(self, doc):
        assert all(text == " ".join(text.split()) for text in argument_descriptions(doc).values())


class TestEncoding:
    @pytest.mark.parametrize(
        ("data", "encoding"),
        [
            (b"", None),
            (b"x = 1\n# coding: latin-1", None),
            (b"# coding: latin-1", "latin-1"),
            (b"#!/bin/python\n# -*- coding: utf-7 -*-\n", "utf-7"),
            (b"\n# vim: set fileencoding=unicode_escape :", "unicode_escape"),
            (b"\n\n# coding: latin-1", None),
            (b"\x0c# coding=latin-1", "latin-1"),
            (b"# a\r# coding: latin-1\n", "latin-1"),
            (b"# a\r# b\r# coding: latin-1\n", "latin-1"),
            (b"\xef\xbb\xbf# coding: utf-8", "utf-8"),
            (b"'coding: latin-1'", None),
        ],
    )
    def test_declared(self, data, encoding):
        assert declared_encoding(data) == encoding

    @pytest.mark.parametrize(
        ("name", "is_utf8"),
        [
            *(("UTF-8", True), ("utf_8", True), ("utf8", True), ("utf-8-unix", True)),
            *(("utf-7", False), ("latin-1", False), ("utf-16", False), ("ascii", False)),
        ],
    )
    def test_utf8(self, name, is_utf8):
        assert is_utf8_name(name) is is_utf8
