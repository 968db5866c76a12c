"""What one reading of the file of approvals says."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from lionplug.files.signature import Signature
from lionplug.trust.record import Record

#: Stamp of a file that can't even be looked at; no file that exists has it.
UNREADABLE: Signature = (-1, -1, -1, -1, -1)


@frozen(kw_only=True)
class TrustState:
    """One reading of the file of approvals.

    :ivar records: The sound records by location.
    :ivar disabled: Name and location of each plugin that the user switched off.
    :ivar unreadable: Why a record approves nothing, by location (or by place in the file
        where it names none). Its plugin counts as changed.
    :ivar problem: Why nothing is trusted, and what to do; ``None`` for a sound file.
    :ivar stamp: What :meth:`TrustFile.stamp` returns while the file is the one read here.
    """

    records: Mapping[str, Record] = field(factory=dict)
    disabled: frozenset[tuple[str, str]] = frozenset()
    unreadable: Mapping[str, str] = field(factory=dict)
    problem: str | None = None
    stamp: Signature | None = None
