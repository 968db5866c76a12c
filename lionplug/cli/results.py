"""What a tool returned, as text and as JSON."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from lionplug.cli.comparing import readable
from lionplug.cli.output import readable_json
from lionplug.text import exact

#: Deeper values are shown by their ``repr``; this also ends values that hold themselves.
DEEPEST = 64


@frozen(kw_only=True)
class Content:
    """A result as data that JSON has.

    :param value: The data.
    :param as_text: Kinds of values that JSON lacks and that stand there as text, such as
        ``bytes``; each once.
    """

    value: Any
    as_text: tuple[str, ...] = ()


def result_lines(value: object) -> list[str]:
    """Return the data of a result as text: a string as it is, anything else as JSON.

    Characters that do not show are escaped, so that no tool writes to the terminal.
    """
    if isinstance(value, str):
        return readable(value)
    return readable_json(value).split("\n")


def spelled_out(as_text: Sequence[str]) -> list[str]:
    """Say which values of a result are shown as text, if any."""
    if not as_text:
        return []
    kinds = ", ".join(map(exact, as_text))
    return [f"The tool returned what JSON lacks, shown as the text that Python gives: {kinds}."]


def to_json(result: object) -> Content:
    """Return JSON-ready data that says what ``result`` says.

    Tuples and sets become lists, dataclasses objects, keys text; numbers that JSON lacks,
    and any other object, become their ``repr``.
    """
    conversion = _Conversion()
    value = conversion.of(result, DEEPEST)
    return Content(value=value, as_text=tuple(conversion.as_text))


class _Conversion:
    """One conversion, and what in it became text."""

    def __init__(self) -> None:
        self.as_text: dict[str, None] = {}  # in the order of the result

    def of(self, value: object, depth: int) -> Any:
        if value is None or isinstance(value, (str, bool, int)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else self._text(value, repr(value))
        if depth == 0:
            return self._text(value, "what is nested too deeply")
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = [field.name for field in dataclasses.fields(value)]
            return {name: self.of(getattr(value, name, None), depth - 1) for name in names}
        if isinstance(value, Mapping):
            return {_key(key): self.of(item, depth - 1) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.of(item, depth - 1) for item in value]
        if isinstance(value, (set, frozenset)):
            return sorted((self.of(item, depth - 1) for item in value), key=repr)
        return self._text(value, type(value).__name__)

    def _text(self, value: object, kind: str) -> str:
        self.as_text[kind] = None
        return _repr(value)


def _key(key: object) -> str:
    return key if isinstance(key, str) else _repr(key)


def _repr(value: object) -> str:
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001 - a tool's object may do anything
        return f"<{type(value).__name__}: its repr raised {type(error).__name__}>"
