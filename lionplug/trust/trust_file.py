"""The file of approvals, ``trust.json``: read in full or not believed at all.

Records and switched-off plugins are one file, so that one ``stat`` notices every change.
It belongs to lionplug: 0600, replaced whole, never edited in place. Every change is made
under one short lock, on a fresh reading, so that two processes never lose each other's.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from hashlib import sha256

from lionplug.errors import LionplugError, LockTimeoutError, ScopeError, TrustFileError
from lionplug.files.locks import exclusive
from lionplug.files.opening import read_trusted
from lionplug.files.signature import Signature, signature_of
from lionplug.files.writing import make_private_directory, replace_file
from lionplug.text import exact
from lionplug.trust.document import (
    MAX_BYTES,
    Document,
    DocumentError,
    disabled_entry,
    dump_document,
    location_of,
    named_trees,
    new_document,
    parse_document,
    read_disabled,
    read_records,
)
from lionplug.trust.record import Record
from lionplug.trust.state import UNREADABLE, TrustState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lionplug.scopes import UserScope

#: How long a change waits for another process that is changing the file.
LOCK_SECONDS = 10.0


class TrustFile:
    """The approvals of one user scope.

    :param scope: The user scope; one with a problem has nothing trusted in it.
    """

    def __init__(self, scope: UserScope) -> None:
        self._scope = scope
        self._path = None if scope.problem or scope.path is None else scope.trust_file

    @property
    def path(self) -> str | None:
        """Path of the file; ``None`` where there is no user scope to trust."""
        return self._path

    def stamp(self) -> Signature | None:
        """Look at the file with exactly one ``stat`` (S39: a reason to look, no proof).

        :returns: Its signature, ``None`` where there is no file, :data:`UNREADABLE` where
            it can't be looked at.
        """
        if self._path is None:
            return UNREADABLE
        try:
            return signature_of(os.stat(self._path))
        except FileNotFoundError:
            return None
        except OSError:
            return UNREADABLE

    def read(self) -> TrustState:
        """Read the file and everything that it depends on (S31); never raises for its content.

        :returns: A missing file gives a state without records. One that can't be read, is
            malformed, newer, or could have been written by somebody else gives a state
            with a problem, in which nothing is trusted.
        """
        stamp = self.stamp()
        try:
            document, stamp = self._load()
            records, unreadable = read_records(document)
        except (LionplugError, OSError) as error:
            problem = error.problem_stamp if isinstance(error, _Malformed) else stamp
            return TrustState(problem=self._explain(error), stamp=problem)
        return TrustState(
            records=records,
            disabled=read_disabled(document),
            unreadable=unreadable,
            stamp=stamp,
        )

    def approve(self, record: Record) -> None:
        """Keep an approval; it replaces every record of the same location.

        :raises TrustFileError: The file can't be believed or can't be written, or the
            record is one that could not be read again.
        :raises LockTimeoutError: Another process held the lock for 10 s.
        """
        data = record.to_dict()
        try:
            Record.from_dict(data)
        except ValueError as error:
            raise self._refusal(
                f"the record {error}. Nothing was written. Review the plugin and approve it again."
            ) from None
        with self._changing() as document:
            others = document["records"]
            document["records"] = [
                *(other for other in others if location_of(other) != record.location),
                data,
            ]

    def revoke(self, *, location: str) -> Record | None:
        """Take every record of a location away, sound or not.

        The lock is taken before anything is read, so that an approval that is being
        written is either seen and taken away or comes later than this answer.

        :returns: The record that was in force; ``None`` where there was none.
        :raises TrustFileError: The file can't be believed or can't be written.
        :raises LockTimeoutError: Another process held the lock for 10 s.
        """
        with self._changing() as document:
            record = read_records(document)[0].get(location)
            document["records"] = [
                data for data in document["records"] if location_of(data) != location
            ]
        return record

    def set_disabled(self, name: str, location: str, value: bool) -> None:
        """Switch one copy of a plugin off, or on again.

        :raises TrustFileError: The file can't be believed or can't be written.
        :raises LockTimeoutError: Another process held the lock for 10 s.
        """
        with self._changing() as document:
            if not value:
                document["disabled"] = [
                    entry
                    for entry in document["disabled"]
                    if disabled_entry(entry) != (name, location)
                ]
            elif (name, location) not in read_disabled(document):
                document["disabled"].append({"name": name, "location": location})

    def prune(self, gone: Callable[[Record], bool]) -> list[Record]:
        """Take the records away whose bundles no longer exist.

        :param gone: Tells whether the bundle of a record is really gone, such as
            :func:`lionplug.trust.gone.is_gone`. Malformed records are kept.
        :returns: The records that were taken away. Nothing is locked or written for none,
            so that a scope on a read-only disk can be listed.
        :raises TrustFileError: The file can't be believed or can't be written.
        :raises LockTimeoutError: Another process held the lock for 10 s.
        """
        if not any(gone(record) for record in self.read().records.values()):
            return []
        with self._changing() as document:
            found = [record for record in read_records(document)[0].values() if gone(record)]
            locations = {record.location for record in found}
            document["records"] = [
                data for data in document["records"] if location_of(data) not in locations
            ]
        return found

    def named_trees(self) -> frozenset[str]:
        """Read which trees the store must keep: those of records of newer versions, too.

        :returns: Tree digests, as :meth:`lionplug.trust.store.Store.collect` takes them.
        :raises TrustFileError: The file can't be believed, so nothing may be collected.
        """
        try:
            return named_trees(self._load()[0])
        except (LionplugError, OSError) as error:
            raise self._refusal(f"{self._explain(error)} No approved copy was deleted.") from error

    def _load(self) -> tuple[Document, Signature | None]:
        if self._path is None:
            raise ScopeError(self._scope.problem or "there is no user scope")
        try:
            data, stat = read_trusted(self._path, MAX_BYTES)
        except FileNotFoundError:
            return new_document(), None
        try:
            return parse_document(data), signature_of(stat)
        except DocumentError as error:
            raise _Malformed(str(error), data, signature_of(stat)) from None

    @contextmanager
    def _changing(self) -> Iterator[Document]:
        """Hold the lock around a fresh reading, the caller's change and the replacement."""
        try:
            if self._path is None:
                raise ScopeError(self._scope.problem or "there is no user scope")
            make_private_directory(os.path.dirname(self._path))
            with exclusive(self._scope.lock_file, LOCK_SECONDS):
                document, _ = self._load()
                before = deepcopy(document)
                yield document
                if document != before:
                    replace_file(self._path, dump_document(document))
        except _Malformed as error:
            kept = self._keep_aside(error.data)
            raise self._refusal(f"{self._explain(error)} Nothing was written; {kept}") from None
        except DocumentError as error:
            raise self._refusal(
                f"{self._name} {error}; nothing was written. "
                "Revoke what is no longer needed, and try again."
            ) from None
        except (TrustFileError, LockTimeoutError):
            raise
        except (LionplugError, OSError) as error:
            raise self._refusal(f"{self._explain(error)} Nothing was written.") from error

    @property
    def _name(self) -> str:
        return exact(self._path or "the file of approvals")

    def _refusal(self, message: str) -> TrustFileError:
        return TrustFileError(message, file=self._path)

    def _explain(self, error: Exception) -> str:
        """Say what is wrong with the file, in sentences that end with what to do."""
        if isinstance(error, _Malformed):
            return (
                f"{self._name} {error.message}. Mend the file, or move it away and approve "
                "your plugins again."
            )
        if isinstance(error, OSError) and not isinstance(error, LionplugError):
            path = exact(os.fsdecode(error.filename or self._path or ""))
            remedy = (
                "Make room on the disk and try again."
                if error.errno in (errno.ENOSPC, errno.EDQUOT)
                else "Make it readable and writable for you."
            )
            return f"{path}: {error.strerror or error}. {remedy}"
        return str(error)

    def _keep_aside(self, data: bytes) -> str:
        """Copy bytes that can't be believed, once per content; say where they are."""
        path = os.path.join(self._scope.aside, f"trust.json-{sha256(data).hexdigest()[:16]}")
        try:
            if not os.path.lexists(path):
                make_private_directory(self._scope.aside)
                replace_file(path, data)
        except OSError as error:
            return f"its bytes could not be copied to {exact(path)}: {error.strerror or error}."
        return f"its bytes are kept in {exact(path)}."


class _Malformed(TrustFileError):
    """The file was read and is not what lionplug writes."""

    def __init__(self, message: str, data: bytes, stamp: Signature) -> None:
        super().__init__(message)
        self.data = data
        self.problem_stamp = stamp
