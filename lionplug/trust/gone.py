"""Whether a bundle was deleted, or only can't be seen at the moment."""

from __future__ import annotations

import os
import stat


def is_gone(location: str, device: int | None = None) -> bool:
    """Return whether a bundle's directory was really taken away.

    A record is only pruned for a directory that is missing from a directory that is
    there. One that can't be looked at is not gone; neither is one on a volume that is not
    mounted, where the directory above is missing or, when the bundle lay directly on the
    volume, is an empty mount point on another device.

    :param location: Absolute path of the bundle as its record has it.
    :param device: Device number of the directory above at the time of the approval.
    """
    try:
        os.lstat(location)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    else:
        return False
    try:
        above = os.stat(os.path.dirname(location))
    except OSError:
        return False
    return stat.S_ISDIR(above.st_mode) and device in (None, above.st_dev)
