"""Seals: what a stored tree consisted of when it was last known to be right.

A seal holds the pin (kind, size, SHA-256, link target) and the stat signature of every
node. It is no evidence by itself (security rule S39): the tree digest is computed again
from its pins and must be the approved one, and the signatures only tell which files need
not be hashed again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from lionplug.files.entry import Entry
from lionplug.files.signature import Signature
from lionplug.trust.digest import same_digest, tree_digest

#: Number of the seals' format; another one is made again from the tree.
FORMAT = 1
MAX_BYTES = 256 * 2**20

_TYPES = (str, str, int, str, str, list, int, int)


def dump_seal(entries: Sequence[Entry]) -> bytes:
    """Return the bytes of a seal."""
    rows = [
        [
            entry.path,
            entry.kind,
            entry.size,
            entry.sha256,
            entry.target,
            entry.signature,
            entry.mode,
            entry.links,
        ]
        for entry in entries
    ]
    return json.dumps({"format": FORMAT, "entries": rows}, separators=(",", ":")).encode() + b"\n"


def parse_seal(data: bytes, digest: str) -> list[Entry] | None:
    """Read a seal and believe it only if its pins give the wanted digest.

    :param data: The bytes of the seal.
    :param digest: Tree digest that the seal is for.
    :returns: The entries in byte order of their paths; ``None`` for a seal that is
        malformed, of another format or of another tree.
    """
    try:
        document = json.loads(data.decode())
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            return None
        entries = [_entry(row) for row in document["entries"]]
        found = tree_digest(entries)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return None
    if not same_digest(found, digest):
        return None
    return sorted(entries, key=lambda entry: entry.path.encode())


def _entry(row: object) -> Entry:
    # type() and not isinstance(): True is no size.
    if not isinstance(row, list) or tuple(map(type, row)) != _TYPES:
        raise ValueError("not a row of a seal")
    path, kind, size, pin, target, signature, mode, links = row
    return Entry(
        path=path,
        kind=kind,
        size=size,
        sha256=pin,
        target=target,
        signature=_signature(signature),
        mode=mode,
        links=links,
    )


def _signature(values: list[object]) -> Signature:
    device, inode, size, modified, changed = values
    numbers = device, inode, size, modified, changed
    if set(map(type, numbers)) != {int}:
        raise ValueError("not a signature")
    return numbers  # type: ignore[return-value]
