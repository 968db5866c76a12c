"""What plain scalars mean where a field wants no text: the YAML 1.2 core schema, bounded."""

from __future__ import annotations

import math
import re

_TRUE = frozenset(("true", "True", "TRUE"))
_FALSE = frozenset(("false", "False", "FALSE"))
_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")

#: Largest magnitude of an integer: what every JSON reader with 64-bit integers can hold.
MAX_INTEGER = 2**63 - 1

# Longer spellings can't be within the bounds, and reading them costs more than linear time.
_LONGEST = 400


def as_boolean(text: str) -> bool | None:
    """Return the truth value that a plain scalar spells, or ``None``."""
    if text in _TRUE:
        return True
    return False if text in _FALSE else None


def as_number(text: str) -> int | float | None:
    """Return the number that a plain scalar spells, or ``None``.

    :raises ValueError: It is not finite or too large; the message says which.
    """
    if not text or text[0] not in "+-.0123456789":
        return None
    if _NOT_FINITE.fullmatch(text):
        raise ValueError("expected a finite number")
    for spelling, base in ((_INTEGER, 10), (_OCTAL, 8), (_HEXADECIMAL, 16)):
        if spelling.fullmatch(text):
            return _bounded_integer(text, base)
    if not _FLOAT.fullmatch(text):
        return None
    number = float(text) if len(text) <= _LONGEST else math.inf
    if not math.isfinite(number):
        raise ValueError("expected a number that fits 64 bits")
    return number


def _bounded_integer(text: str, base: int) -> int:
    number = int(text, 0 if base != 10 else 10) if len(text) <= _LONGEST else MAX_INTEGER + 1
    if abs(number) > MAX_INTEGER:
        raise ValueError("expected an integer that fits 64 bits")
    return number


def as_json(text: str) -> bool | int | float | str | None:
    """Return the JSON value of a plain scalar.

    :raises ValueError: It spells a number that JSON can't carry everywhere.
    """
    if text in _NULL:
        return None
    truth = as_boolean(text)
    if truth is not None:
        return truth
    number = as_number(text)
    return text if number is None else number
