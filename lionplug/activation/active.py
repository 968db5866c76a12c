"""One active plugin: its grant, its live files, its approved tree and its modules."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any

from lionplug.activation import importer
from lionplug.activation.log import ActivationLog
from lionplug.activation.namespace import Namespace, data_directory
from lionplug.errors import NotGrantedError, StoreError
from lionplug.inventory.live import LiveTree
from lionplug.manifest.references import Reference
from lionplug.scopes import UserScope
from lionplug.trust.grants import Grant, Grants
from lionplug.trust.record import Record
from lionplug.trust.store import Store, StoredTree


class ActivePlugin:
    """What runs of a plugin, from its first call to the end of its grant.

    :param record: The approval in force.
    :param grant: The grant that every hand-out asks for.
    :param grants: Looks at the approvals.
    :param live: The live directory, to notice changes.
    :param store: Where the approved tree lies.
    :param restore: Puts an approved tree that is missing back from the live directory.
    :param scope: The user scope.
    :param log: Where activations are noted.
    :param on_change: Told that the live tree is no longer what was approved, and why;
        withdraws the grant.
    """

    def __init__(
        self,
        record: Record,
        *,
        grant: Grant,
        grants: Grants,
        live: LiveTree,
        store: Store,
        restore: Callable[[Record], None],
        scope: UserScope,
        log: ActivationLog,
        on_change: Callable[[ActivePlugin, str], None],
    ) -> None:
        self.record = record
        self.grant = grant
        self.live = live
        self._grants = grants
        self._store = store
        self._restore = restore
        self._scope = scope
        self._log = log
        self._on_change = on_change
        self._lock = RLock()
        self._tree: StoredTree | None = None
        self._namespace: Namespace | None = None
        self._loaded: dict[str, Callable[..., Any]] = {}
        self._misfits: dict[str, str] = {}

    @property
    def was_imported(self) -> bool:
        """Whether its modules were made importable in this process."""
        return self._namespace is not None

    def failure(self) -> str | None:
        """Return the first failure to import it or to seat a hook, for listings."""
        namespace = self._namespace
        known = importer.failures_of(namespace.package) if namespace is not None else ()
        if known:
            return known[0].error().message
        misfits = list(self._misfits.items())  # threads add to it
        return next((f"hook {hook}: {why}" if hook else why for hook, why in misfits), None)

    def note_misfit(self, hook: str, reason: str) -> None:
        """Keep that a hook is left out, and why; without a name, that all are.

        :param reason: Empty where that is no longer so.
        """
        if reason:
            self._misfits[hook] = reason
        else:
            self._misfits.pop(hook, None)

    def load(self, target: str, *, hook: str, what: str) -> Callable[..., Any]:
        """Import the function that a reference names, from the approved tree.

        :param target: ``path.py:function``.
        :param hook: The hook whose call asks.
        :param what: What it is for, in messages, such as ``tool web_search``.
        :raises NotGrantedError: if the plugin may not run now.
        :raises ActivationError: if it can't be imported; the same error each time.
        :raises StoreError: if the approved tree is not what was approved.
        """
        function = self._loaded.get(target)
        if function is None:
            namespace = self._namespace or self._open_namespace(what)
            path, _, attribute = target.partition(":")
            function = importer.load(
                namespace,
                Reference(path=path, attribute=attribute),
                hook=hook,
                what=what,
                check=self._may_run,
            )
            self._require_grant(what)  # the import may have taken long
            self._loaded[target] = function
        elif not self.grant.stands:
            raise self._refusal(what)
        return function

    def read(self, path: str, *, limit: int, what: str) -> bytes:
        """Read a file of the approved tree; nothing is imported.

        The tree is compared with its seal each time, and the bytes with their pin (S15).

        :param path: Path relative to the bundle.
        :param limit: Bytes that it may have.
        :param what: What it is for, in messages, such as ``agent researcher``.
        :raises NotGrantedError: if the plugin may not be used now.
        :raises StoreError: if the approved tree is not what was approved.
        """
        self._require_grant(what)
        tree = self._tree
        if tree is None:
            tree = self._tree = self._open_tree()
        else:
            self._store.verify(tree)
        data = tree.read(path, limit)
        self._require_grant(what)
        return data

    def require_current(self, path: str, *, what: str) -> None:
        """Compare the live manifest and one file with what was approved, by their stat.

        :raises NotGrantedError: if the live tree is another; the grant is withdrawn.
        """
        reason = self.live.glance(path)
        if reason is not None:
            self._on_change(self, reason)
            self._require_grant(what)

    def end(self, state: str) -> None:
        """Withdraw the grant and forget the modules; code that is running goes on (S34).

        :param state: The state that the plugin is in now.
        """
        self.grant.withdraw(state)
        with self._lock:
            namespace, self._namespace = self._namespace, None
            self._loaded.clear()
        if namespace is not None:
            importer.release(namespace)

    def _require_grant(self, what: str) -> None:
        """Refuse unless the plugin may run now, by the approvals as they are."""
        if not self._may_run():
            raise self._refusal(what)

    def _may_run(self) -> bool:
        self._grants.look()
        return self.grant.stands

    def _refusal(self, what: str) -> NotGrantedError:
        state = self.grant.refusal or "not approved any more"
        return NotGrantedError(
            f"{what} of {self.record.name} can't be used: the plugin is {state}. "
            "Ask the person who runs this program to look at it.",
            state=state,
            plugin=self.record.name,
        )

    def _open_namespace(self, what: str) -> Namespace:
        """Make the approved tree importable.

        The tree is opened without the lock, because that may wait for another process; who
        ends the plugin meanwhile does not wait, and nothing is attached after that.
        """
        self._require_grant(what)
        tree = self._open_tree()
        record = self.record
        with self._lock:
            if self.grant.refusal:
                raise self._refusal(what)
            if self._namespace is None:
                namespace = Namespace(
                    plugin=record.name,
                    user_dir=str(self._scope.path),
                    location=record.location,
                    tree=tree,
                    data_dir=data_directory(self._scope.data, record.name, record.location),
                    log=self._log,
                )
                importer.attach(namespace)
                self._namespace = namespace
            return self._namespace

    def _open_tree(self) -> StoredTree:
        """Open and verify the approved tree; one that is missing is made again."""
        record = self.record
        self._store.lease(record.tree)
        if record.is_from_here and not self._store.has(record.tree):
            self._restore(record)
        try:
            tree = self._store.open(record.tree)
            self._store.verify(tree)
        except StoreError as error:
            raise StoreError(
                f"{record.name}: {error.message}", plugin=record.name, file=error.file
            ) from error
        return tree
