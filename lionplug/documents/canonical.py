"""One spelling for JSON data, so that equal data have equal digests."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical_json(value: Any) -> bytes:
    """Return JSON data in the one spelling that digests are taken of.

    Keys sorted by code point, no spaces, ASCII only, integers and floats as Python
    writes them.

    :param value: Dictionaries with text keys, lists, texts, finite numbers, booleans, ``None``.
    :raises ValueError: A number is not finite.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def canonical_digest(value: Any) -> str:
    """Return ``sha256:`` and the hex digest of :func:`canonical_json`."""
    return "sha256:" + hashlib.sha256(canonical_json(value)).hexdigest()
