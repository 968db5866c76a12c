"""What an author most likely meant where a document is no YAML.

A parser says which rule of the grammar was broken; a person wants to know which quote,
colon or indentation to mend. Each function looks for one slip at the place where the
parser gave up and returns where to mend it and how.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from attrs import frozen

from lionplug.text import exact

#: Characters of the author's text that a hint repeats.
_SHOWN = 60
#: Lines above the fault in which an opening quote or a comment is looked for.
_LINES_ABOVE = 50
#: Characters of a line that are looked at.
_COLUMNS = 1_000

_Place = tuple[int, int]  # line and column, both from 0


@frozen
class Fault:
    """Where the parser gave up.

    :param lines: The document.
    :param problem: What the parser says.
    :param place: Line and column of the fault, both from 0.
    :param context: Where that begins which the parser was reading.
    """

    lines: list[str]
    problem: str
    place: _Place
    context: _Place | None

    def line(self, number: int) -> str:
        """Return the beginning of a line, bounded; it is empty beyond the end."""
        return self.lines[number][:_COLUMNS] if 0 <= number < len(self.lines) else ""

    def rest(self, place: _Place) -> str:
        """Return what stands on a line from a place on."""
        return self.line(place[0])[place[1] :]


@frozen
class Slip:
    """What to mend, and where.

    :param hint: What is wrong and what to do.
    :param place: Line and column, both from 0.
    """

    hint: str
    place: _Place


def find_slip(fault: Fault) -> Slip | None:
    """Return the slip that explains a fault, or ``None``."""
    for look in _LOOKS:
        slip = look(fault)
        if slip is not None:
            return slip
    return None


def quoted(text: str) -> str:
    """Return a text as it can be written in single quotes, cut to what a message bears."""
    more = "..." if len(text) > _SHOWN else ""
    return "'" + exact(text[:_SHOWN]).replace("'", "''") + more + "'"


def _tab(fault: Fault) -> Slip | None:
    number, column = fault.place
    line = fault.line(number)
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    if "\t" not in indent or column > len(indent):
        return None
    return Slip("tabs can't indent; use spaces", (number, indent.index("\t")))


def _quote(fault: Fault) -> Slip | None:
    if fault.context is None:
        return None
    if "unknown escape" in fault.problem:
        hint = "in double quotes a backslash begins an escape; use single quotes"
        return Slip(hint, fault.context)
    sign = fault.rest(fault.context)[:1]
    if sign not in ('"', "'") or "unexpected" not in fault.problem:
        return None
    return Slip(f"the quote {sign} that opens here is not closed; close it", fault.context)


def _first_sign(fault: Fault) -> Slip | None:
    """Find a text that begins with a sign which means something else in YAML."""
    place = fault.place
    if fault.context is not None and fault.rest(fault.context)[:1] in tuple("*&>|!"):
        place = fault.context
        wrong = re.search(
            "alphabetic|comment or line break|chomping|anchor|tag|start any token", fault.problem
        )
    elif fault.rest(place)[:1] in tuple("]},"):
        before = fault.line(place[0])[: place[1]]
        wrong = re.search("node content", fault.problem) and re.search(r"(?:: +|- +)\Z", before)
    else:
        wrong = re.search("cannot start any token", fault.problem)
    text = _value(fault, place)
    if not wrong or not text:
        return None
    return _bad_beginning(text[0], quoted(text), place)


def _bad_beginning(sign: str, text: str, place: _Place) -> Slip:
    hint = f"a text can't begin with {exact(sign)}; put the text in quotes: {text}"
    return Slip(hint, place)


def _value(fault: Fault, place: _Place) -> str:
    """Return the text that begins at a place, in a list or mapping on one line its item."""
    before, rest = fault.line(place[0])[: place[1]], fault.rest(place)
    rest = re.split(r"\s#", rest, maxsplit=1)[0]
    if re.search(r"[\[{]", before):
        rest = re.split(r"[,\]}]", rest, maxsplit=1)[0]
    return rest.rstrip()


_KEY_AND_TEXT = re.compile(r"\s*(?:- +)*(?P<key>[^\s'\"\[{#][^:]*): +(?=\S)")


def _colon_in_text(fault: Fault) -> Slip | None:
    if "mapping values are not allowed" not in fault.problem:
        return None
    number, column = fault.place
    line = fault.line(number)
    key = _KEY_AND_TEXT.match(line)
    if key is None or key.end() > column:
        return None
    text = quoted(line[key.end() :].rstrip())
    hint = f"the text has a colon and a space in it; put the text in quotes: {text}"
    return Slip(hint, (number, key.end()))


def _no_colon(fault: Fault) -> Slip | None:
    if "could not find expected ':'" in fault.problem and fault.context is not None:
        number = fault.context[0]
    elif "mapping values are not allowed" in fault.problem:
        number = fault.place[0] - 1
    else:
        return None
    line = fault.line(number)
    start = len(line) - len(line.lstrip(" -"))
    text = line[start:].rstrip()
    if re.search(r"\s#", text):
        return Slip("what follows ' #' is a comment; put the text in quotes", (number, start))
    if not text or re.search(r":(?:\s|\Z)", text) or text[0] in "'\"[{":
        return None
    match = re.fullmatch(r"(?P<key>[\w.-]+?)(?P<sign>:|\s+)(?P<value>\S.*)", text)
    if match is None:
        return Slip("a key needs a colon and a space behind it", (number, start))
    found = "a space behind the colon" if match["sign"] == ":" else "a colon behind the key"
    written = exact(f"{match['key']}: {match['value']}"[:_SHOWN])
    return Slip(f"there is not {found}; write {written}", (number, start))


def _text_behind(fault: Fault) -> Slip | None:
    """Find text that goes on behind a closing quote or bracket."""
    if not re.search("expected key|expected <block end>|expected '-'", fault.problem):
        return None
    number, column = fault.place
    before = fault.line(number)[:column].rstrip()
    sign = before[-1:]
    if sign and sign in "'\"":
        if before.count(sign) % 2:
            return _opened_above(fault, sign)
        key = _KEY_AND_TEXT.match(before)
        place = (number, key.end() if key else before.index(sign))
        hint = f"the text goes on behind the closing quote {sign}; put the whole text in quotes"
        other = "use the other kind of quotes around it"
        return Slip(f"{hint}; where {sign} is part of it, {other}", place)
    opening = before.find({"]": "[", "}": "{"}.get(sign, "\0"))
    if opening < 0:
        return None
    place = (number, opening)
    text = quoted(_whole(fault, place))
    return _bad_beginning(before[opening], text, place)


def _opened_above(fault: Fault, sign: str) -> Slip | None:
    number = fault.place[0]
    for above in range(number - 1, max(number - _LINES_ABOVE, 0) - 1, -1):
        if fault.line(above).count(sign) % 2:
            place = (above, fault.line(above).rindex(sign))
            return Slip(f"the quote {sign} that opens here is not closed; close it", place)
    return None


def _whole(fault: Fault, place: _Place) -> str:
    return re.split(r"\s#", fault.rest(place), maxsplit=1)[0].rstrip()


def _bracket(fault: Fault) -> Slip | None:
    """Find a list or mapping on one line that has no end, or ends in a comment."""
    if not re.search(r"expected (?:',' or|the node content|node content)", fault.problem):
        return None
    number = min(fault.place[0], len(fault.lines) - 1)
    for above in range(number, max(number - _LINES_ABOVE, 0) - 1, -1):
        comment = re.search(r"[\[{][^#\"']*?(?:(?<=[\[{])|(?<=\s))#(?=\S)", fault.line(above))
        if comment:
            place = (above, comment.end() - 1)
            text = quoted(_value(fault, place))
            return Slip(f"what follows '#' is a comment; put the text in quotes: {text}", place)
    sign = fault.rest(fault.context)[:1] if fault.context else ""
    if fault.context is None or sign not in ("[", "{"):
        return None
    closing = {"[": "]", "{": "}"}[sign]
    return Slip(f"the {sign} that opens here is not closed; add {closing}", fault.context)


def _item_behind_key(fault: Fault) -> Slip | None:
    if "sequence entries are not allowed" not in fault.problem:
        return None
    text = quoted(_whole(fault, fault.place))
    hint = f"a list begins on a line of its own; if this is a text, put it in quotes: {text}"
    return Slip(hint, fault.place)


def _indentation(fault: Fault) -> Slip | None:
    if not re.search(
        "mapping values are not allowed|expected key|expected <block end>|expected '-'",
        fault.problem,
    ):
        return None
    number = fault.place[0]
    line = fault.line(number)
    start = len(line) - len(line.lstrip(" "))
    if not line.strip() or not any(map(str.strip, fault.lines[:number])):
        return None
    return Slip("the line is not indented like those that it belongs to", (number, start))


_LOOKS: tuple[Callable[[Fault], Slip | None], ...] = (
    _tab,
    _quote,
    _first_sign,
    _colon_in_text,
    _no_colon,
    _text_behind,
    _bracket,
    _item_behind_key,
    _indentation,
)
