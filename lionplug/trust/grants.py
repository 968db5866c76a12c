"""Grants: the answer to "may this plugin run now, here?" (DESIGN §4.4).

A grant is decided from the file of approvals alone: one ``stat`` notices a change made
by any process, and only then is the file read again. Whoever hands out a callable,
imports code or starts a process asks :meth:`Grants.check` at that very place.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock

from lionplug.trust.records import TrustFile, TrustState


class Grant:
    """The standing of one active copy of a plugin.

    :param name: Name of the plugin.
    :param location: Resolved path of the copy.
    :param tree: Digest of the approved tree.
    """

    __slots__ = ("_generation", "_granted", "location", "name", "refusal", "tree")

    def __init__(self, name: str, location: str, tree: str) -> None:
        self.name = name
        self.location = location
        self.tree = tree
        #: State that withdrew the grant for good, such as ``changed``; empty while it stands.
        self.refusal = ""
        self._generation = -1
        self._granted = False

    def withdraw(self, state: str) -> None:
        """End the grant; a copy that is active again gets a new one."""
        self.refusal = state


class Grants:
    """Watches the file of approvals and decides every grant of one host.

    :param file: The approvals.
    :param on_change: Called, without arguments, after the file was read again.
    """

    def __init__(self, file: TrustFile, on_change: Callable[[], None]) -> None:
        self._file = file
        self._on_change = on_change
        self._lock = RLock()
        self._stamp: object = ()
        self.state: TrustState = TrustState()
        #: Grows with every reading of the file.
        self.generation = 0

    def look(self) -> int:
        """Notice a change of the file with one ``stat``; return the generation."""
        if self._file.stamp() != self._stamp:
            self._read_again()
        return self.generation

    def check(self, grant: Grant) -> bool:
        """Tell whether a grant stands, by the state of the last :meth:`look`."""
        if grant.refusal:
            return False
        if grant._generation != self.generation:
            self._decide(grant)
        return grant._granted

    def _decide(self, grant: Grant) -> None:
        with self._lock:
            record = self.state.records.get(grant.location)
            grant._granted = (
                record is not None
                and record.name == grant.name
                and record.tree == grant.tree
                and (grant.name, grant.location) not in self.state.disabled
            )
            grant._generation = self.generation

    def _read_again(self) -> None:
        with self._lock:
            if self._file.stamp() == self._stamp:
                return
            self.state = self._file.read()
            self._stamp = self.state.stamp
            self.generation += 1
        self._on_change()
