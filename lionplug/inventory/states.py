"""The states of a copy, in the order in which they are decided: the first that applies."""

from __future__ import annotations

INVALID = "invalid"
INCOMPATIBLE = "incompatible"
BLOCKED = "blocked"
DISABLED = "disabled"
UNTRUSTED = "untrusted"
CHANGED = "changed"
SHADOWED = "shadowed"
COLLISION = "collision"
ACTIVE = "active"

STATES = (
    INVALID,
    INCOMPATIBLE,
    BLOCKED,
    DISABLED,
    UNTRUSTED,
    CHANGED,
    SHADOWED,
    COLLISION,
    ACTIVE,
)

#: States that wait for a person.
NEED_ATTENTION = frozenset({INVALID, INCOMPATIBLE, UNTRUSTED, CHANGED, COLLISION})
