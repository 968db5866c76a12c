"""Who, beside the user and root, can change a file (security rule S31).

Pure functions over the result of ``fstat``: what is judged is the object that was opened,
and the rules can be tested without accounts.
"""

from __future__ import annotations

import os
from functools import lru_cache
from stat import S_ISDIR, S_ISVTX, S_IWGRP, S_IWOTH

from lionplug.imports import safe_imports
from lionplug.text import exact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def is_private_group(gid: int, uid: int) -> bool:
    """Tell whether a group is the user's own and has nobody else in it.

    True if ``gid`` is the primary group of ``uid`` in the password database, the group
    lists no other member, and it is the primary group of no other listed account. A
    directory service that doesn't list its accounts can hide one.

    :param gid: Number of the group.
    :param uid: Number of the user.
    """
    return _is_private_group(gid, uid)


@lru_cache(maxsize=64)
def _is_private_group(gid: int, uid: int) -> bool:
    with safe_imports():
        import grp
        import pwd
    try:
        user = pwd.getpwuid(uid)
        members = set(grp.getgrgid(gid).gr_mem)
    except KeyError:
        return False
    if user.pw_gid != gid or members - {user.pw_name}:
        return False
    return all(other.pw_gid != gid or other.pw_uid == uid for other in pwd.getpwall())


def why_unsafe(
    stat: os.stat_result,
    *,
    inside_scope: bool,
    next_stat: os.stat_result | None = None,
    uid: int | None = None,
    private_group: Callable[[int, int], bool] = is_private_group,
    shared_by_acl: bool = False,
) -> str | None:
    """Return why somebody else can change what ``stat`` describes, or ``None``.

    Safe is what the user or root owns and nobody else may write. A directory *on the way*
    that others may write is excused when it is sticky, owned by root, and what is taken
    from it is owned by the user or root, as with ``/tmp``: nobody else can then rename or
    replace that.

    :param stat: ``fstat`` of the opened file or directory.
    :param inside_scope: Whether it is the scope directory itself or below it, where
        nothing is excused.
    :param next_stat: What is taken from the directory; ``None`` if nothing is there yet.
    :param uid: The user; the effective user of this process by default.
    :param private_group: Tells whether a group holds nobody but the user; asked only
        about what its group may write.
    :param shared_by_acl: Whether an access list grants more than the mode shows.
    :returns: The middle of a sentence, such as ``is owned by uid 1001 (mode 0755)``.
    """
    uid = os.geteuid() if uid is None else uid
    mode = f"mode {stat.st_mode & 0o7777:04o}"
    if stat.st_uid not in (uid, 0):
        return f"is owned by {user_label(stat.st_uid)}, not by you or root ({mode})"
    if stat.st_mode & S_IWOTH:
        who = "everybody"
    elif stat.st_mode & S_IWGRP and not private_group(stat.st_gid, uid):
        who = f"the group {group_label(stat.st_gid)}"
    elif stat.st_mode & S_IWGRP and shared_by_acl:
        who = "other users, by an access list"
    else:
        return None
    owner = user_label(stat.st_uid)
    reason = f"can be written by {who} (owner {owner}, {mode})"
    if inside_scope or not S_ISDIR(stat.st_mode):
        return reason
    if stat.st_mode & S_ISVTX and stat.st_uid == 0:
        if next_stat is None or next_stat.st_uid in (uid, 0):
            return None
        return f"{reason}, and what is used in it is owned by {user_label(next_stat.st_uid)}"
    return reason


def user_label(uid: int) -> str:
    """Return a user's number, with the name where one is known: ``uid 1001 (ada)``."""
    with safe_imports():
        import pwd
    try:
        return f"uid {uid} ({exact(pwd.getpwuid(uid).pw_name)})"
    except KeyError:
        return f"uid {uid}"


def group_label(gid: int) -> str:
    """Return a group's name and number: ``staff (gid 50)``, or the number alone."""
    with safe_imports():
        import grp
    try:
        return f"{exact(grp.getgrgid(gid).gr_name)} (gid {gid})"
    except KeyError:
        return f"gid {gid}"
