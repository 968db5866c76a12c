"""The places of the store: where a tree and its seal are, and where a wrong one goes.

A tree that is not what its name says is never used, and never deleted unseen either: it
is moved aside, and the error says where it is and who may have written it (S15).
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Sequence
from contextlib import suppress

from lionplug.errors import StoreError, TreeError, UnsafePathError
from lionplug.files.entry import Entry
from lionplug.files.opening import read_trusted
from lionplug.files.writing import make_private_directory, replace_file
from lionplug.text import exact
from lionplug.trust.digest import hex_of, is_digest
from lionplug.trust.seals import MAX_BYTES, dump_seal, parse_seal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lionplug.scopes import UserScope


class Places:
    """Finds trees and seals by tree digest.

    :param scope: The user scope.
    """

    def __init__(self, scope: UserScope) -> None:
        self._scope = scope

    def tree(self, digest: str) -> str:
        """Return the path of a tree.

        :raises StoreError: The text is no tree digest.
        """
        if not is_digest(digest):
            raise StoreError(f"expected a tree digest, found {exact(repr(digest))}")
        return os.path.join(self._scope.approved, hex_of(digest))

    def seal_file(self, digest: str) -> str:
        """Return the path of the seal of a tree."""
        return os.path.join(self._scope.seals, f"{hex_of(digest)}.json")

    def read_seal(self, digest: str) -> list[Entry] | None:
        """Return the entries of a sealed tree; ``None`` if there is no seal to believe."""
        try:
            data, _ = read_trusted(self.seal_file(digest), MAX_BYTES, scope=self._scope.path)
        except OSError:
            return None
        return parse_seal(data, digest)

    def seal(self, digest: str, entries: Sequence[Entry]) -> None:
        """Write the seal of a tree that was found right."""
        make_private_directory(self._scope.seals)
        replace_file(self.seal_file(digest), dump_seal(entries))

    def try_to_seal(self, digest: str, entries: Sequence[Entry]) -> None:
        """Seal if that is possible: on a read-only disk the tree is as right without."""
        with suppress(OSError):
            self.seal(digest, entries)

    def set_aside(self, digest: str, seen: os.stat_result | None = None) -> str | None:
        """Move what stands in a tree's place out of the way; return where it is now.

        :param seen: The directory that was found wrong. Another one, which a process may
            have published meanwhile, stays.
        """
        place = self.tree(digest)
        try:
            there = os.lstat(place)
        except FileNotFoundError:
            return None
        if seen is not None and not os.path.samestat(seen, there):
            return None
        with suppress(FileNotFoundError):
            os.unlink(self.seal_file(digest))
        make_private_directory(self._scope.aside)
        kept = os.path.join(self._scope.aside, f"{hex_of(digest)}-{secrets.token_hex(4)}")
        move(place, kept)
        return kept

    def failure(
        self, digest: str, error: TreeError | OSError, seen: os.stat_result | None = None
    ) -> StoreError:
        """Tell a tree that can't be read at the moment from one that is wrong."""
        place = self.tree(digest)
        if isinstance(error, FileNotFoundError):
            return StoreError(
                f"the approved copy of the plugin is not in the store: expected {exact(place)}; "
                "review the plugin and approve it again",
                file=place,
            )
        if isinstance(error, TreeError):
            reason = str(error.problems[0])
            wrong = any(problem.code != "unreadable" for problem in error.problems)
        else:
            wrong = isinstance(error, UnsafePathError)
            reason = str(error) if wrong else error.strerror or str(error)
        if wrong:
            return self.refusal(digest, reason, seen)
        return StoreError(
            f"the stored copy can't be read: {reason}. Make {exact(place)} readable for you, "
            "and try again.",
            file=place,
        )

    def refusal(self, digest: str, reason: str, seen: os.stat_result | None = None) -> StoreError:
        """Keep a wrong tree aside and return the error that says so (S15)."""
        place = self.tree(digest)
        try:
            kept = self.set_aside(digest, seen)
            fate = (
                f"It was moved to {exact(kept)} for you to look at"
                if kept
                else "Meanwhile another process put it right or took it away"
            )
        except OSError as error:
            fate = f"It could not be moved aside ({error.strerror or error})"
        return StoreError(
            f"the stored copy is not what was approved: {reason} (in {exact(place)}). {fate}. "
            "Only a program run by you or by root can have written there: most often the plugin "
            "itself, or a command that it started. Review the plugin and approve it again.",
            file=place,
        )


def move(place: str, to: str) -> None:
    """Rename a tree, read-only as it is."""
    if stat.S_ISDIR(os.lstat(place).st_mode):
        os.chmod(place, 0o700)  # ordinary users can't rename a directory that they can't write
    os.rename(place, to)
