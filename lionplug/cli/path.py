"""Take the working directory off ``sys.path`` before anything is imported from it.

``python -m``, ``PYTHONPATH=.`` and an empty element of ``PYTHONPATH`` put the directory
where the person stands on ``sys.path``, and that may be a hostile repository. Deferred
imports of lionplug's own go through ``safe_imports``; those of click and rich don't, so
the command cleans the path once (security rule S19).
"""

from __future__ import annotations

import sys

from lionplug.imports import safe_path

_taken_off: list[str] = []


def clean_path() -> None:
    """Keep only those entries of ``sys.path`` from which ``safe_imports`` would load."""
    safe = safe_path()
    _taken_off[:] = [entry for entry in sys.path if entry not in safe]
    sys.path[:] = safe


def path_at_start() -> list[str]:
    """Return the entries that :func:`clean_path` took off, and those of ``sys.path`` now."""
    return [*_taken_off, *sys.path]
