"""Did you mean …: the nearest of the names that would have been right."""

from __future__ import annotations

from collections.abc import Iterable

from lionplug.imports import safe_imports

_LONGEST = 64


def did_you_mean(text: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)``, or an empty text if nothing is near.

    :param text: What was written.
    :param known: The names that would have been right; trusted text.
    """
    if len(text) > _LONGEST:
        return ""
    with safe_imports():
        from difflib import get_close_matches
    folded = {name.casefold().replace("-", "_"): name for name in known}
    near = get_close_matches(text.casefold().replace("-", "_"), folded, n=1, cutoff=0.7)
    return f" (did you mean '{folded[near[0]]}'?)" if near else ""


def either(names: Iterable[str]) -> str:
    """Return names as the end of "expected": ``a, b or c``."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
