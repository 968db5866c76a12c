"""The encoding that a Python file declares, by the rule of the interpreter (PEP 263)."""

from __future__ import annotations

import re

_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.DOTALL)
_BLANK_OR_COMMENT = re.compile(rb"[ \t\f]*(?:#|\Z)")
_BOM = b"\xef\xbb\xbf"


def declared_encoding(data: bytes) -> str | None:
    """Return the encoding that the first two lines of a Python file name, if they name one.

    A lone carriage return ends a line for the parts of the interpreter that read from
    memory and not for those that read a file, so both readings are looked at and an
    encoding that either finds counts.

    :param data: The bytes of the file, or at least its first two lines.
    """
    data = data.removeprefix(_BOM)
    by_newline = data.split(b"\n", 2)[:2]
    by_any = re.split(rb"\r\n|\r|\n", data, maxsplit=2)[:2]
    for lines in (by_newline, by_any):
        for line in lines:
            match = _COOKIE.match(line)
            if match:
                return match[1].decode("ascii", "replace")
            if not _BLANK_OR_COMMENT.match(line.rstrip(b"\r")):
                break
    return None


def is_utf8_name(encoding: str) -> bool:
    """Tell whether the interpreter reads ``encoding`` as UTF-8."""
    name = encoding.lower().replace("_", "-")
    return name in ("utf-8", "utf8") or name.startswith("utf-8-")
