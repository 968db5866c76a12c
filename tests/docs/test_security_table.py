"""Each security rule names the tests that show it, and each such test names a rule."""

from __future__ import annotations

import pytest

from tests.docs.support import generate, read

RULES = generate().rules_of_page()


def test_the_rules_of_this_version_are_there() -> None:
    frame = {3, 4, 6, 9, 11, *range(13, 20), 22, 23, 24, 25, 28, 29, 30, 31, 33, 34, 36, 37}
    assert frame | {12, 26} <= set(RULES)
    assert list(RULES) == sorted(RULES)


@pytest.mark.parametrize("number", RULES)
def test_every_rule_has_a_test(number: int) -> None:
    assert generate().rule_tests().get(number), f"no test is named test_s{number:02}_..."


@pytest.mark.parametrize("number", RULES)
def test_every_rule_says_what_it_protects(number: int) -> None:
    heading = f"## S{number}: {RULES[number]}\n\n"
    text = read("security.md").partition(heading)[2].partition("<!--")[0]
    assert 80 < len(text) < 700


def test_every_test_that_is_named_after_a_rule_is_in_the_table() -> None:
    assert set(generate().rule_tests()) <= set(RULES)
    page = read("security.md")
    for tests in generate().rule_tests().values():
        for file, name in tests:
            assert f"`{file}`" in page
            assert f"`::{name}`" in page


def test_named_tests_hide_no_other() -> None:
    """Of two functions with one name, pytest runs the last."""
    for number, tests in generate().rule_tests().items():
        assert len(set(tests)) == len(tests), f"S{number}"
