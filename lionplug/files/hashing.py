"""The SHA-256 of a file, read once from one descriptor."""

from __future__ import annotations

import hashlib
import os

from lionplug.errors import TreeError
from lionplug.files.descriptors import CHUNK
from lionplug.files.names import problem_of
from lionplug.files.signature import signature_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lionplug.files.opening import Directory


def hash_file(
    directory: Directory,
    name: str,
    limit: int,
    *,
    path: str | None = None,
    sink: Callable[[bytes], object] | None = None,
) -> tuple[str, int, os.stat_result]:
    """Hash a regular file, and hand on the very bytes that were hashed.

    :param directory: The directory that holds it.
    :param name: One component; a link is refused.
    :param limit: The greatest size in bytes.
    :param path: The path by which errors name it; by default ``name``.
    :param sink: Called with each piece that was read, in order, to copy it.
    :returns: The hash as hexadecimal digits, the size, and the ``stat`` of the file.
    :raises FileNotFoundError: if there is nothing of that name.
    :raises TreeError: if it is larger than ``limit``, or changes while it is read.
    :raises UnsafePathError: if it is no regular file.
    """
    path = name if path is None else path
    digest = hashlib.sha256()
    size = 0
    with directory.open_file(name) as file:
        expected = file.stat.st_size
        if expected > limit:
            raise _error(path, "too-large", f"is larger than {limit:,} bytes; make it smaller")
        while size <= expected and (chunk := os.read(file.fd, CHUNK)):
            size += len(chunk)
            digest.update(chunk)
            if sink is not None:
                sink(chunk)
        after = os.fstat(file.fd)
        if size != expected or signature_of(after) != signature_of(file.stat):
            raise _error(path, "changed", "changed while it was read; try again when it is at rest")
    return digest.hexdigest(), size, after


def _error(path: str, code: str, fault: str) -> TreeError:
    return TreeError([problem_of(path, code, fault)])
