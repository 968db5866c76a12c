"""Regular expressions that somebody else wrote, matched in bounded time (S28).

Python's own engine can take hours for thirty characters and can't be interrupted, so
it is asked only whether a pattern is one; RE2, which is linear in pattern and text and
bounded in memory, does all matching.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import Any

from lionplug.imports import safe_imports
from lionplug.text import exact

#: Longest pattern, in characters.
MAX_PATTERN = 200

_MAX_MEMORY = 2**20  # bytes for one compiled pattern
_LOOK_AROUND = re.compile(r"\(\?(?:[=!]|<[=!])")
_BACK_REFERENCE = re.compile(r"invalid escape sequence: \\[1-9]")


def why_not_pattern(pattern: str) -> str | None:
    """Return why a pattern is refused, or ``None``.

    :param pattern: A regular expression in the syntax that Python and RE2 share.
    """
    if len(pattern) > MAX_PATTERN:
        return f"expected a pattern of at most {MAX_PATTERN} characters, found {len(pattern)}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "possible nested set" is no reason to refuse
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"expected a regular expression: {exact(str(error))}"
    return _why_not_re2(pattern)


def _why_not_re2(pattern: str) -> str | None:
    try:
        _compile(pattern)
    except (ValueError, UnicodeEncodeError) as error:
        reason = str(error)
    else:
        return None
    if _LOOK_AROUND.search(reason) or "invalid perl operator: (?<" in reason:
        return "look-around can't be matched in bounded time; write the pattern without it"
    if _BACK_REFERENCE.search(reason) or "(?P=" in pattern:
        return "back-references can't be matched in bounded time; write the pattern without them"
    return f"RE2, which matches in bounded time, refuses it: {exact(reason)}"


@lru_cache(maxsize=256)
def _compile(pattern: str) -> Any:
    with safe_imports():
        import re2
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else "no reason given"
        if isinstance(reason, bytes):
            reason = reason.decode("utf-8", "replace")
        raise ValueError(reason) from error


def found_in(pattern: str, text: str) -> bool:
    """Tell whether RE2 finds a pattern anywhere in a text.

    :param pattern: A pattern for which :func:`why_not_pattern` has no objection.
    :param text: Any text; one with lone surrogates matches nothing.
    :raises ValueError: The pattern is none.
    """
    compiled = _compile(pattern)
    try:
        return compiled.search(text) is not None
    except UnicodeEncodeError:
        return False
