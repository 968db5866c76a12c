"""Foreign regular expressions are matched in bounded time and memory, or refused (S28)."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionplug.documents.patterns import found_in, why_not_pattern

LOOK_AROUND = "look-around can't be matched in bounded time; write the pattern without it"
BACK_REFERENCE = "back-references can't be matched in bounded time; write the pattern without them"


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("a(?=b)", LOOK_AROUND),
        ("a(?!b)", LOOK_AROUND),
        ("(?<=a)b", LOOK_AROUND),
        ("(?<!a)b", LOOK_AROUND),
        (r"(a)\1", BACK_REFERENCE),
        (r"(?P<x>a)(?P=x)", BACK_REFERENCE),
        ("a" * 201, "expected a pattern of at most 200 characters, found 201"),
        ("(", "expected a regular expression: missing ), unterminated subpattern at position 0"),
        ("a**", "expected a regular expression: multiple repeat at position 2"),
        (
            r"a\Z",
            "RE2, which matches in bounded time, refuses it: invalid escape sequence: \\Z",
        ),
    ],
)
def test_s28_what_is_refused_and_why(pattern, reason):
    assert why_not_pattern(pattern) == reason


def test_s28_a_repetition_beyond_all_bounds_is_refused():
    assert why_not_pattern("a{99999999999}") is not None
    assert why_not_pattern("(" * 100 + ")" * 99) is not None
    assert why_not_pattern("((((a{100}){100}){100}){100})") is not None


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("web_.*", "my_web_search", True),
        ("^web", "my_web", False),
        ("Web", "web", False),
        ("(?i)Web", "web", True),
        ("é+", "caféé", True),
        ("a$", "a\n", False),
        ("a", "\ud800a", False),
    ],
)
def test_patterns_are_searched_anywhere_and_by_case(pattern, text, found):
    assert why_not_pattern(pattern) is None
    assert found_in(pattern, text) is found


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a+)+$", "a" * 27 + "!"),
        ("(a|aa)+$", "a" * 200 + "!"),
        ("(.*)*x", "y" * 256),
        ("a?" * 60 + "a" * 60, "a" * 60),
        ("(x+x+)+y", "x" * 256),
    ],
)
def test_s28_nested_quantifiers_cost_nothing(pattern, text):
    why_not_pattern("warm")
    began = time.process_time()
    assert why_not_pattern(pattern) is None
    found_in(pattern, text)
    assert time.process_time() - began < 0.05


EXPLODING = ["((((a{30}){30}){30}){30})", "(?:" * 50 + "a" + "){1,9}" * 50, "[^a]{1000}" * 20]


def test_s28_patterns_that_explode_when_compiled_stay_within_50_ms_and_50_mib():
    code = f"""
import resource, threading, time
from lionplug.documents.patterns import found_in, why_not_pattern
why_not_pattern("warm")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
took = []
def work():
    for pattern in {[one[:400] for one in EXPLODING] + ["(a{1,99}){1,9}" * 28]!r}:
        began = time.process_time()
        why_not_pattern(pattern)
        took.append(time.process_time() - began)
        why_not_pattern(pattern[:200])
thread = threading.Thread(target=work)
thread.start()
thread.join()
assert len(took) == 4 and max(took) < 0.05, took
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert grown < 50 * 1024, grown
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_s28_matching_works_in_a_worker_thread():
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(found_in("(a+)+$", "a" * 27 + "!")))
    thread.start()
    thread.join(1)
    assert found == [False]


@given(st.text("ab()[]{}|*+?^$.\\d1,:=!<P>-", max_size=20))
def test_a_pattern_is_refused_or_compiles_in_both_engines(pattern):
    if why_not_pattern(pattern) is None:
        re.compile(pattern)
        assert found_in(pattern, "abab") in (True, False)


def test_re2_is_loaded_only_when_a_pattern_is_checked():
    code = (
        "import sys, lionplug.manifest.parse, lionplug.documents.patterns\n"
        "assert 're2' not in sys.modules\n"
        "lionplug.documents.patterns.why_not_pattern('a')\n"
        "assert 're2' in sys.modules\n"
        "assert 'jsonschema' not in sys.modules\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
