"""Run the helper process: bounded time, bounded output, nothing inherited."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time

#: Bytes of the answer that are read at most.
MAX_OUTPUT = 256 * 2**10

_CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child.py")


def run_child(request: bytes, seconds: float, *, script: str = _CHILD) -> bytes:
    """Start the helper, hand it ``request`` and return what it wrote.

    The process group is killed on return, whatever the helper did. Whether it ended
    well is not told: a complete line is an answer, anything else is none.

    :param request: What the helper reads from its standard input.
    :param seconds: Wall-clock time after which it is killed.
    :param script: The program; another one in tests only.
    :returns: At most 256 KiB, empty if the helper could not be started.
    """
    if not sys.executable or seconds <= 0:
        return b""
    deadline = time.monotonic() + seconds
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            start_new_session=True,
        )
    except OSError:
        return b""
    try:
        return _exchange(process, request, deadline)
    finally:
        # Before wait(): as long as the child is not reaped its group id can't be reused.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        process.wait()


def _exchange(process: subprocess.Popen[bytes], request: bytes, deadline: float) -> bytes:
    assert process.stdin is not None
    assert process.stdout is not None
    source, sink = process.stdout.fileno(), process.stdin.fileno()
    os.set_blocking(source, False)
    os.set_blocking(sink, False)
    output = bytearray()
    rest = memoryview(request)
    with selectors.DefaultSelector() as selector:
        selector.register(source, selectors.EVENT_READ)
        selector.register(sink, selectors.EVENT_WRITE)
        while len(output) < MAX_OUTPUT:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            for key, _ in selector.select(left):
                if key.fd == sink:
                    rest = _write(sink, rest)
                    if not rest:
                        selector.unregister(sink)
                        process.stdin.close()
                else:
                    data = os.read(source, 65536)
                    if not data:
                        return bytes(output)
                    output += data
    return bytes(output[:MAX_OUTPUT])


def _write(sink: int, rest: memoryview) -> memoryview:
    try:
        return rest[os.write(sink, rest[:65536]) :]
    except OSError:  # the helper has ended; what it answered until then still counts
        return rest[:0]
