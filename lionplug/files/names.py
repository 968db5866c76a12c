"""Which names a tree may hold, so that it means the same on every system (S14)."""

from __future__ import annotations

import unicodedata

from lionplug.errors import Problem
from lionplug.text import exact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from lionplug.files.entry import Entry

#: Length of one name, and of a whole path, in bytes of UTF-8.
LONGEST_NAME = 255
LONGEST_PATH = 4096
_WIDEST = 4  # bytes of one character in UTF-8

_DIGITS = "123456789¹²³"
_RESERVED = frozenset(
    ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"]
    + [device + digit for device in ("COM", "LPT") for digit in _DIGITS]
)
_REFUSED = frozenset(["\\", ":", *map(chr, [*range(0x20), *range(0x7F, 0xA0)])])


def check_name(name: str) -> tuple[str, str] | None:
    """Return what is wrong with one component of a path.

    :returns: A code such as ``name-reserved`` and the rest of a sentence that begins with
        the path, or ``None``.
    """
    if name in ("", ".", ".."):
        return "name-form", "has an empty, '.' or '..' component; use plain relative paths"
    if not name.isascii():
        try:
            name.encode()
        except UnicodeEncodeError:
            return "name-encoding", "is not valid UTF-8; rename it"
        if not unicodedata.is_normalized("NFC", name):
            normal = exact(unicodedata.normalize("NFC", name))
            return "name-encoding", f"is not in Unicode form NFC; rename it to {normal}"
    if not _REFUSED.isdisjoint(name):
        return "name-character", _character_fault(next(filter(_REFUSED.__contains__, name)))
    if name[-1] in ". ":
        what = "dot" if name[-1] == "." else "space"
        return "name-ending", f"ends in a {what}, which Windows takes off; rename it"
    if name.partition(".")[0].rstrip(" ").upper() in _RESERVED:
        return "name-reserved", "is a device on Windows, whatever its extension; rename it"
    return _check_length("name", name, LONGEST_NAME)


def _character_fault(character: str) -> str:
    if character == "\\":
        return "holds a backslash, which Windows takes for a separator; rename it"
    if character == ":":
        return "holds a colon, which means something else on Windows; rename it"
    return f"holds the control character {exact(character)}; rename it"


def check_names(entries: Iterable[Entry]) -> list[Problem]:
    """Check the names of a tree: each by itself, and siblings against each other.

    :param entries: The entries in any order. Directories that are only implied, as in an
        archive, are checked too.
    :returns: One problem for each path at fault.
    """
    checker = _Checker()
    for entry in entries:
        checker.add(entry.path)
    return checker.problems


class _Checker:
    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._done: set[str] = {""}
        self._verdicts: dict[str, tuple[str, str] | None] = {}
        self._siblings: dict[tuple[str, str], str] = {}

    def add(self, path: str) -> None:
        new = []
        while path not in self._done:
            self._done.add(path)
            new.append(path)
            path = path.rpartition("/")[0]
        for prefix in reversed(new):
            fault = self._fault(prefix)
            if fault is not None:
                self.problems.append(problem_of(prefix, *fault))

    def _fault(self, path: str) -> tuple[str, str] | None:
        parent, _, name = path.rpartition("/")
        if name not in self._verdicts:
            self._verdicts[name] = check_name(name)
        return (
            self._verdicts[name]
            or _check_length("path", path, LONGEST_PATH)
            or self._collision(parent, name)
        )

    def _collision(self, parent: str, name: str) -> tuple[str, str] | None:
        other = self._siblings.setdefault((parent, _folded(name)), name)
        if other == name:
            return None
        return (
            "name-collision",
            f"is the same name as {exact(other)} where upper and lower case are one; "
            "rename one of them",
        )


def problem_of(path: str, code: str, fault: str) -> Problem:
    """Return a problem of a tree's entry.

    :param path: Path relative to the root.
    :param code: Stable identifier of the rule.
    :param fault: What was found and expected, without the path.
    """
    return Problem(code, fault, file=exact(path))


def _check_length(what: str, text: str, most: int) -> tuple[str, str] | None:
    if len(text) * _WIDEST <= most:
        return None
    length = len(text.encode("utf-8", "surrogatepass"))
    if length <= most:
        return None
    return "name-length", f"has a {what} of {length} bytes, expected at most {most}; shorten it"


def _folded(name: str) -> str:
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
