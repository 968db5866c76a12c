"""Which paths of a tree are neither hashed nor copied (security rule S13).

Always left out are a top-level directory named exactly ``.git``, ``.hg`` or ``.svn``, and
every directory named exactly ``__pycache__``. A manifest can name more by patterns that
are matched, case-sensitively, against the whole relative path:

- ``*`` stands for any characters of one segment, ``?`` for one;
- ``**``, as a whole segment, stands for any number of segments, none included;
- a match on a directory covers everything below it.

All patterns run together as one automaton whose states are the bits of an integer. It
reads each character of a path once, so no pattern can make matching slow.
"""

from __future__ import annotations

from lionplug.text import exact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Directories that are left out at the top of a tree.
VCS_DIRECTORIES = frozenset({".git", ".hg", ".svn"})
#: The directory that is left out wherever it stands.
BYTECODE_DIRECTORY = "__pycache__"

#: Length of a pattern in characters.
LONGEST_PATTERN = 1024


def check_pattern(pattern: str) -> str | None:
    """Return why ``pattern`` is not one, as the end of a sentence, or ``None``."""
    if not pattern:
        return "is empty"
    if len(pattern) > LONGEST_PATTERN:
        return f"is longer than {LONGEST_PATTERN} characters"
    if pattern.startswith("!"):
        return "begins with '!': patterns can't be negated"
    for character in pattern:
        if character in "[]":
            return "holds '[' or ']': there are no classes; '?' stands for one character"
        if character == "\\":
            return "holds a backslash: segments are joined by '/' and nothing is escaped"
        if character < " " or "\x7f" <= character < "\xa0":
            return f"holds the control character {exact(character)}, which no name may hold"
    segments = pattern.split("/")
    if not segments[0]:
        return "begins with '/': patterns are relative to the bundle"
    if not segments[-1]:
        return "ends with '/': a match on a directory covers its contents without it"
    for segment in segments:
        if segment in ("", ".", ".."):
            return "has an empty, '.' or '..' segment"
        if "**" in segment and segment != "**":
            return "holds '**' beside other characters: it has to be a whole segment"
    return None


def matches(pattern: str, path: str) -> bool:
    """Tell whether ``pattern`` matches ``path`` or a directory above it.

    :param pattern: A pattern without a fault, see :func:`check_pattern`.
    :param path: A relative path with ``/`` between its segments.
    """
    return _Automaton((pattern,)).accepts(path)


def always_left_out(path: str, is_dir: bool) -> str | None:
    """Return the directory through which ``path`` is left out whatever the manifest says.

    For references and arguments that must not pass through one.

    :param path: A relative path with ``/`` between its segments.
    :param is_dir: Whether the last segment is a directory, too.
    :returns: The path of that directory, or ``None``.
    """
    segments = path.split("/")
    directories = segments if is_dir else segments[:-1]
    if directories and directories[0] in VCS_DIRECTORIES:
        return directories[0]
    if BYTECODE_DIRECTORY in directories:
        return "/".join(segments[: directories.index(BYTECODE_DIRECTORY) + 1])
    return None


class Exclusion:
    """Decides for each entry of a walk whether it is left out, and remembers which were.

    :param patterns: Patterns without fault, as the manifest's ``exclude`` gives them.
    """

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self._automaton = _Automaton(tuple(patterns))
        self._found: set[str] = set()

    def __call__(self, path: str, is_dir: bool) -> bool:
        """Tell whether the entry is left out; a directory with everything below it.

        :param path: Path relative to the root, with ``/`` between its segments.
        :param is_dir: Whether it is a directory; a link to one is not.
        """
        if not self._leaves_out(path, is_dir):
            return False
        self._found.add(path)
        return True

    def _leaves_out(self, path: str, is_dir: bool) -> bool:
        if is_dir:
            if path in VCS_DIRECTORIES:
                return True
            if path.rpartition("/")[2] == BYTECODE_DIRECTORY:
                return True
        return self._automaton.accepts(path)

    @property
    def found(self) -> list[str]:
        """What was left out so far, sorted; of a directory only its own path."""
        return sorted(self._found)


class _Automaton:
    """All patterns at once.

    Each token of a pattern owns one bit, "what follows the part that was read is to be
    matched from here", and the bit behind the last token means that all was matched.
    Reading a character moves bits to their neighbours (``_advance``) or leaves them
    (``_stay``).
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._start = 0
        self._final = 0
        self._stars = 0  # '*': may be left without reading anything
        self._globs = 0  # first of the two bits of '**/': the next segment may begin at once
        self._insides = 0  # second one: somewhere inside the segments that '**/' stands for
        self._any = 0  # '?'
        self._literals: dict[str, int] = {}
        bit = 1
        for pattern in patterns:
            self._start |= bit
            for token in _tokens(pattern):
                self._add(token, bit)
                bit <<= 2 if token == "**/" else 1
            self._final |= bit
            bit <<= 1
        # Where a path segment goes on, and at the '/' behind one.
        self._moves = {
            character: (bits | self._any | self._globs, self._stars | self._insides)
            for character, bits in self._literals.items()
        }
        self._other = (self._any | self._globs, self._stars | self._insides)
        self._moves["/"] = (self._literals.get("/", 0) | self._insides, self._insides)

    def _add(self, token: str, bit: int) -> None:
        if token == "*":
            self._stars |= bit
        elif token == "?":
            self._any |= bit
        elif token == "**/":
            self._globs |= bit
            self._insides |= bit << 1
        else:
            self._literals[token] = self._literals.get(token, 0) | bit

    def accepts(self, path: str) -> bool:
        """Tell whether a pattern matches ``path`` or a directory above it."""
        if not self._start:
            return False
        state = self._skip(self._start)
        for character in path:
            if character == "/" and state & self._final:
                return True
            advance, stay = self._moves.get(character, self._other)
            state = self._skip((state & advance) << 1 | state & stay)
            if not state:
                return False
        return bool(state & self._final)

    def _skip(self, state: int) -> int:
        """Add the states that are reached without reading a character."""
        state |= (state & self._globs) << 2
        return state | (state & self._stars) << 1


def _tokens(pattern: str) -> Iterator[str]:
    segments = pattern.split("/")
    # What a trailing '**' matches beyond its directory is covered by the directory.
    while len(segments) > 1 and segments[-1] == "**":
        segments.pop()
    if segments == ["**"]:
        segments = ["*"]
    last = len(segments) - 1
    for number, segment in enumerate(segments):
        if segment == "**":
            if number == 0 or segments[number - 1] != "**":
                yield "**/"
            continue
        yield from segment
        if number < last:
            yield "/"
