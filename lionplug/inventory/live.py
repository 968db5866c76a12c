"""Noticing that the live directory of an approved plugin is no longer what was approved.

Code never runs from there, so a change that is noticed late is not dangerous; a person
who edits a plugin should see it refused at once all the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from lionplug.errors import LionplugError
from lionplug.files.limits import Limits
from lionplug.files.signature import Signature, signature_of
from lionplug.manifest.model import Manifest
from lionplug.manifest.parse import MANIFEST_FILE
from lionplug.trust.digest import same_digest
from lionplug.trust.record import Record
from lionplug.trust.staging import live_digest, live_signature

_Stamp = tuple[Signature | None, Signature | None]


class LiveTree:
    """The live directory of one approved copy.

    A stat identity is a reason to look, never a proof: whenever one differs, the whole
    tree is digested again.

    :param record: The approval that the tree is compared with.
    :param manifest: The live manifest, for its ``exclude``.
    :param limits: Bounds for reading the tree.
    :param read_manifest: Parses the bytes of a manifest.
    """

    def __init__(
        self,
        record: Record,
        manifest: Manifest,
        limits: Limits,
        read_manifest: Callable[[bytes], Manifest],
    ) -> None:
        self.record = record
        self._exclude = manifest.exclude
        self.limits = limits
        self._read_manifest = read_manifest
        self._signature = record.live_signature
        self._stamps: dict[str, _Stamp] = {}
        self._manifest_path = os.path.join(record.location, MANIFEST_FILE)

    def verify(self) -> str | None:
        """Compare the whole tree with the record; return why it differs, or ``None``."""
        location = self.record.location
        try:
            signature = live_signature(location, self.limits, self._exclude)
            if signature == self._signature:
                return None
            digest = live_digest(location, self.limits, self._read_manifest)
        except LionplugError as error:
            return f"its live files can't be compared with the approved ones: {error.message}"
        except OSError as error:
            return f"its live files can't be read: {error.strerror}"
        if not same_digest(digest, self.record.tree):
            return "its files are not the approved ones; review the difference"
        self._signature = signature
        return None

    def glance(self, path: str) -> str | None:
        """Compare the manifest and one file by their stat; verify all if either moved.

        :param path: Path of the file, relative to the bundle.
        :returns: Why the tree differs from the record, or ``None``.
        """
        stamp = (_stamp(self._manifest_path), _stamp(os.path.join(self.record.location, path)))
        if self._stamps.get(path) == stamp:
            return None
        reason = self.verify()
        if reason is None:
            self._stamps[path] = stamp
        return reason


def _stamp(path: str) -> Signature | None:
    try:
        return signature_of(os.stat(path))
    except OSError:
        return None
