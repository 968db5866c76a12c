"""The package name under which the modules of one approved tree live.

``lionplug.bundles.<plugin>_<32 hex>``: the digits are a hash over the user scope, the
location and the tree digest, so that two copies, two versions of the bytes or two hosts
never answer for one another in ``sys.modules`` (security rule S17).
"""

from __future__ import annotations

import os
from hashlib import sha256
from typing import Protocol

from attrs import field, frozen

from lionplug.activation.log import ActivationLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from lionplug.files.entry import Entry


class PinnedTree(Protocol):
    """What is needed of :class:`lionplug.trust.store.StoredTree`."""

    root: str
    entries: Mapping[str, Entry]
    digest: str

    def read(self, path: str, limit: int | None = None) -> bytes:
        """Return the pinned bytes of a file."""


PREFIX = "lionplug.bundles."
_KEPT = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")


def escape(name: str) -> str:
    """Return ``name`` as an identifier; two different names never give the same.

    A hyphen becomes ``_``; anything else but lower-case letters and digits becomes its
    code point between two ``X``, which no name can hold unescaped.
    """
    escaped = "".join(
        character if character in _KEPT else "_" if character == "-" else f"X{ord(character):x}X"
        for character in name
    )
    if "0" <= escaped[:1] <= "9":  # no identifier begins with a digit
        return f"X{ord(escaped[0]):x}X{escaped[1:]}"
    return escaped


def package_name(plugin: str, user_dir: str, location: str, digest: str) -> str:
    """Return the package of a tree.

    :param plugin: Name of the plugin.
    :param user_dir: Path of the user scope whose record approves it; differs by host.
    :param location: Resolved path of the live directory.
    :param digest: Tree digest.
    """
    framed = b"".join(
        len(part).to_bytes(4, "big") + part
        for part in (os.fsencode(user_dir), os.fsencode(location), digest.encode())
    )
    return f"{PREFIX}{escape(plugin)}_{sha256(framed).hexdigest()[:32]}"


def data_directory(user_data: str, plugin: str, location: str) -> str:
    """Return where a plugin keeps its files: its own for each (name, location) (S38).

    :param user_data: Directory ``data`` of the user scope.
    """
    return os.path.join(user_data, f"{plugin}-{sha256(os.fsencode(location)).hexdigest()[:16]}")


@frozen(kw_only=True, eq=False)
class Namespace:
    """One approved tree and everything that its modules are told.

    :ivar plugin: Name of the plugin.
    :ivar user_dir: Path of the user scope whose record approves it.
    :ivar location: Resolved path of the live directory, from which nothing is imported.
    :ivar tree: The approved tree in the store.
    :ivar data_dir: Where the plugin may keep files, see :func:`data_directory`.
    :ivar log: Told of each module that is imported.
    :ivar package: Name of the package of its modules.
    """

    plugin: str
    user_dir: str
    location: str
    tree: PinnedTree
    data_dir: str
    log: ActivationLog = field(factory=ActivationLog)
    package: str = field(init=False)

    @package.default
    def _package(self) -> str:
        return package_name(self.plugin, self.user_dir, self.location, self.tree.digest)
