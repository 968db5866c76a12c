"""Refused calls: remembered and logged once for each plugin, hook and generation."""

from __future__ import annotations

import logging
from collections import deque
from typing import Protocol

from lionplug.gate import CallRecord
from lionplug.text import exact

#: Refusals that are remembered, the newest ones.
_MOST = 1_000

_logger = logging.getLogger("lionplug")


class Refused(Protocol):
    """What was kept out: a plugin of the inventory, or its grant."""

    @property
    def name(self) -> str:
        """Name of the plugin."""

    @property
    def location(self) -> str:
        """Resolved path of the copy."""


class Refusals:
    """The refusals of one host."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=_MOST)

    @property
    def lines(self) -> tuple[str, ...]:
        """What was refused, one line each, oldest first."""
        return tuple(self._lines)

    def note(self, refused: Refused, hook: str, generation: int) -> None:
        """Remember a refusal."""
        line = (
            f"{exact(refused.name)} ({exact(refused.location)}) was kept out of {exact(hook)} "
            f"in generation {generation}"
        )
        if line not in self._lines:
            self._lines.append(line)
            _logger.warning("%s", line)

    def note_call(self, call: CallRecord, generation: int) -> None:
        """Remember what was refused in a call."""
        for refused in call.refusals:
            self.note(refused, call.hook, generation)
