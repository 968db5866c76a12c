"""One entry of a tree: what the digest, the store and the file table speak of."""

from __future__ import annotations

from attrs import frozen

from lionplug.files.signature import Signature

DIRECTORY, FILE, EXECUTABLE, LINK = "d", "f", "x", "l"


@frozen(kw_only=True)
class Entry:
    """A directory, file or link of a tree (security rule S14).

    :param path: Path relative to the root, joined by ``/``; the root is no entry.
    :param kind: ``d`` directory, ``f`` file, ``x`` file that its owner may execute,
        ``l`` link.
    :param size: Size of a file in bytes; 0 for a directory; for a link the length of its
        target in bytes.
    :param sha256: SHA-256 of a file's bytes as 64 hexadecimal digits; empty for a
        directory, a link, and a file that was not read.
    :param target: What a link says; else empty.
    :param signature: See :mod:`lionplug.files.signature`.
    :param mode: Permission bits.
    :param links: Number of names that the file has on its file system.
    """

    path: str
    kind: str
    size: int = 0
    sha256: str = ""
    target: str = ""
    signature: Signature = (0, 0, 0, 0, 0)
    mode: int = 0
    links: int = 1

    @property
    def is_file(self) -> bool:
        """Whether it is a file, executable or not."""
        return self.kind in (FILE, EXECUTABLE)
