"""A word to a waiting person: on standard error, on a terminal only, after a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from lionplug.cli.output import visible

PATIENCE_SECONDS = 1.0


@contextmanager
def progress(doing: str) -> Iterator[None]:
    """Say what is being done, if it takes longer than a second.

    :param doing: What is being done, such as ``copying and hashing web-research``.
    """
    stream = sys.stderr
    if stream is None or not stream.isatty():
        yield
        return

    def tell() -> None:
        stream.write(visible(f"Still {doing} ...\n"))
        stream.flush()

    timer = threading.Timer(PATIENCE_SECONDS, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
