"""Where the command writes: results to standard output, all else to standard error.

With ``--json`` standard output carries exactly one JSON document; what would be text
there goes to standard error. Whatever is written here has passed :func:`visible`, so no
control character reaches a terminal, however it came into a message.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable
from typing import Any, TextIO

from lionplug.text import is_blank

#: Columns of everything that is not written to a terminal.
PIPE_COLUMNS = 80

#: Tables and disclosures are not squeezed further than this.
LEAST_COLUMNS = 40


class ClosedOutputError(Exception):
    """The reader of standard output went away; there is nobody to tell."""


def visible(text: str) -> str:
    r"""Return ``text`` with everything that does not show as a character escaped.

    Kept are printable characters and line breaks. It is the last sieve, over text that
    was already made fit to be shown, so it leaves escapes alone.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character if character == "\n" or shows(character) else f"\\u{{{ord(character):x}}}"
        for character in text
    )


def shows(character: str) -> bool:
    """Tell whether a character shows as itself."""
    return character.isprintable() and not is_blank(character)


def is_plain(stream: TextIO | None) -> bool:
    """Tell whether a stream must get no escape codes.

    True of everything but a terminal, under ``NO_COLOR`` and on ``TERM=dumb``.
    """
    terminal = stream is not None and stream.isatty()
    return not terminal or bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


def columns(stream: TextIO | None) -> int:
    """Return how many columns a text for ``stream`` may take."""
    if stream is None or not stream.isatty():
        return PIPE_COLUMNS
    return max(shutil.get_terminal_size().columns, LEAST_COLUMNS)


def encode_json(value: Any) -> str:
    """Return one JSON document in ASCII, indented for people, without a final line break."""
    # DEL is the one control character that JSON lets stand.
    return json.dumps(value, indent=2, ensure_ascii=True).replace("\x7f", "\\u007f")


def readable_json(value: Any) -> str:
    """Return JSON for people: letters of every script stand as they are.

    What does not show, or steers how other characters are shown, is escaped as JSON does.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return "".join(
        character if character == "\n" or shows(character) else encode_json(character)[1:-1]
        for character in text
    )


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
    except UnicodeEncodeError:  # an ASCII or Latin-1 terminal
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


class Output:
    """The two streams of one run of the command.

    :ivar as_json: Whether standard output is to carry one JSON document.
    """

    def __init__(self) -> None:
        self.as_json = False

    @property
    def text_stream(self) -> TextIO | None:
        """The stream of text results."""
        return sys.stderr if self.as_json else sys.stdout

    @property
    def width(self) -> int:
        """Columns of text results."""
        return columns(self.text_stream)

    def text(self, lines: str | Iterable[str] = "") -> None:
        """Write a result as text: to standard output, with ``--json`` to standard error."""
        if isinstance(lines, str):
            lines = [lines]
        content = "".join(visible(line) + "\n" for line in lines)
        if self.as_json:
            self._aside(content)
        else:
            self._result(content)

    def styled(self, content: str) -> None:
        """Write a text result that was rendered by :mod:`lionplug.cli.tables`."""
        self._result(content)

    def note(self, lines: str | Iterable[str]) -> None:
        """Write to standard error: a notice, a warning, a count."""
        if isinstance(lines, str):
            lines = [lines]
        self._aside("".join(visible(line) + "\n" for line in lines))

    def document(self, value: Any) -> None:
        """Write the one JSON document, if one was asked for."""
        if self.as_json:
            self._result(encode_json(value) + "\n")

    def raw(self, data: bytes) -> None:
        """Write bytes as they are, for a pipe or a file."""
        if sys.stdout is None:
            raise ClosedOutputError
        try:
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise ClosedOutputError from None

    def _result(self, content: str) -> None:
        if sys.stdout is None:
            raise ClosedOutputError
        try:
            _write(sys.stdout, content)
        except BrokenPipeError:
            raise ClosedOutputError from None

    def _aside(self, content: str) -> None:
        if sys.stderr is None:
            return
        try:
            _write(sys.stderr, content)
        except OSError:  # nobody reads the notices; the result may still be wanted
            pass


def discard_stdout() -> None:
    """Let nothing more be written to a closed pipe, also not at exit."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    if sink != 1:
        os.close(sink)
    # What was not taken is still in the buffer, and would go wherever 1 leads at the end.
    try:
        sys.stdout.flush()
    except (AttributeError, OSError, ValueError):  # closed before the start
        pass


def stdout_to_stderr() -> None:
    """Let file descriptor 1 lead where 2 leads, to nowhere if 2 is closed."""
    try:
        os.dup2(2, 1)
    except OSError:
        discard_stdout()
