"""The strict YAML reader: what it keeps, what it refuses, and how fast (S30)."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lionplug.documents import yaml as reader
from lionplug.documents.nodes import Mapping, Scalar, Sequence
from lionplug.documents.yaml import MAX_DEPTH, MAX_NODES, read_yaml
from lionplug.errors import ManifestError, SettingsError


@pytest.fixture(params=["libyaml", "pure Python"])
def parser(request, monkeypatch):
    """Both parsers of PyYAML: installations without libyaml read the same."""
    monkeypatch.setattr(yaml, "__with_libyaml__", request.param == "libyaml")
    return request.param


def problems_of(text: str | bytes):
    data = text.encode() if isinstance(text, str) else text
    with pytest.raises(ManifestError) as caught:
        read_yaml(data, "plugin.yaml")
    return [
        (problem.code, problem.line, problem.column, problem.message)
        for problem in caught.value.problems
    ]


def plain(node):
    """The data of a node, all scalars as text."""
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return {key.text: plain(value) for key, value in node.items}


def test_text_keeps_the_authors_characters(parser):
    text = "version: 1.10\nname: no\ntime: 12:30\non: 0x1f\nempty:\nquoted: ''\nmany: |\n  a\n  b\n"
    document = read_yaml(text.encode(), "plugin.yaml")
    assert plain(document) == {
        "version": "1.10",
        "name": "no",
        "time": "12:30",
        "on": "0x1f",
        "empty": "",
        "quoted": "",
        "many": "a\nb\n",
    }
    assert [value.plain for _, value in document.items] == [*[True] * 5, False, False]


def test_places_are_counted_from_one_in_characters(parser):
    document = read_yaml("é: [ä, {ö: ü}]\nb: c\n".encode(), "plugin.yaml")
    assert document == Mapping(
        (
            (
                Scalar("é", True, 1, 1),
                Sequence(
                    (
                        Scalar("ä", True, 1, 5),
                        Mapping(((Scalar("ö", True, 1, 9), Scalar("ü", True, 1, 12)),), 1, 8),
                    ),
                    1,
                    4,
                ),
            ),
            (Scalar("b", True, 2, 1), Scalar("c", True, 2, 4)),
        ),
        1,
        1,
    )
    assert document.get("b") == Scalar("c", True, 2, 4)
    assert document.get("x") is None


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n...\n", "~", "--- # x"])
def test_an_empty_document_is_no_mapping(parser, text):
    [(code, _, _, message)] = problems_of(text)
    assert (code, message) == ("empty", "must be one mapping, found an empty document.")


@pytest.mark.parametrize(
    ("text", "found"),
    [("- a\n- b\n", "a list"), ("just words", "the text 'just words'"), ("''", "the text ''")],
)
def test_the_top_must_be_one_mapping(parser, text, found):
    assert problems_of(text) == [("not-a-mapping", 1, 1, f"must be one mapping, found {found}.")]


@pytest.mark.parametrize("text", ["a: 1\n---\nb: 2\n", "a: 1\n---\n", "a: 1\n...\n---\n"])
def test_s30_several_documents_are_refused(parser, text):
    [(code, line, column, message)] = problems_of(text)
    assert (code, column) == ("several-documents", 1)
    assert line in (2, 3)
    assert message == "must be one document, found the start of a second; remove it."


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("name: a\nname: b\n", "line 1, column 1", "line 2, column 1"),
        ('name: a\n"name": b\n', "line 1, column 1", "line 2, column 1"),
        ("'na\\u006de': a\n\"na\\u006de\": b\nname: c\n", "line 2, column 1", "line 3, column 1"),
        ('{"name":"a","name":"b"}', "line 1, column 2", "line 1, column 13"),
        ("a:\n  b:\n    name: 1\n    c: 2\n    name: 3\n", "line 3, column 5", "line 5, column 5"),
        ("true: a\ntrue: b\n", "line 1, column 1", "line 2, column 1"),
    ],
)
def test_s30_duplicate_keys_are_refused_with_both_places(parser, text, first, second):
    [(code, line, column, message)] = problems_of(text)
    assert code == "duplicate-key"
    assert message.endswith(f"stands twice, at {first} and at {second}; keep one.")
    assert second == f"line {line}, column {column}"


def test_s30_keys_that_are_one_boolean_in_yaml_1_1_are_different_keys(parser):
    document = read_yaml(b"on: 1\nyes: 2\ntrue: 3\n1: 4\n1.0: 5\nnull: 6\n", "plugin.yaml")
    assert list(plain(document)) == ["on", "yes", "true", "1", "1.0", "null"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a: &x 1\n", [("anchor", 1, 4, "found an anchor (&name); remove it.")]),
        (
            "a: &x 1\nb: *x\n",
            [
                ("anchor", 1, 4, "found an anchor (&name); remove it."),
                ("alias", 2, 4, "found an alias (*name); write the value out."),
            ],
        ),
        (
            "a: &x {b: 1}\nc:\n  <<: *x\n",
            [
                ("anchor", 1, 4, "found an anchor (&name); remove it."),
                ("merge-key", 3, 3, "found a merge key (<<); write the keys out."),
                ("alias", 3, 7, "found an alias (*name); write the value out."),
            ],
        ),
        (
            "a:\n  <<: {b: 1}\n",
            [("merge-key", 2, 3, "found a merge key (<<); write the keys out.")],
        ),
        (
            "a: !!str 1\nb: !x {}\nc: ! [1]\n",
            [
                ("tag", line, 4, "found a tag (!name); remove it, the field decides the type.")
                for line in (1, 2, 3)
            ],
        ),
        (
            "%TAG !e! tag:x,2000:\n---\na: 1\n",
            [("directive", 1, 1, "found a % directive; remove it.")],
        ),
        ("%YAML 1.1\n---\na: 1\n", [("directive", 1, 1, "found a % directive; remove it.")]),
        ("? [a]\n: 1\n", [("complex-key", 1, 3, "expected a text as key; write one.")]),
        ("{{a: 1}: 2}", [("complex-key", 1, 2, "expected a text as key; write one.")]),
        ("? \n: 1\n", [("empty-key", 1, 2, "expected a key before the colon; write one.")]),
        ('a: "\\0"\n', [("nul", 1, 4, "found an escape for a NUL character; remove it.")]),
    ],
)
def test_s30_what_readers_take_for_different_things_is_refused(parser, text, found):
    assert problems_of(text) == found


def test_a_quoted_merge_sign_and_an_empty_quoted_key_are_keys(parser):
    assert plain(read_yaml(b"'<<': a\n'': b\n", "plugin.yaml")) == {"<<": "a", "": "b"}


def test_all_problems_of_the_structure_are_told_in_the_order_of_the_file(parser):
    found = problems_of("a: &x 1\nb: !t 2\na: 3\n[c]: 4\nd: *x\n")
    assert [(code, line) for code, line, _, _ in found] == [
        ("anchor", 1),
        ("tag", 2),
        ("duplicate-key", 3),
        ("complex-key", 4),
        ("alias", 5),
    ]


@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_nesting_is_bounded(parser, brackets):
    opening, closing = brackets
    inner = f"{opening}{'a: ' if opening == '{' else ''}"
    levels = MAX_DEPTH - 1
    assert read_yaml(f"a: {inner * levels}x{closing * levels}".encode(), "plugin.yaml")
    levels += 1
    [(code, line, _, message)] = problems_of(f"a: {inner * levels}x{closing * levels}")
    assert (code, line, message) == ("too-deep", 1, "expected at most 64 levels; nest less.")


def test_the_number_of_nodes_is_bounded():
    # The document, its key, the list and its items.
    items = MAX_NODES - 3
    assert read_yaml(b"a: [" + b"1," * items + b"]", "plugin.yaml")
    [(code, line, column, message)] = problems_of(b"a: [" + b"1," * (items + 1) + b"]")
    assert (code, line, column) == ("too-many-nodes", 1, 5 + 2 * items)
    assert message == ("expected at most 50000 keys and values; move data into files of its own.")


def test_a_syntax_error_without_a_hint_has_a_place_and_our_words(parser):
    [(code, line, column, message)] = problems_of("a: ? x\n")
    assert (code, line, column) == ("syntax", 1, 4)
    assert message.startswith("is not valid YAML: mapping keys are not allowed")
    assert message.endswith("; check indentation and quotes.")


def in_quotes(sign, text):
    return f"a text can't begin with {sign}; put the text in quotes: {text}"


def not_closed(sign):
    return f"the quote {sign} that opens here is not closed; close it"


COLON = "the text has a colon and a space in it; put the text in quotes: "
INDENT = "the line is not indented like those that it belongs to"
BEHIND = (
    "the text goes on behind the closing quote {0}; put the whole text in quotes; "
    "where {0} is part of it, use the other kind of quotes around it"
)


@pytest.mark.parametrize(
    ("text", "line", "column", "hint"),
    [
        ("lionplug: >=2\nname: a\n", 1, 11, in_quotes(">", "'>=2'")),
        ("a: >= 2, <3  # why\n", 1, 4, in_quotes(">", "'>= 2, <3'")),
        ("a: [>=2, b]\n", 1, 5, in_quotes(">", "'>=2'")),
        ("a: |x\n", 1, 4, in_quotes("|", "'|x'")),
        ("a: *\n", 1, 4, in_quotes("*", "'*'")),
        ("- a\n- **/*.py\n", 2, 3, in_quotes("*", "'**/*.py'")),
        ("a: & b\n", 1, 4, in_quotes("&", "'& b'")),
        ("a: @x\n", 1, 4, in_quotes("@", "'@x'")),
        ("a: [@it's]\n", 1, 5, in_quotes("@", "'@it''s'")),
        ("a: `x`\n", 1, 4, in_quotes("`", "'`x`'")),
        ("a: %x\n", 1, 4, in_quotes("%", "'%x'")),
        ("a: ]x\n", 1, 4, in_quotes("]", "']x'")),
        ("a: [x] y\n", 1, 4, in_quotes("[", "'[x] y'")),
        ("a: {x} y # z\n", 1, 4, in_quotes("{", "'{x} y'")),
        ("a: @" + "x" * 99 + "\n", 1, 4, in_quotes("@", f"'@{'x' * 59}...'")),
        ("a:\n\tb: 1\n", 2, 1, "tabs can't indent; use spaces"),
        ("a:\n\t- 1\n", 2, 1, "tabs can't indent; use spaces"),
        ("a:\n  b: 1\n  \tc: 2\n", 3, 3, "tabs can't indent; use spaces"),
        ('a: "x\nb: 1\n', 1, 4, not_closed('"')),
        ("a: 'x\nb: 1\n", 1, 4, not_closed("'")),
        ('a: "x\nb: "y"\n', 1, 4, not_closed('"')),
        ("a: 'x\nc: 1\nb: 'y'\n", 1, 4, not_closed("'")),
        ("a: 'it's'\n", 1, 4, BEHIND.format("'")),
        ('- "say "hi" now"\n', 1, 3, BEHIND.format('"')),
        (
            'a: "\\d+"\n',
            1,
            4,
            "in double quotes a backslash begins an escape; use single quotes",
        ),
        ("name demo\nversion: 1\n", 1, 1, "there is not a colon behind the key; write name: demo"),
        ("a: 1\nname demo\n", 2, 1, "there is not a colon behind the key; write name: demo"),
        (
            "t:\n  - name x\n    target: y\n",
            2,
            5,
            "there is not a colon behind the key; write name: x",
        ),
        (
            "a: 1\nname:demo\nb: 2\n",
            2,
            1,
            "there is not a space behind the colon; write name: demo",
        ),
        ("a:\n- b\n  c: 1\n", 2, 3, "a key needs a colon and a space behind it"),
        ("description: Search: the web\n", 1, 14, f"{COLON}'Search: the web'"),
        ("- a\n- name: it's: b\n", 2, 9, f"{COLON}'it''s: b'"),
        ("a: [#x, y]\n", 1, 5, "what follows '#' is a comment; put the text in quotes: '#x'"),
        ("a: {b: c #x}\n", 1, 10, "what follows '#' is a comment; put the text in quotes: '#x'"),
        ("a: 1\nb #c: d\n", 2, 1, "what follows ' #' is a comment; put the text in quotes"),
        ("a: [1, 2\nb: 1\n", 1, 4, "the [ that opens here is not closed; add ]"),
        ("a: {x: 1\nb: 2\n", 1, 4, "the { that opens here is not closed; add }"),
        (
            "a: - x\n",
            1,
            4,
            "a list begins on a line of its own; if this is a text, put it in quotes: '- x'",
        ),
        ("a: 1\n  b: 2\n", 2, 3, INDENT),
        ("a:\n  - b\n c: 1\n", 3, 2, INDENT),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_fr_32_a_syntax_error_says_what_to_mend_and_where(parser, text, line, column, hint, end):
    found = problems_of(text.replace("\n", end))
    assert ("syntax", line, column, f"is not valid YAML: {hint}.") in found


@pytest.mark.parametrize(
    ("text", "column", "quoted"),
    [
        ("a: Fix #5 now\n", 4, "'Fix #5 now'"),
        ("a: #fff\n", 3, "'#fff'"),
        ("- é\n- #fff  \n", 2, "'#fff'"),
        ("é: ü\nb: it's\t#1\n", 4, "'it''s\\u{9}#1'"),
        ("a: [x #y\n , z]\n", 5, "'x #y'"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_fr_32_a_text_that_a_number_sign_cuts_off_is_refused(parser, text, column, quoted, end):
    found = [one for one in problems_of(text.replace("\n", end)) if one[0] == "comment"]
    [(_, _, where, message)] = found
    assert where == column
    assert message == (
        f"found a comment where a text may be meant; put the text in quotes: {quoted}, "
        "or put a space behind the '#'."
    )


@pytest.mark.parametrize(
    "text",
    ["a: x # y\n", "a: 'x' #y\n", "#a\na: x\n  #b\n", "a: #b\n  - c\n", "a: x ##\n", "a: x#y\n"],
)
def test_other_comments_are_comments(parser, text):
    assert list(plain(read_yaml(text.encode(), "plugin.yaml"))) == ["a"]


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        (
            "a: >2\nb: 1\n",
            "empty-block",
            "found the start of a block of text; put the text in quotes: '>2'.",
        ),
        (
            "a: !=2.0\n",
            "tag",
            "found a tag (!name); if it is a text, put it in quotes: '!=2.0'.",
        ),
    ],
)
def test_ranges_of_versions_that_yaml_takes_for_something_else(parser, text, code, message):
    assert problems_of(text) == [(code, 1, 4, message)]


def test_hints_are_found_in_a_moment_and_on_lines_of_any_length():
    began = time.process_time()
    for text in ("a: [" + "[]," * 20_000, "a: b\n" * 9 + "x" * 10**6, "a: '" + "x" * 10**6):
        assert [code for code, *_ in problems_of(text)][-1] in ("syntax", "too-many-nodes")
    assert problems_of("a: [" + "[{'\"" * 200)
    assert time.process_time() - began < 1


def test_the_error_names_file_count_and_places():
    with pytest.raises(ManifestError) as caught:
        read_yaml(b"a: &x 1\nb: !t 2\n", "plugin.yaml")
    assert str(caught.value) == (
        "plugin.yaml can't be used: 2 problems.\n"
        "plugin.yaml:1:4: found an anchor (&name); remove it.\n"
        "plugin.yaml:2:4: found a tag (!name); remove it, the field decides the type."
    )
    assert pickle.loads(pickle.dumps(caught.value)).problems == caught.value.problems


def test_the_caller_chooses_the_error():
    with pytest.raises(SettingsError):
        read_yaml(b"[]", "settings.yaml", SettingsError)


HOSTILE = {
    "[": b"[",
    "{": b"{",
    "[a: ": b"[a: ",
    "- ": b"- ",
    "? ": b"? ",
    "quotes": b'"',
    "single quotes": b"'",
    "quoted lines": b'"\n',
    "sexagesimal": b"1:59:59",
    "sexagesimal list": b"- 1:59:59\n",
    "colons": b"a: ",
    "anchors": b"&a ",
    "anchored list": b"- &a 1\n",
    "alias list": b"- *a\n",
    "tags": b"!",
    "tagged list": b"- !a 1\n",
    "directives": b"%a\n",
    "documents": b"---\n",
    "comments": b"#",
    "blank lines": b"\n",
    "spaces": b" ",
    "control characters": b"\x01",
    "separators": "\u2028".encode(),
    "bad bytes": b"\xff",
    "block": b"|\n ",
    "escapes": b"\\u0000",
    "duplicate keys": b"a: 1\n",
    "different lines": b"a\n",
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("start", [b"", b"a: "], ids=["bare", "value"])
def test_s30_a_mebibyte_of_anything_is_read_or_refused_at_once(unit, start):
    data = (start + unit * 2**20)[: 2**20]
    began = time.process_time()
    try:
        read_yaml(data, "plugin.yaml")
    except ManifestError:
        pass
    assert time.process_time() - began < 1


def test_fr_02_anchors_and_nests_are_refused_in_a_moment():
    merges = "L0: &L0 {a: 1}\n" + "".join(
        f"L{i}: &L{i}\n  <<: [*L{i - 1}, *L{i - 1}]\n" for i in range(1, 21)
    )
    lists = "a: &a [x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: [*c,*c,*c,*c]\n"
    nest = "a: " + "[" * 2000 + "]" * 2000
    began = time.process_time()
    assert {code for code, *_ in problems_of(merges)} == {"anchor", "alias", "merge-key", "more"}
    assert {code for code, *_ in problems_of(lists)} == {"anchor", "alias"}
    assert [code for code, *_ in problems_of(nest)] == ["too-deep"]
    assert time.process_time() - began < 0.1


def outcome(data: bytes):
    """The mapping, or the problems."""
    try:
        return read_yaml(data, "plugin.yaml"), ()
    except ManifestError as error:
        return None, error.problems


@given(st.binary(max_size=200))
def test_arbitrary_bytes_raise_nothing_but_a_manifest_error(data):
    document, problems = outcome(data)
    assert (document is None) == bool(problems)
    assert all(problem.message.endswith(".") for problem in problems)


PIECES = ["a", "b: ", ": ", "- ", "\n", "\n  ", "[", "]", "{", "}", ",", "'", '"', "&x ", "*x"]
PIECES += ["!t ", "<<", "? ", "|", ">", "#", "---\n", "...", "%YAML 1.2\n", "\t", "\\", "~"]
PIECES += ["é", "\r\n", "\0"]
FRAGMENTS = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


@given(FRAGMENTS)
def test_yaml_like_text_raises_nothing_but_a_manifest_error(text):
    document, problems = outcome(text.encode())
    assert (document is None) == bool(problems)


@given(FRAGMENTS)
def test_what_is_read_is_what_pyyaml_composes(text):
    try:
        document = read_yaml(text.encode(), "plugin.yaml")
    except ManifestError:
        return
    loader = yaml.CBaseLoader if yaml.__with_libyaml__ else yaml.BaseLoader
    assert plain(document) == yaml.load(text, loader)


TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029\ufeff"),
    max_size=30,
)
TREES = st.dictionaries(
    TEXTS,
    st.recursive(
        TEXTS,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
        max_leaves=10,
    ),
    max_size=4,
)


@given(TREES)
def test_what_was_written_is_read_back(tree):
    text = yaml.safe_dump(tree, allow_unicode=True)
    assert plain(read_yaml(text.encode(), "plugin.yaml")) == (tree or {})


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML was built without libyaml")
@given(FRAGMENTS)
def test_both_parsers_read_the_same(text):
    compiled, _ = outcome(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml, "__with_libyaml__", False)
        pure, _ = outcome(text.encode())
    if compiled is not None and pure is not None:  # each is stricter somewhere
        assert plain(compiled) == plain(pure)


def test_without_libyaml_the_pure_parser_is_used(monkeypatch):
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    assert isinstance(reader.parser_for("a: 1"), reader._PureParser)


def test_the_reader_is_not_imported_with_lionplug():
    code = "import sys, lionplug, lionplug.errors; sys.exit('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("data", [b"- \tname: tidy\n", b"a: \t- b\n", b"a: ]b\n", b"- `x\n"])
def test_a_hint_shows_no_character_that_is_not_printed(data):
    with pytest.raises(ManifestError) as refused:
        read_yaml(data, "plugin.yaml")
    assert all(str(problem).isprintable() for problem in refused.value.problems)
