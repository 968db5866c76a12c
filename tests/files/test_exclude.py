"""security rule S13: what is neither hashed nor copied."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionplug.files.exclude import (
    LONGEST_PATTERN,
    Exclusion,
    always_left_out,
    check_pattern,
    matches,
)


def reference(pattern: list[str], path: list[str]) -> bool:
    """Match as the rule says it, by trying everything; a covered directory counts."""

    def segment(glob: str, text: str) -> bool:
        if not glob:
            return not text
        if glob[0] == "*":
            return any(segment(glob[1:], text[cut:]) for cut in range(len(text) + 1))
        return bool(text) and glob[0] in ("?", text[0]) and segment(glob[1:], text[1:])

    def whole(globs: list[str], segments: list[str]) -> bool:
        if not globs:
            return not segments
        if globs[0] == "**":
            return any(whole(globs[1:], segments[cut:]) for cut in range(len(segments) + 1))
        return bool(segments) and segment(globs[0], segments[0]) and whole(globs[1:], segments[1:])

    return any(whole(pattern, path[:length]) for length in range(1, len(path) + 1))


glob_segments = st.one_of(
    st.just("**"),
    st.text("ab*?.", min_size=1, max_size=4).filter(
        lambda text: "**" not in text and text not in (".", "..")
    ),
)
path_segments = st.text("abc.", min_size=1, max_size=4)


@given(
    st.lists(glob_segments, min_size=1, max_size=5), st.lists(path_segments, min_size=1, max_size=5)
)
def test_s13_matching_agrees_with_a_recursive_reference(pattern, path):
    assert check_pattern("/".join(pattern)) is None
    assert matches("/".join(pattern), "/".join(path)) == reference(pattern, path)


@given(
    st.lists(st.lists(glob_segments, min_size=1, max_size=3), max_size=4),
    st.lists(path_segments, min_size=1, max_size=4),
)
def test_s13_several_patterns_exclude_what_any_of_them_matches(patterns, path):
    exclusion = Exclusion(["/".join(pattern) for pattern in patterns])
    assert exclusion("/".join(path), False) == any(reference(pattern, path) for pattern in patterns)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("tests", "tests", True),
        ("tests", "tests/test_a.py", True),
        ("tests", "src/tests", False),
        ("**/tests", "src/tests/x", True),
        ("**/tests", "tests", True),
        ("*.log", "a.log", True),
        ("*.log", "logs/a.log", False),
        ("**/*.log", "logs/deep/a.log", True),
        ("docs/**", "docs", True),
        ("docs/**", "docs/a/b", True),
        ("docs/**/*.md", "docs/a.md", True),
        ("docs/**/*.md", "docs/a/b/c.md", True),
        ("docs/**/*.md", "other/docs/a.md", False),
        ("**", "anything/at/all", True),
        ("a?c", "a/c", False),
        ("a*c", "a/c", False),
        ("Tests", "tests", False),
        ("?", "é", True),
        ("*", ".hidden", True),
        ("build", "builder", False),
        ("{a,b}", "a", False),
    ],
)
def test_s13_patterns_match_the_whole_relative_path(pattern, path, expected):
    assert check_pattern(pattern) is None
    assert matches(pattern, path) is expected


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("", "is empty"),
        ("a" * (LONGEST_PATTERN + 1), "is longer than 1024 characters"),
        ("!keep", "begins with '!': patterns can't be negated"),
        ("[ab]", "holds '[' or ']': there are no classes; '?' stands for one character"),
        (
            "a\\b",
            "holds a backslash: segments are joined by '/' and nothing is escaped",
        ),
        ("a\x00", "holds the control character \\u{0}, which no name may hold"),
        ("/a", "begins with '/': patterns are relative to the bundle"),
        ("a/", "ends with '/': a match on a directory covers its contents without it"),
        ("a//b", "has an empty, '.' or '..' segment"),
        ("../a", "has an empty, '.' or '..' segment"),
        ("./a", "has an empty, '.' or '..' segment"),
        ("a**", "holds '**' beside other characters: it has to be a whole segment"),
        ("***", "holds '**' beside other characters: it has to be a whole segment"),
    ],
)
def test_s13_what_is_no_pattern_is_named(pattern, reason):
    assert check_pattern(pattern) == reason


def test_s13_no_pattern_makes_matching_slow():
    pattern = "/".join(["**", "*a" * 60] * 8)
    path = "/".join(["a" * 250 + "b"] * 16)
    start = time.perf_counter()
    assert not matches(pattern, path)
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize("name", [".git", ".hg", ".svn"])
def test_s13_version_control_is_left_out_at_the_top_and_as_a_directory(name):
    exclusion = Exclusion()
    assert exclusion(name, True)
    assert not exclusion(name, False)
    assert not exclusion(f"vendor/{name}", True)
    assert not exclusion(name.upper(), True)
    assert exclusion.found == [name]


def test_s13_bytecode_directories_are_left_out_everywhere():
    exclusion = Exclusion()
    assert exclusion("__pycache__", True)
    assert exclusion("a/b/__pycache__", True)
    assert not exclusion("a/__pycache__", False)
    assert not exclusion("a/__PYCACHE__", True)
    assert not exclusion("my__pycache__", True)
    assert exclusion.found == ["__pycache__", "a/b/__pycache__"]


def test_s13_found_names_each_path_once_and_sorted():
    exclusion = Exclusion(["z", "a"])
    for _ in range(2):
        for path in ("z", "a", "b"):
            exclusion(path, False)
    assert exclusion.found == ["a", "z"]


@pytest.mark.parametrize(
    ("path", "is_dir", "expected"),
    [
        (".git/hooks/x", False, ".git"),
        ("a/__pycache__/b.py", False, "a/__pycache__"),
        ("a/__pycache__", True, "a/__pycache__"),
        ("a/__pycache__", False, None),
        (".git", False, None),
        (".git", True, ".git"),
        ("a/.git/x", False, None),
        ("a.py", False, None),
    ],
)
def test_s13_a_path_through_what_is_left_out_is_recognised(path, is_dir, expected):
    assert always_left_out(path, is_dir) == expected
