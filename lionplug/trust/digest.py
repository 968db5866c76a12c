"""The tree digest ``lp1``: one name for a whole directory tree (security rule S14).

``lp1:sha256:<64 hex>`` is the SHA-256 over ``"lionplug tree 1\\0"`` and, for each entry
in byte order of its UTF-8 path::

    kind (one ASCII letter) | u32 length of path | path | payload

    d  directory, empty ones too     payload: nothing
    f  file                          payload: u64 size | 32 bytes sha256 of the content
    x  file that its owner may run   payload: as f
    l  symbolic link                 payload: u32 length of target | target

Integers are big-endian. Paths are relative to the root, which is no entry itself, and
joined by ``/``. Every field has a fixed length or its length in front, so two different
trees never give the same bytes.
"""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lionplug.files.entry import Entry

PREFIX = "lp1:sha256:"
MAGIC = b"lionplug tree 1\0"

_HEX_DIGITS = frozenset("0123456789abcdef")


def encode_tree(entries: Iterable[Entry]) -> Iterator[bytes]:
    """Yield the bytes that the digest is taken over, in pieces.

    :param entries: All entries of one tree, hashed, in any order.
    :raises ValueError: Two entries have one path, a kind is unknown, a hash is none, or a
        path is not UTF-8.
    """
    yield MAGIC
    by_path: dict[bytes, Entry] = {}
    for entry in entries:
        path = entry.path.encode()  # strict: a name that is not UTF-8 has no digest
        if path in by_path:
            raise ValueError(f"two entries have the path {entry.path!r}")
        by_path[path] = entry
    for path in sorted(by_path):
        yield _encode_entry(path, by_path[path])


def _encode_entry(path: bytes, entry: Entry) -> bytes:
    head = entry.kind.encode() + len(path).to_bytes(4, "big") + path
    if entry.kind == "d":
        return head
    if entry.kind == "l":
        target = entry.target.encode()
        return head + len(target).to_bytes(4, "big") + target
    if entry.kind in ("f", "x") and is_sha256(entry.sha256):
        return head + entry.size.to_bytes(8, "big") + bytes.fromhex(entry.sha256)
    raise ValueError(f"no kind of entry, or not hashed: {entry.path!r}, kind {entry.kind!r}")


def tree_digest(entries: Iterable[Entry]) -> str:
    """Return the digest of a tree as ``lp1:sha256:<64 hex>`` (S14).

    :param entries: All entries of one tree, hashed, in any order.
    :raises ValueError: As :func:`encode_tree`.
    """
    return PREFIX + sha256(b"".join(encode_tree(entries))).hexdigest()


def is_digest(text: object) -> bool:
    """Return whether a value is the whole text of a tree digest: full pattern, lower case."""
    return isinstance(text, str) and text.startswith(PREFIX) and is_sha256(text[len(PREFIX) :])


def is_sha256(text: object) -> bool:
    """Return whether a value is 64 lower-case hexadecimal digits."""
    return isinstance(text, str) and len(text) == 64 and _HEX_DIGITS.issuperset(text)


def hex_of(digest: str) -> str:
    """Return the 64 hexadecimal digits of a tree digest: the name of its tree in the store.

    :raises ValueError: The text is not a tree digest.
    """
    if not is_digest(digest):
        raise ValueError(f"not a tree digest: {digest!r}")
    return digest[len(PREFIX) :]


def same_digest(one: object, other: object) -> bool:
    """Compare two tree digests in constant time; anything that is not one equals nothing (S30)."""
    return (
        isinstance(one, str)
        and isinstance(other, str)
        and is_digest(one)
        and is_digest(other)
        and hmac.compare_digest(one, other)
    )
