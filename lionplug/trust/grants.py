"""Grants: the answer to "may this plugin run now, here?".

A grant is decided from the file of approvals alone: one ``stat`` notices a change made
by any process, and only then is the file read again and every grant decided anew.
Whoever hands out a callable, imports code or starts a process looks and asks
:attr:`Grant.stands` at that very place.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import RLock
from weakref import WeakSet

from lionplug.files.signature import Signature
from lionplug.trust.state import UNREADABLE, TrustState
from lionplug.trust.trust_file import TrustFile


class Grant:
    """The standing of one active copy of a plugin; issued by :meth:`Grants.issue`.

    :ivar name: Name of the plugin.
    :ivar location: Resolved path of the copy.
    :ivar tree: Digest of the approved tree.
    :ivar stands: Whether the plugin may run, by the last look at the approvals.
    :ivar refusal: State that withdrew the grant for good, such as ``changed``; else empty.
    """

    __slots__ = ("__weakref__", "location", "name", "refusal", "stands", "tree")

    def __init__(self, name: str, location: str, tree: str) -> None:
        self.name = name
        self.location = location
        self.tree = tree
        self.stands = False
        self.refusal = ""

    def withdraw(self, state: str) -> None:
        """End the grant; a copy that is active again gets a new one."""
        self.refusal = state
        self.stands = False


def _nothing() -> None:
    return None


class Grants:
    """Watches the file of approvals and decides every grant of one host.

    :param file: The approvals.
    :param on_change: Called, without arguments, after the file was read again.
    :param outdate: Called first, before any other thread's look returns: what was made of
        the last reading is out of date. It must not wait for anything.
    """

    def __init__(
        self,
        file: TrustFile,
        on_change: Callable[[], None],
        outdate: Callable[[], None] = _nothing,
    ) -> None:
        self._file = file
        self._on_change = on_change
        self._outdate = outdate
        self._lock = RLock()
        self._issued: WeakSet[Grant] = WeakSet()
        self._stamp: object = ()
        self.state: TrustState = TrustState()
        #: Grows with every reading of the file.
        self.generation = 0
        #: Notices a change of the file with one ``stat``; returns the generation.
        self.look: Callable[[], int] = self._make_look()

    def issue(self, name: str, location: str, tree: str) -> Grant:
        """Return a grant for a copy, decided by the last look."""
        grant = Grant(name, location, tree)
        with self._lock:
            self._issued.add(grant)
            self._decide(grant)
        return grant

    def _make_look(self) -> Callable[[], int]:
        # Runs on every gated call: plain comparisons of local variables, nothing built.
        stat, path = os.stat, self._file.path or ""
        changed = modified = inode = size = device = -1

        def look() -> int:
            try:
                now = stat(path)
                if (
                    now.st_ctime_ns == changed
                    and now.st_ino == inode
                    and now.st_mtime_ns == modified
                    and now.st_size == size
                    and now.st_dev == device
                ):
                    return self.generation
            except OSError:
                pass
            remember(self._notice())
            return self.generation

        def remember(stamp: Signature | None) -> None:
            nonlocal changed, modified, inode, size, device
            # A file that went away may come back as it was, with its directory.
            device, inode, size, modified, changed = stamp or UNREADABLE

        return look

    def read_again(self) -> None:
        """Read the file whatever its stamp says: the directories on its way count, too (S31)."""
        self._notice(forced=True)

    def _notice(self, *, forced: bool = False) -> Signature | None:
        """Read the file again if it is not the one that was read; return its stamp."""
        with self._lock:
            if not forced and self._file.stamp() == self._stamp:
                return self.state.stamp
            self.state = self._file.read()
            self._stamp = self.state.stamp
            for grant in list(self._issued):
                self._decide(grant)
            self.generation += 1
            self._outdate()
        self._on_change()
        return self.state.stamp

    def _decide(self, grant: Grant) -> None:
        record = self.state.records.get(grant.location)
        grant.stands = (
            not grant.refusal
            and record is not None
            and record.name == grant.name
            and record.tree == grant.tree
            and (grant.name, grant.location) not in self.state.disabled
        )
        if grant.refusal:  # withdrawn by another thread, meanwhile
            grant.stands = False
