"""What one ``stat`` says about a file: a reason to look again, never a proof of content."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os

#: Device, inode, size, and the times of the last change of content and of the inode in
#: nanoseconds. The last one is what an edit that sets the old time again can't hide.
Signature = tuple[int, int, int, int, int]


def signature_of(stat: os.stat_result) -> Signature:
    """Return the signature of what ``stat`` describes."""
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
