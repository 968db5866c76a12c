"""The active plugins of a host: made, kept, verified and ended as the inventory changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from attrs import evolve

from lionplug.activation.active import ActivePlugin
from lionplug.activation.bundle_hooks import HOOKIMPLS, make_stand_in
from lionplug.activation.stand_in import LazyPlugin
from lionplug.discovery.found import FoundBundle
from lionplug.inventory import states
from lionplug.inventory.live import LiveTree
from lionplug.inventory.plugin import Plugin
from lionplug.manifest.capability import Capability
from lionplug.manifest.parse import MANIFEST_FILE
from lionplug.trust.record import Record

if TYPE_CHECKING:
    from lionplug.host.core import Core


class Running:
    """Owns one :class:`ActivePlugin` for each active copy, for as long as it is active."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._active: dict[str, ActivePlugin] = {}
        self._lazy: dict[str, LazyPlugin] = {}
        self._live: dict[str, LiveTree] = {}
        self._changes: dict[str, tuple[Record, str]] = {}
        self._imported: set[str] = set()

    @property
    def changed(self) -> dict[str, str]:
        """Location to reason, for live trees that are no longer what their record approves.

        A change counts against the record that it was seen with: what any process approves
        after that is another one.
        """
        records = self._core.grants.state.records
        return {
            location: reason
            for location, (record, reason) in list(self._changes.items())  # threads add to it
            if records.get(location) == record
        }

    def get(self, location: str) -> ActivePlugin | None:
        """Return the active plugin at a location."""
        return self._active.get(location)

    def was_imported(self, location: str) -> bool:
        """Tell whether code of a copy was imported in this process, under any approval."""
        active = self._active.get(location)
        return location in self._imported or (active is not None and active.was_imported)

    def __iter__(self) -> Iterator[ActivePlugin]:
        return iter(list(self._active.values()))

    def verify(self, bundles: Iterable[FoundBundle]) -> None:
        """Compare the live tree of every approved bundle with its record."""
        self._changes = {}
        for found in bundles:
            self.look_at(found)

    def look_at(self, found: FoundBundle) -> bool:
        """Compare the live tree of one copy with its record.

        One that is not active counts, too: judged by its manifest alone it could displace,
        or collide with, a copy that is as it was approved.

        :returns: Whether the verdict is another than before.
        """
        location = found.location
        before = self._changes.get(location)
        record = self._core.grants.state.records.get(location)
        reason = None
        # A manifest that is another one is seen to be so without a look at the tree.
        if (
            record is not None
            and found.manifest is not None
            and record.manifest_sha256 == found.manifest_sha256
        ):
            reason = self._live_tree(record, found).verify()
        if record is None or reason is None:
            self._changes.pop(location, None)
        else:
            self._changes[location] = (record, reason)
        return self._changes.get(location) != before

    def is_current(self, active: ActivePlugin, capability: Capability) -> bool:
        """Glance at the live manifest and the capability's own file.

        A tree that changed withdraws the grant until it is approved again.
        """
        own_file = capability.target.partition(":")[0] or next(
            iter(capability.files), MANIFEST_FILE
        )
        reason = active.live.glance(own_file)
        if reason is not None:
            self.note_change(active, reason)
        return reason is None

    def note_change(self, active: ActivePlugin, reason: str) -> None:
        """Withdraw the grant of a plugin whose live tree changed, until it is approved again."""
        self._changes[active.record.location] = (active.record, reason)
        active.grant.withdraw(states.CHANGED)
        self._core.outdate()

    def note_misfit(self, plugin: str, hook: str, reason: str) -> None:
        """Keep that a hook of an active plugin is left out, and why."""
        for active in self:
            if active.record.name == plugin:
                active.note_misfit(hook, reason)

    def update(self, plugins: Sequence[Plugin]) -> tuple[Plugin, ...]:
        """Begin what became active and end what no longer is.

        :returns: The plugins, the active ones able to tell whether they failed.
        """
        wanted = {plugin.location: plugin for plugin in plugins if plugin.is_active}
        now = {plugin.location: plugin.state for plugin in plugins}
        for location, active in list(self._active.items()):
            plugin = wanted.get(location)
            if plugin is None or plugin.record != active.record or active.grant.refusal:
                del self._active[location]
                self._lazy.pop(location, None)
                # Where the copy is active again, these are not the bytes that are.
                state = states.CHANGED if plugin else now.get(location, states.UNTRUSTED)
                self._end(active, state)
        for location, plugin in wanted.items():
            if location not in self._active:
                active = self._begin(plugin)
                lazy = make_stand_in(plugin, active, self._core.policy)
                if lazy is not None:
                    self._lazy[location] = lazy
                self._active[location] = active
        self._core.manager.set_lazy(
            [*self._core.providers.items(), *self._lazy_in_order(plugins)],
            watched=_approved_hooks(plugins),
        )
        return tuple(
            evolve(plugin, failure=self._active[plugin.location].failure)
            if plugin.location in self._active
            else plugin
            for plugin in plugins
        )

    def close(self) -> None:
        """End everything."""
        for active in self:
            self._end(active, "closed with its host")
        self._active.clear()
        self._lazy.clear()
        self._core.manager.set_lazy(list(self._core.providers.items()))

    def lazy_plugins(self) -> list[LazyPlugin]:
        """Return the stand-ins of the plugins that implement hooks by function."""
        return list(self._lazy.values())

    def _lazy_in_order(self, plugins: Iterable[Plugin]) -> list[tuple[str, LazyPlugin]]:
        """Return the stand-ins by name, in canonical order."""
        return [
            (plugin.name, self._lazy[plugin.location])
            for plugin in plugins
            if plugin.location in self._lazy
        ]

    def _begin(self, plugin: Plugin) -> ActivePlugin:
        core = self._core
        record = plugin.record
        if record is None:
            raise AssertionError("an active copy has a record")
        return ActivePlugin(
            record,
            grant=core.grants.issue(record.name, record.location, record.tree),
            grants=core.grants,
            live=self._live_tree(record, plugin.found),
            store=core.store,
            restore=core.approvals.restore,
            scope=core.user_scope,
            log=core.activations,
            on_change=self.note_change,
        )

    def _end(self, active: ActivePlugin, state: str) -> None:
        if active.was_imported:
            self._imported.add(active.record.location)
        active.end(state)
        self._core.manager.withdraw(active.record.name)

    def _live_tree(self, record: Record, found: FoundBundle) -> LiveTree:
        known = self._live.get(record.location)
        limits = self._core.builder.limits
        if known is None or known.record != record or known.limits != limits:
            if found.manifest is None:
                raise AssertionError("only valid bundles are compared")
            known = self._live[record.location] = LiveTree(
                record, found.manifest, limits, self._core.read_manifest
            )
        return known


def _approved_hooks(plugins: Iterable[Plugin]) -> set[str]:
    """Return the hooks of plugins that are approved, whether or not they are active."""
    return {
        capability.name
        for plugin in plugins
        if plugin.record is not None
        for capability in plugin.capabilities
        if capability.surface == HOOKIMPLS
    }
