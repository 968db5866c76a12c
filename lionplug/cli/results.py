"""What a tool returned, as text and as JSON."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from lionplug.cli.comparing import readable
from lionplug.cli.output import encode_json

#: Deeper values are shown by their ``repr``; this also ends values that hold themselves.
DEEPEST = 64


def result_lines(result: object) -> list[str]:
    """Return a result as text: a string as it is, anything else as JSON.

    Characters that do not show are escaped, so that no tool writes to the terminal.
    """
    if isinstance(result, str):
        return readable(result)
    return encode_json(jsonable(result)).split("\n")


def jsonable(value: object, depth: int = DEEPEST) -> Any:
    """Return JSON-ready data that says what ``value`` says.

    Tuples and sets become lists, dataclasses objects, keys text; numbers that JSON lacks,
    and any other object, become their ``repr``.
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if depth == 0:
        return _repr(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: jsonable(getattr(value, name, None), depth - 1) for name in names}
    if isinstance(value, Mapping):
        return {_key(key): jsonable(item, depth - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item, depth - 1) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((jsonable(item, depth - 1) for item in value), key=repr)
    return _repr(value)


def _key(key: object) -> str:
    return key if isinstance(key, str) else _repr(key)


def _repr(value: object) -> str:
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001 - a tool's object may do anything
        return f"<{type(value).__name__}: its repr raised {type(error).__name__}>"
