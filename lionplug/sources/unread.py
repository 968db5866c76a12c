"""Why a signature is not known, told in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from lionplug.text import exact

#: Characters of the helper's own words that are kept.
MAX_MESSAGE = 200

# What a name of the source stands for if not for a function that is defined there.
_INSTEAD = {
    "class": "is a class",
    "import": "is imported from elsewhere",
    "value": "is assigned, and not defined by 'def'",
    "unknown": "may come from 'import *' or a module's '__getattr__'",
    "parameters": "has too many parameters",
}


@frozen(kw_only=True)
class Unread:
    """Why the signature of a function is not known.

    :param reason: A few words in printable ASCII that go on after "not shown: ".
    :param missing: Whether the source could be read and surely has no such function, so
        that a call of it would fail.
    """

    reason: str
    missing: bool = False

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], name: str) -> Unread:
        """Read what the helper process says of one function, strictly.

        :param data: The helper's answer, of which nothing is believed.
        :param name: The function that was asked for.
        :raises ValueError: It is no such answer.
        """
        code = data.get("unread")
        if code == "syntax" and data.keys() == {"unread", "line", "message"}:
            return cls(reason=_syntax(data["line"], _text(data["message"])))
        if code == "missing" and data.keys() == {"unread", "near"}:
            near = _text(data["near"])
            hint = f" (did you mean '{exact(near)}'?)" if near else ""
            return cls(reason=f"no top-level function '{exact(name)}'{hint}", missing=True)
        if isinstance(code, str) and code in _INSTEAD and data.keys() == {"unread"}:
            return cls(reason=f"'{exact(name)}' {_INSTEAD[code]}")
        if code == "nested" and data.keys() == {"unread"}:
            return cls(reason="the source is nested too deeply")
        raise ValueError("not an answer")


def _syntax(line: object, message: str) -> str:
    if type(line) is not int or not 0 <= line <= 2**31:
        raise ValueError("not an answer")
    where = f"line {line:,}" if line else "the source"
    return f"{where} doesn't parse: {exact(message)}"


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > MAX_MESSAGE:
        raise ValueError("not an answer")
    return value
