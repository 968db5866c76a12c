"""Standard output is for results: what other code prints goes to standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

from lionplug.cli.output import stdout_to_stderr


@contextmanager
def prints_aside() -> Iterator[None]:
    """Send what a tool or an application writes to standard output to standard error.

    It is done in Python and below it, because a program that they start writes too.
    """
    try:
        sys.stdout.flush()
        kept = os.dup(1)
    except (AttributeError, OSError):  # closed, or no file
        yield
        return
    try:
        stdout_to_stderr()
        with redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
