"""From bytes to text: what a document may consist of, before any parser sees it (S30).

YAML readers disagree about encodings, about what ends a line and about control
characters. A document that two readers could take for two different ones is refused.
"""

from __future__ import annotations

import re
from itertools import islice

from lionplug.documents.problems import LIMIT, Problems

#: Largest document, in bytes.
MAX_BYTES = 2**20

_UTF8_MARK = b"\xef\xbb\xbf"
_WIDE_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
# How two ASCII characters at the very start look without a mark.
_WIDE_STARTS = (
    (re.compile(rb"[^\x00]\x00{3}[^\x00]\x00{3}|\x00{3}[^\x00]\x00{3}[^\x00]"), "UTF-32"),
    (re.compile(rb"[^\x00]\x00[^\x00]\x00|\x00[^\x00]\x00[^\x00]"), "UTF-16"),
)
# Of these, text in ASCII with line feeds consists: no further look is needed.
_USUAL = bytes((0x09, 0x0A, *range(0x20, 0x7F)))
_REFUSED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]|\r(?!\n)"
)
_SEPARATORS = {"\x85": "NEL (U+0085)", "\u2028": "LS (U+2028)", "\u2029": "PS (U+2029)"}


def decode_text(data: bytes, problems: Problems) -> str | None:
    """Return the text of a document, or ``None`` after its problems were noted.

    A byte order mark of UTF-8 at the very start is left out.
    """
    if len(data) > MAX_BYTES:
        problems.add(
            "too-large",
            f"expected at most {MAX_BYTES} bytes, found {len(data)}; move long texts into "
            "files of their own.",
        )
        return None
    if not data.translate(None, _USUAL):
        return data.decode("ascii")
    wide = _wide_encoding(data)
    if wide:
        problems.add("encoding", f"expected UTF-8, found {wide}; save the file as UTF-8.", 1, 1)
        return None
    body = data.removeprefix(_UTF8_MARK)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        _note_bad_bytes(error, len(data) - len(body), problems)
        return None
    if _REFUSED.search(text):
        _note_refused(text, problems)
        return None
    return text


def _wide_encoding(data: bytes) -> str | None:
    for mark, name in _WIDE_MARKS:
        if data.startswith(mark):
            return name
    for start, name in _WIDE_STARTS:
        if start.match(data):
            return name
    return None


def _note_bad_bytes(error: UnicodeDecodeError, offset: int, problems: Problems) -> None:
    before = error.object[: error.start]
    line = before.count(b"\n") + 1
    column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8")) + 1
    problems.add(
        "encoding",
        f"expected UTF-8, found the byte 0x{error.object[error.start]:02x} at offset "
        f"{offset + error.start}; save the file as UTF-8.",
        line,
        column,
    )


def _note_refused(text: str, problems: Problems) -> None:
    line, start, seen = 1, 0, 0
    found = _REFUSED.finditer(text)
    for match in islice(found, LIMIT):
        breaks = text.count("\n", seen, match.start())
        if breaks:
            line += breaks
            start = text.rfind("\n", seen, match.start()) + 1
        seen = match.start()
        code, message = _why_refused(match.group())
        problems.add(code, message, line, match.start() - start + 1)
    problems.count += sum(1 for _ in found)


def _why_refused(character: str) -> tuple[str, str]:
    if character == "\x00":
        return "nul", "expected text, found a NUL character; remove it."
    if character == "\r":
        return (
            "lone-cr",
            "found a carriage return without a line feed, which some readers take for the end "
            "of the line and some don't; end lines with LF or CRLF.",
        )
    if character in _SEPARATORS:
        return (
            "line-separator",
            f"found {_SEPARATORS[character]}, which some readers take for the end of the line "
            "and some don't; remove it, or write it as an escape in double quotes.",
        )
    if character == "\ufeff":
        return "byte-order-mark", "found a byte order mark inside the text; remove it."
    return (
        "control-character",
        f"found the control character U+{ord(character):04X}; remove it, or write it as an "
        "escape in double quotes.",
    )
