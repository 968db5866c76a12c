"""Matchers: exact names in a list, or an RE2 pattern (S28)."""

from __future__ import annotations

import pytest

from lionplug.manifest.matchers import matches, names_of, why_not_matcher


@pytest.mark.parametrize(
    ("matcher", "names"),
    [
        ("web_search", ("web_search",)),
        ("Edit|Write", ("Edit", "Write")),
        ("a, b-c ,d", ("a", "b-c", "d")),
        ("a||b", ("a", "b")),
        ("a.*", None),
        ("é", None),
        ("*", None),
    ],
)
def test_lists_of_names(matcher, names):
    assert names_of(matcher) == names


@pytest.mark.parametrize(
    ("matcher", "name", "covered"),
    [
        ("", "anything", True),
        ("*", "anything", True),
        ("web_search", "web_search", True),
        ("web_search", "web_search2", False),
        ("web", "web_search", False),
        ("Edit|Write", "Write", True),
        ("Edit|Write", "write", False),
        ("mcp__.*", "mcp__x", True),
        ("mcp__.*", "my_mcp__x", True),
        ("^mcp__.*", "my_mcp__x", False),
        ("a.", "a" * 256, True),
        ("a.", "a" * 257, False),
    ],
)
def test_what_a_matcher_covers(matcher, name, covered):
    assert why_not_matcher(matcher) is None
    assert matches(matcher, name) is covered


@pytest.mark.parametrize(
    ("matcher", "reason"),
    [
        (" ", "expected names of tools"),
        ("|,", "expected names of tools"),
        ("(", "expected a regular expression: missing ), unterminated subpattern at position 0"),
        ("." * 201, "expected a pattern of at most 200 characters, found 201"),
    ],
)
def test_what_is_no_matcher(matcher, reason):
    assert why_not_matcher(matcher) == reason
