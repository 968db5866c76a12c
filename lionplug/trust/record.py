"""One record: what exactly a person approved, where, when and on which machine.

A record is read back strictly: a value of the wrong type, a digest that is not one or a
name too many makes it malformed, and a malformed record approves nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

from attrs import Factory, field, fields, frozen

from lionplug.trust.digest import is_digest, is_sha256
from lionplug.trust.machine import machine_id, user_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lionplug.trust.staging import StagedTree

#: Version of the shape of a record; one with another number is kept and approves nothing.
RECORD_VERSION = 1

#: Manifest formats whose capabilities this version can derive again from a stored tree.
FORMATS = frozenset({"native"})

SCOPE_KINDS = ("user", "project", "installed")

_MAX_NAME = 256
_MAX_PATH = 4096
_MAX_CAPABILITIES = 10_000


@frozen(kw_only=True)
class Record:
    """What a person approved: one tree at one location (security rule S12, S30).

    :ivar name: The plugin's name as its manifest gave it.
    :ivar version: Its version as the manifest gave it.
    :ivar location: Absolute path of the live directory, links resolved.
    :ivar scope_kind: ``"user"``, ``"project"`` or ``"installed"``.
    :ivar tree: Tree digest of the approved copy, ``lp1:sha256:…``.
    :ivar manifest: Digest of the manifest in canonical form, ``sha256:…``.
    :ivar manifest_sha256: SHA-256 of the bytes of the manifest file, in hex.
    :ivar capabilities: The capability set that was shown, each as its normal form.
    :ivar format: Which reader the capabilities come from.
    :ivar approved_at: Time of the answer in UTC, ISO 8601.
    :ivar live_signature: The live tree's stat signatures at approval, hashed, in hex.
    :ivar signatures: Source signatures by target, as JSON data; ``None`` where not known.
    :ivar machine: The machine of the approval, see :func:`~lionplug.trust.machine.machine_id`.
    :ivar uid: The account that gave it.
    :ivar device: Device number of the directory that held the location, to tell a deleted
        bundle from a volume that is not mounted; ``None`` where not known.
    """

    name: str
    version: str
    location: str
    scope_kind: str
    tree: str
    manifest: str
    manifest_sha256: str
    capabilities: tuple[dict[str, Any], ...]
    format: str = "native"
    approved_at: str
    live_signature: str
    signatures: Mapping[str, Any] = field(factory=dict)
    machine: str = Factory(machine_id)
    uid: int = Factory(user_id)
    device: int | None = None

    @classmethod
    def of(
        cls,
        staged: StagedTree,
        *,
        scope_kind: str,
        signatures: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> Record:
        """Return the record of an approval of a staged tree, given here and now.

        :param staged: The copy that was shown.
        :param scope_kind: Kind of the scope that the live directory was found in.
        :param signatures: Source signatures by target, as JSON data.
        :param now: Time of the answer, in any zone; the present by default.
        """
        time = (now or datetime.now(timezone.utc)).astimezone(timezone.utc)
        return cls(
            name=staged.manifest.name,
            version=staged.manifest.version,
            location=staged.location,
            scope_kind=scope_kind,
            tree=staged.digest,
            manifest=staged.manifest.digest,
            manifest_sha256=staged.manifest_sha256,
            capabilities=tuple(entry.to_dict() for entry in staged.manifest.capabilities),
            approved_at=time.isoformat(timespec="seconds"),
            live_signature=staged.live_signature,
            signatures=dict(signatures or {}),
            device=staged.device,
        )

    @classmethod
    def from_dict(cls, data: object) -> Record:
        """Read a record strictly; keys that are not known are left alone.

        :param data: What a JSON reader made of it.
        :raises ValueError: It is malformed, or of another version; says which value is
            wrong and what was expected.
        """
        if not isinstance(data, dict):
            raise ValueError("is not an object")
        version = data.get("record")
        if isinstance(version, bool) or version != RECORD_VERSION:
            raise ValueError(f"has record version {version!r}, and this lionplug reads 1")
        values = {name: data[name] for name in _FIELDS if name in data}
        for name, (check, expected) in _CHECKS.items():
            if name not in values and name != "device":
                raise ValueError(f"has no {name!r}")
            if not check(values.get(name)):
                raise ValueError(f"has a {name!r} that is not {expected}")
        return cls(**{**values, "capabilities": tuple(values["capabilities"])})

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON-ready data, as :meth:`from_dict` reads it."""
        data: dict[str, Any] = {"record": RECORD_VERSION}
        data.update((name, getattr(self, name)) for name in _FIELDS)
        data["capabilities"] = list(self.capabilities)
        data["signatures"] = dict(self.signatures)
        return data

    @property
    def is_from_here(self) -> bool:
        """Whether the answer was given on this machine by this account."""
        return self.machine == machine_id() and self.uid == user_id()


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _MAX_NAME


def _is_location(value: object) -> bool:
    return (
        isinstance(value, str)
        and len(value) <= _MAX_PATH
        and os.path.isabs(value)
        and os.path.normpath(value) == value
        and "\0" not in value
    )


def _is_manifest_digest(value: object) -> bool:
    return isinstance(value, str) and value[:7] == "sha256:" and is_sha256(value[7:])


def _is_capabilities(value: object) -> bool:
    if not isinstance(value, list) or len(value) > _MAX_CAPABILITIES:
        return False
    names = [
        (entry.get("surface"), entry.get("name")) for entry in value if isinstance(entry, dict)
    ]
    return (
        len(names) == len(value)
        and all(_is_text(surface) and isinstance(name, str) for surface, name in names)
        and len(set(names)) == len(names)
    )


def _is_utc_time(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        return datetime.fromisoformat(value).utcoffset() == timedelta(0)
    except ValueError:
        return False


def _is_signatures(value: object) -> bool:
    return isinstance(value, dict) and all(
        entry is None or isinstance(entry, dict) for entry in value.values()
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**64


_CHECKS = {
    "name": (_is_text, "a text of 1 to 256 characters"),
    "version": (_is_text, "a text of 1 to 256 characters"),
    "location": (_is_location, "an absolute, normal path"),
    "scope_kind": (lambda value: value in SCOPE_KINDS, "'user', 'project' or 'installed'"),
    "tree": (is_digest, "a tree digest, 'lp1:sha256:' and 64 hex digits"),
    "manifest": (_is_manifest_digest, "'sha256:' and 64 hex digits"),
    "manifest_sha256": (is_sha256, "64 hex digits"),
    "capabilities": (_is_capabilities, "a list of objects with different surface and name"),
    "format": (lambda value: isinstance(value, str) and value in FORMATS, "a known format"),
    "approved_at": (_is_utc_time, "a time in UTC, ISO 8601"),
    "live_signature": (is_sha256, "64 hex digits"),
    "signatures": (_is_signatures, "an object of objects"),
    "machine": (is_sha256, "64 hex digits"),
    "uid": (_is_number, "a number of an account"),
    "device": (lambda value: value is None or _is_number(value), "a device number"),
}
_FIELDS = tuple(attribute.name for attribute in fields(Record))
