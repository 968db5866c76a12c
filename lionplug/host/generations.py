"""Generations: snapshots built one at a time, never older than the question."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from threading import RLock, get_ident

from lionplug.inventory.snapshot import Changes, Snapshot

EMPTY = Snapshot.of(0, (), ())


class Generations:
    """Owns the current snapshot and decides when another one is due.

    :param build: Builds a snapshot from the one before; its argument ``verify`` tells
        whether to look at the live trees too.
    :param prepare: Called first and without the lock, for questions to the host's own code:
        that code may wait for a thread which asks in turn.
    """

    def __init__(
        self, build: Callable[[Snapshot, bool], Snapshot], prepare: Callable[[bool], None]
    ) -> None:
        self._build = build
        self._prepare = prepare
        #: Held while a snapshot is built and while the hook manager changes: one lock, so
        #: that two threads can't wait for one another.
        self.lock = RLock()
        self._numbers = count(1)
        # What is wanted differs from what was built whenever something changed since the
        # building began; numbers are never used twice, so no change is lost to a race.
        self._wanted = next(self._numbers)
        self._built = 0
        self._busy: set[int] = set()
        self._closed = False
        self.snapshot = EMPTY

    @property
    def is_current(self) -> bool:
        """Whether nothing has to be looked at before a question is answered."""
        return self._built == self._wanted or self._closed

    def outdate(self) -> None:
        """Have the next question build a new snapshot."""
        self._wanted = next(self._numbers)

    def current(self) -> Snapshot:
        """Return the snapshot, building it first if one is due."""
        if not self.is_current:
            self._rebuild(verify=False)
        return self.snapshot

    def refresh(self) -> Changes:
        """Build a snapshot in any case, the live trees included; return what changed."""
        before = self.snapshot
        self._rebuild(verify=True)
        return self.snapshot.since(before)

    def close(self) -> None:
        """Answer every further question with nothing."""
        with self.lock:
            self._closed = True
            self.snapshot = EMPTY

    def _rebuild(self, *, verify: bool) -> None:
        thread = get_ident()
        if thread in self._busy:
            return  # asked by code that is being asked: what there is has to do
        self._busy.add(thread)
        try:
            self._prepare(verify)
            with self.lock:
                if self._closed or (self.is_current and not verify):
                    return  # another thread was faster
                begun = self._wanted
                self.snapshot = self._build(self.snapshot, verify)
                self._built = begun
        finally:
            self._busy.discard(thread)
