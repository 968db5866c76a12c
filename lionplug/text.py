r"""The one place where text that somebody else wrote is made fit to be shown.

Names, paths, commands and addresses must be shown *exactly*: :func:`exact` gives
printable ASCII from which the text can be read back. Descriptions must be *readable*:
:func:`prose` keeps letters of every script and shows all else as an escape. Neither
interprets anything, so markup, control sequences and invisible characters come out as
the characters that they are (security rule S24).
"""

from __future__ import annotations

from lionplug.imports import safe_imports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Columns that a command may take on one line before it is shown element by element.
ARGV_COLUMNS = 76

#: Combining marks that one letter may carry; scripts in use need no more, and a higher
#: stack is drawn over the lines above and below it.
MARKS_PER_LETTER = 4

# Code points that are letters or marks by their category and yet draw nothing: Unicode's
# Default_Ignorable_Code_Point, the fillers and the blanks.
_BLANK = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0x13430, 0x1345F),  # joiners, fillers and blanks of Egyptian hieroglyphs
    (0x16FE4, 0x16FE4),  # filler of the Khitan small script
    (0x1BCA0, 0x1BCA3),
    (0x1D159, 0x1D159),  # a note without a head
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)


def exact(text: str) -> str:
    r"""Return ``text`` in printable ASCII, from which it can be read back.

    For names, paths, references, addresses and patterns. Printable ASCII is kept; any
    other character becomes ``\u{hex}``, and so does a backslash that would begin such
    an escape. Two different texts never look the same.

    :param text: Any text, lone surrogates included.
    """
    return "".join(_exact_pieces(text))


def _exact_pieces(text: str) -> Iterator[str]:
    for index, character in enumerate(text):
        if " " <= character <= "~" and not _begins_escape(text, index):
            yield character
        else:
            yield _escape(character)


def prose(text: str, limit: int | None = None) -> str:
    r"""Return a description on one line, readable and with nothing invisible in it.

    Kept are printable ASCII and the letters, marks, digits and punctuation of every
    script. Line breaks, tabs and repeated spaces become one space. All else is escaped
    as by :func:`exact`: symbols, control and format characters, characters that draw
    nothing, and marks that stand on no letter or pile up.

    :param text: Any text.
    :param limit: The greatest length of the result; a longer one ends in ``...``.
    """
    pieces = list(_prose_pieces(text))
    if limit is None or sum(map(len, pieces)) <= limit:
        return "".join(pieces)
    room = max(limit - len("..."), 0)
    kept: list[str] = []
    for piece in pieces:  # whole pieces, so that no escape is cut in the middle
        room -= len(piece)
        if room < 0:
            break
        kept.append(piece)
    return "".join(kept).rstrip() + "..."[:limit]


def _prose_pieces(text: str) -> Iterator[str]:
    marks = MARKS_PER_LETTER  # as if full: a mark at the very start stands on nothing
    gap = started = False
    text = text.replace("\r\n", "\n")
    for index, character in enumerate(text):
        if character in " \n\t":
            gap, marks = started, MARKS_PER_LETTER
            continue
        if gap:
            yield " "
        gap, started = False, True
        kind = visible_kind(character)
        if kind == "mark" and marks < MARKS_PER_LETTER:
            marks += 1
            yield character
            continue
        marks = 0 if kind == "letter" else MARKS_PER_LETTER
        keep = kind not in ("", "mark") and not _begins_escape(text, index)
        yield character if keep else _escape(character)


def readable(text: str) -> str:
    r"""Return one line of a file's content, readable and with nothing invisible in it.

    As :func:`exact`, but letters, marks, digits and punctuation of every script stay as
    they are. Spaces are kept, so the text can be read back.
    """
    pieces = []
    marks = MARKS_PER_LETTER
    for index, character in enumerate(text):
        kind = visible_kind(character)
        marks = {"letter": 0, "mark": marks + 1}.get(kind, MARKS_PER_LETTER)
        keep = kind and marks <= MARKS_PER_LETTER and not _begins_escape(text, index)
        pieces.append(character if keep else _escape(character))
    return "".join(pieces)


def visible_kind(character: str) -> str:
    """Return what a character is to a reader of prose.

    :param character: One character.
    :returns: ``"letter"`` (digits too), ``"mark"``, ``"punctuation"`` (all ASCII signs
        too), or ``""`` for what prose does not show as it is.
    """
    if character <= "~":
        if character.isalnum():
            return "letter"
        return "punctuation" if character >= " " else ""
    if is_blank(character):
        return ""
    with safe_imports():
        import unicodedata
    category = unicodedata.category(character)
    if category[0] == "L" or category == "Nd":
        return "letter"
    if category in ("Mn", "Mc"):
        return "mark"
    return "punctuation" if category[0] == "P" else ""


def is_blank(character: str) -> bool:
    """Tell whether a character draws nothing at all, or steers how others are drawn.

    True of zero-width characters, directional controls, fillers, variation selectors and
    tag characters; false of spaces and of the control characters of ASCII.
    """
    point = ord(character)
    return point >= _BLANK[0][0] and any(first <= point <= last for first, last in _BLANK)


def argv_json(argv: Sequence[str]) -> list[str]:
    """Return a command as a JSON array in printable ASCII, as lines.

    On one line if that fits 76 columns, else one element per line. The joined lines
    parse back to the same command (given text without lone surrogates, which no reader
    of lionplug lets pass).
    """
    elements = [json_text(element) for element in argv]
    line = "[" + ", ".join(elements) + "]"
    if len(line) <= ARGV_COLUMNS:
        return [line]
    return ["[", *(f"  {element}," for element in elements[:-1]), f"  {elements[-1]}", "]"]


def json_text(text: str) -> str:
    """Return ``text`` as a JSON string in printable ASCII."""
    with safe_imports():
        import json
    # DEL is the one control character that JSON lets stand.
    return json.dumps(text).replace("\x7f", "\\u007f")


def quote(text: str) -> str:
    r"""Return ``text`` as one word of a shell command that is printed for a person.

    Printable ASCII is quoted as POSIX shells want it. Anything else becomes the
    ``$'…'`` form of bash, zsh and ksh, whose octal escapes stand for the bytes of the
    text in UTF-8, so that what is printed stays printable ASCII (security rule S37).
    """
    if all(" " <= character <= "~" for character in text):
        with safe_imports():
            import shlex
        return shlex.quote(text)
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # no file has such a name; show it all the same
        data = text.encode("utf-8", "surrogatepass")
    return "$'" + "".join(_shell_piece(byte) for byte in data) + "'"


def _shell_piece(byte: int) -> str:
    if 0x20 <= byte <= 0x7E and byte not in b"'\\":
        return chr(byte)
    return f"\\{byte:03o}"


def _begins_escape(text: str, index: int) -> bool:
    return text.startswith("\\u{", index)


def _escape(character: str) -> str:
    return f"\\u{{{ord(character):x}}}"
