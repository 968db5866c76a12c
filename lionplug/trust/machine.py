"""Which machine and which account an approval was given on.

A record that travelled with somebody's dotfiles is not an approval on the machine where
it arrives: an approved tree that is missing from the store is copied again without a
question only where both still agree.
"""

from __future__ import annotations

import os
from functools import cache
from hashlib import sha256

_MACHINE_ID_FILES = ("/etc/machine-id", "/var/lib/dbus/machine-id")
_HEX_DIGITS = frozenset("0123456789abcdef")


@cache
def machine_id() -> str:
    """Return 64 hex digits that stand for this machine and tell nothing about it.

    From the system's machine id (a hash of it, as it is meant to stay on the machine);
    where there is none, from the host name.
    """
    source = _system_id() or f"host {os.uname().nodename}"
    return sha256(b"lionplug machine 1\0" + source.encode("utf-8", "surrogateescape")).hexdigest()


def _system_id() -> str | None:
    for path in _MACHINE_ID_FILES:
        try:
            with open(path, encoding="ascii") as stream:
                text = stream.read(64).strip()
        except (OSError, ValueError):
            continue
        # An image that was never started says "uninitialized" here: the same everywhere.
        if len(text) == 32 and _HEX_DIGITS.issuperset(text):
            return text
    return None


def user_id() -> int:
    """Return the number of the account that this process acts for (its effective user)."""
    return os.geteuid()
