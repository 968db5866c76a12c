"""Matchers: for which tool names an external hook runs (S28)."""

from __future__ import annotations

import re

from lionplug.documents.patterns import found_in, why_not_pattern

#: Longest name that a pattern is tried on.
MAX_NAME = 256

_PLAIN = re.compile(r"[A-Za-z0-9_\-,| ]+").fullmatch
_SEPARATORS = re.compile(r"[,|]")


def names_of(matcher: str) -> tuple[str, ...] | None:
    """Return the exact names that a matcher lists, or ``None`` if it is a pattern.

    :param matcher: Letters, digits, ``_``, ``-``, ``,``, ``|`` and spaces only are a list.
    """
    if not _PLAIN(matcher):
        return None
    return tuple(name for part in _SEPARATORS.split(matcher) if (name := part.strip()))


def why_not_matcher(matcher: str) -> str | None:
    """Return why a text is no matcher, or ``None``."""
    if matcher in ("", "*"):
        return None
    names = names_of(matcher)
    if names is None:
        return why_not_pattern(matcher)
    return None if names else "expected names of tools"


def matches(matcher: str, name: str) -> bool:
    """Tell whether a matcher covers a name.

    :param matcher: One without fault; ``*`` and the empty text cover all names.
    :param name: The name; a pattern covers no name of more than 256 characters.
    """
    if matcher in ("", "*"):
        return True
    names = names_of(matcher)
    if names is not None:
        return name in names
    return len(name) <= MAX_NAME and found_in(matcher, name)
