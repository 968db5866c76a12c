"""The question that approves: asked on the controlling terminal and nowhere else.

Standard input is not read, so ``yes |`` answers nothing. What was typed or pasted before
the question stood there is thrown away (security rule S23).
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from lionplug.cli.output import visible

if sys.platform != "win32":
    import termios

TERMINAL = "/dev/tty"

#: A paste may still be arriving; the question waits until nothing came for this long,
QUIET_SECONDS = 0.1
#: but not for ever: what comes later has to match the answer anyway.
LONGEST_WAIT_SECONDS = 3.0

#: A longer line is no answer.
LONGEST_ANSWER = 256


class NoTerminalError(Exception):
    """There is no controlling terminal, or this process runs in its background."""


class Terminal:
    """The controlling terminal, opened by ourselves."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self._descriptor)

    def show(self, text: str) -> None:
        """Write text, which is not followed by a line break of ours."""
        data = visible(text).encode("utf-8", "backslashreplace")
        while data:
            data = data[os.write(self._descriptor, data) :]

    def ask(self, question: str) -> str:
        """Ask, and return the line that was typed after the question was shown.

        :param question: Text that stands before the answer.
        :returns: The answer without its line break; empty at end of file and for a line
            that is too long.
        """
        self._discard_typed()
        self.show(question)
        return self._line()

    def _discard_typed(self) -> None:
        end = time.monotonic() + LONGEST_WAIT_SECONDS
        termios.tcflush(self._descriptor, termios.TCIFLUSH)
        while time.monotonic() < end:
            if not select.select([self._descriptor], [], [], QUIET_SECONDS)[0]:
                break
            termios.tcflush(self._descriptor, termios.TCIFLUSH)
        termios.tcflush(self._descriptor, termios.TCIFLUSH)

    def _line(self) -> str:
        line = b""
        while not line.endswith(b"\n"):
            chunk = os.read(self._descriptor, LONGEST_ANSWER + 1)
            if not chunk or len(line) > LONGEST_ANSWER:
                return ""
            line += chunk
        return line[:-1].decode("utf-8", "replace")


@contextmanager
def controlling_terminal() -> Iterator[Terminal]:
    """Open the controlling terminal.

    :raises NoTerminalError: There is none, or reading it would stop this process because
        another job has it.
    """
    if sys.platform == "win32":
        raise NoTerminalError
    try:
        descriptor = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        raise NoTerminalError from None
    terminal = Terminal(descriptor)
    try:
        if not _in_foreground(descriptor):
            raise NoTerminalError
        yield terminal
    finally:
        terminal.close()


def _in_foreground(descriptor: int) -> bool:
    try:
        return os.isatty(descriptor) and os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return False


@contextmanager
def signals_are_no() -> Iterator[None]:
    """Let a hang-up or a termination unwind like Ctrl-C, so that staged copies go away."""

    def leave(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    numbers = [signal.SIGTERM] + ([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])
    before: dict[signal.Signals, Callable[..., object] | int | None] = {}
    try:
        for number in numbers:
            before[number] = signal.signal(number, leave)
    except ValueError:  # not the main thread: an application that mounted the group
        pass
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
