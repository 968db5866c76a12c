"""How large a tree may be before it is refused (security rule S14)."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class Limits:
    """Bounds of one tree. The user may raise each in ``limits`` of the user settings.

    :param entries: Number of files, links and directories; the setting ``files``.
    :param bytes: Size of all files together, in bytes; the setting ``bytes``.
    :param depth: Number of directories on the way to a file, itself included;
        the setting ``depth``.
    """

    entries: int = 10_000
    bytes: int = 256 * 2**20
    depth: int = 32
