"""security rule S14: names that mean the same on every system."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionplug.files.names import check_name, check_names
from lionplug.files.trees import Entry


def entries(*paths: str) -> list[Entry]:
    return [Entry(path=path, kind="f") for path in paths]


@pytest.mark.parametrize(
    "name",
    ["a", "a.py", ".hidden", "with space.md", "é", "日本", "con-x", "console", "COM10", "aux1", "-",
     "COM0", "nul_", "a" * 255, "~", "*?<>|\""],
)  # fmt: skip
def test_s14_ordinary_names_pass(name):
    assert check_name(name) is None


@pytest.mark.parametrize(
    ("name", "code", "fault"),
    [
        ("\udcff", "name-encoding", "is not valid UTF-8; rename it"),
        (
            "e\u0301",
            "name-encoding",
            "is not in Unicode form NFC; rename it to \\u{e9}",
        ),
        ("a\nb", "name-character", "holds the control character \\u{a}; rename it"),
        ("a\x7f", "name-character", "holds the control character \\u{7f}; rename it"),
        ("a\x85", "name-character", "holds the control character \\u{85}; rename it"),
        (
            "a\\b",
            "name-character",
            "holds a backslash, which Windows takes for a separator; rename it",
        ),
        (
            "a:b",
            "name-character",
            "holds a colon, which means something else on Windows; rename it",
        ),
        ("a.", "name-ending", "ends in a dot, which Windows takes off; rename it"),
        ("a ", "name-ending", "ends in a space, which Windows takes off; rename it"),
        ("...", "name-ending", "ends in a dot, which Windows takes off; rename it"),
        ("CON", "name-reserved", "is a device on Windows, whatever its extension; rename it"),
        ("nul.yaml", "name-reserved", "is a device on Windows, whatever its extension; rename it"),
        ("Aux .txt", "name-reserved", "is a device on Windows, whatever its extension; rename it"),
        ("com1", "name-reserved", "is a device on Windows, whatever its extension; rename it"),
        ("COM¹.x.y", "name-reserved", "is a device on Windows, whatever its extension; rename it"),
        ("lpt³", "name-reserved", "is a device on Windows, whatever its extension; rename it"),
        ("conin$", "name-reserved", "is a device on Windows, whatever its extension; rename it"),
        ("é" * 128, "name-length", "has a name of 256 bytes, expected at most 255; shorten it"),
        (
            "..",
            "name-form",
            "has an empty, '.' or '..' component; use plain relative paths",
        ),
    ],
)  # fmt: skip
def test_s14_names_that_mean_something_else_elsewhere_are_refused(name, code, fault):
    assert check_name(name) == (code, fault)


@pytest.mark.parametrize(
    ("one", "other"),
    [("a.py", "A.py"), ("straße", "STRASSE"), ("ſ", "s"), ("É", "é"), ("ﬁ", "fi")],
)
def test_s14_siblings_that_collide_are_refused(one, other):
    problems = check_names(entries(f"d/{one}", f"d/{other}"))
    assert [problem.code for problem in problems] == ["name-collision"]
    assert "where upper and lower case are one" in problems[0].message
    assert not check_names(entries(f"d/{one}", f"e/{other}"))


def test_s14_directories_that_are_only_implied_collide_too():
    (problem,) = check_names(entries("A/x", "a/y"))
    assert str(problem) == (
        "a: is the same name as A where upper and lower case are one; rename one of them"
    )


def test_s14_a_bad_directory_name_is_reported_once():
    problems = check_names(entries("nul/a", "nul/b", "nul/c/d"))
    assert [str(problem) for problem in problems] == [
        "nul: is a device on Windows, whatever its extension; rename it"
    ]


def test_s14_a_path_that_is_too_long_is_refused():
    path = "/".join(["a" * 100] * 41)
    problems = check_names(entries(path))
    assert {problem.code for problem in problems} == {"name-length"}
    assert problems[0].message == ("has a path of 4140 bytes, expected at most 4096; shorten it")


@given(st.lists(st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=8)))
def test_s14_what_passes_is_safe_on_every_system(names):
    paths = [f"d/{name}" for name in dict.fromkeys(names)]
    bad = {problem.file for problem in check_names(entries(*paths))}
    passed = [name for name in dict.fromkeys(names) if check_name(name) is None]
    for name in passed:
        assert name == unicodedata.normalize("NFC", name)
        assert name.encode().decode() == name
        assert not set(name) & {"\\", ":", *map(chr, range(32))}
        assert name.rstrip(". ") == name
    folded = [unicodedata.normalize("NFC", name.casefold()) for name in passed]
    assert bool(bad) == (len(passed) < len(paths) or len(set(folded)) < len(folded))


@given(st.text(max_size=20))
def test_s14_no_name_makes_the_check_fail(name):
    check_names(entries(name))
