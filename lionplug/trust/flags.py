"""What a reader of one file should know before approving it (security rule S25).

Each flag says what is unusual about the bytes of a file, how often and where. A flag of
severity ``"refuse"`` makes an approval impossible: what runs would not be what is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from attrs import frozen

from lionplug.sources import declared_encoding, is_utf8_name
from lionplug.text import exact
from lionplug.trust.filetypes import is_python, is_python_name

#: Bytes from the start of a file that are examined.
EXAMINED = 2**20
#: Positions that a flag names.
POSITIONS = 5
#: Characters of a line of code, and of any other text, above which it can't be read.
LONG_CODE_LINE = 1_000
LONG_TEXT_LINE = 5_000

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_INVISIBLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f"
    "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U00013430-\U0001345f\U00016fe4\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_CONTROL = "\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f"
_SEPARATORS = "\x85\u2028\u2029"


@frozen
class _Search:
    code: str
    pattern: re.Pattern[str]
    one: str
    several: str


_SEARCHES = (
    _Search(
        "bidi", re.compile(f"[{_BIDI}]"), "character that steers the direction of text",
        "characters that steer the direction of text",
    ),
    _Search(
        "invisible", re.compile(f"[{_INVISIBLE}]"), "invisible character", "invisible characters"
    ),
    _Search("control", re.compile(f"[{_CONTROL}]"), "control character", "control characters"),
    _Search(
        "lone-cr", re.compile(r"\r(?!\n)"), "lone carriage return, which begins a new line of code",
        "lone carriage returns, each of which begins a new line of code",
    ),
    _Search(
        "separator", re.compile(f"[{_SEPARATORS}]"), "line separator that editors don't show",
        "line separators that editors don't show",
    ),
)  # fmt: skip


@frozen(kw_only=True)
class Flag:
    """One thing that is unusual about a file.

    :param code: Stable identifier: ``bidi``, ``invisible``, ``control``, ``lone-cr``,
        ``separator``, ``encoding``, ``binary``, ``long-line``, ``executable``,
        ``undeclared-code`` or ``unexamined``.
    :param message: What was found, in printable ASCII.
    :param severity: ``"note"``, ``"warn"`` or ``"refuse"``.
    :param count: How often it was found.
    :param positions: (line, column) of the first few, both from 1.
    """

    code: str
    message: str
    severity: str = "warn"
    count: int = 1
    positions: tuple[tuple[int, int], ...] = ()

    def __str__(self) -> str:
        if not self.positions:
            return self.message
        places = ", ".join(f"{line}:{column}" for line, column in self.positions)
        more = ", ..." if self.count > len(self.positions) else ""
        return f"{self.message} (at {places}{more})"

    def to_dict(self) -> dict[str, Any]:
        """Return the flag as JSON-ready data."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "count": self.count,
            "positions": [list(position) for position in self.positions],
        }


def flags_of(path: str, data: bytes, *, code: bool = False, manifest: bool = False) -> list[Flag]:
    """Return the flags of one file's content.

    :param path: Path in the bundle; where a link gives the file a name that ends as Python
        source does, that of the link.
    :param data: The bytes of the file.
    :param code: Whether the file is code.
    :param manifest: Whether it is a manifest, in which hidden line breaks are refused.
    """
    flags = []
    if is_python_name(path):
        # In full: what a reader can't be shown must not begin where nobody looked.
        unreadable = _not_utf8(data)
        if unreadable is not None:
            return [unreadable]
    if len(data) > EXAMINED:
        flags.append(unexamined(EXAMINED, len(data)))
        data = data[:EXAMINED]
    if is_python(path, data):
        flags.extend(_encoding_flags(data))
    text = _decode(data)
    if text is None or "\0" in text:
        return [*flags, Flag(code="binary", message="binary content, which can't be shown as text")]
    starts = _line_starts(text)
    for search in _SEARCHES:
        flags.extend(_search_flags(search, text, starts, manifest))
    flags.extend(_long_line_flags(text, starts, LONG_CODE_LINE if code else LONG_TEXT_LINE))
    return flags


def unexamined(examined: int, size: int, severity: str = "warn") -> Flag:
    """Return the flag of a file of which only the beginning was looked at."""
    return Flag(
        code="unexamined",
        severity=severity,
        message=f"not examined beyond its first {examined:,} of {size:,} bytes",
    )


def _decode(data: bytes) -> str | None:
    """Return the text of a file, ``None`` if it is not UTF-8."""
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        # The examined part may end in the middle of a character.
        if len(data) == EXAMINED and error.reason == "unexpected end of data":
            return data[: error.start].decode("utf-8").removeprefix("\ufeff")
        return None


def _not_utf8(data: bytes) -> Flag | None:
    """Return the flag of Python source that is no text in UTF-8; a byte order mark is allowed."""
    try:
        data.decode("utf-8")
        offset = data.find(0)
    except UnicodeDecodeError as error:
        offset = error.start
    if offset < 0:
        return None
    return Flag(
        code="encoding",
        severity="refuse",
        message=f"is no text in UTF-8: found the byte 0x{data[offset]:02x} at offset {offset:,}, "
        "so it can't be shown as Python would read it; save it as UTF-8 without NUL characters, or "
        "give it another ending if it is no Python source",
    )


def _encoding_flags(data: bytes) -> Iterator[Flag]:
    encoding = declared_encoding(data)
    if encoding is not None and not is_utf8_name(encoding):
        yield Flag(
            code="encoding",
            severity="refuse",
            message=f"declares the source encoding {exact(encoding)}, so Python reads other code "
            "than is shown; only UTF-8 can be approved",
        )


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]


def _search_flags(search: _Search, text: str, starts: list[int], manifest: bool) -> Iterator[Flag]:
    if text.isascii() and search.code in ("bidi", "invisible", "separator"):
        return
    found = [match.start() for match in search.pattern.finditer(text)]
    if not found:
        return
    count = len(found)
    refused = manifest and search.code == "separator"
    yield Flag(
        code=search.code,
        severity="refuse" if refused else "warn",
        message=f"{count:,} {search.several}" if count > 1 else f"1 {search.one}",
        count=count,
        positions=tuple(_positions(found[:POSITIONS], starts)),
    )


def _positions(offsets: Iterable[int], starts: list[int]) -> Iterator[tuple[int, int]]:
    from_line = 0
    for offset in offsets:
        while from_line + 1 < len(starts) and starts[from_line + 1] <= offset:
            from_line += 1
        yield from_line + 1, offset - starts[from_line] + 1


def _long_line_flags(text: str, starts: list[int], limit: int) -> Iterator[Flag]:
    ends = [*starts[1:], len(text)]
    lengths = [end - start for start, end in zip(starts, ends, strict=True)]
    long = [line for line, length in enumerate(lengths, 1) if length > limit]
    if long:
        yield Flag(
            code="long-line",
            message=f"minified: {len(long):,} {'lines' if len(long) > 1 else 'line'} of more "
            f"than {limit:,} characters, the longest {max(lengths):,}",
            count=len(long),
            positions=tuple((line, 1) for line in long[:POSITIONS]),
        )
