"""Building a snapshot: what is found, what is approved and what follows from both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lionplug.activation.bundle_hooks import HOOKIMPLS
from lionplug.discovery.bundles import BundleScanner
from lionplug.files.limits import Limits
from lionplug.host.surroundings import Surroundings
from lionplug.inventory.judge import Circumstances, judge
from lionplug.inventory.plugin import Plugin
from lionplug.inventory.snapshot import Snapshot
from lionplug.manifest.model import Manifest
from lionplug.scopes import ProjectScope
from lionplug.trust.record import Record

if TYPE_CHECKING:
    from lionplug.host.core import Core


def capability_set(manifest: Manifest) -> tuple[dict[str, Any], ...]:
    """Return what a record pins of a manifest's meaning (security rule S12)."""
    return tuple(capability.to_dict() for capability in manifest.capabilities)


class SnapshotBuilder:
    """Looks around and judges; called under the lock of the generations.

    :param core: The host's parts.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._scanner = BundleScanner(core.read_manifest)
        self._surroundings = Surroundings(core.name, core.user_scope)
        #: Names that the host keeps for itself, as ``(surface, name)``.
        self.reserved: set[tuple[str, str]] = set()
        #: Whether the host had its chance to add specifications of hooks.
        self.hooks_settled = False
        #: Hooks that the application has by its announcement, where it is not here itself.
        self.announced_hooks: frozenset[str] | None = None

    def read_again(self) -> None:
        """Read every manifest again: what may stand in one is different now."""
        self._scanner = BundleScanner(self._core.read_manifest)

    @property
    def projects(self) -> tuple[ProjectScope, ...]:
        """Project scopes as last seen, nearest first."""
        return self._surroundings.projects

    @property
    def limits(self) -> Limits:
        """Bounds of what is read of one bundle."""
        return self._surroundings.limits

    def disabled_by(self, plugin: Plugin) -> str | None:
        """Return why the settings disable a plugin, with file and line."""
        return self._surroundings.disabled_by(plugin.found)

    def build(self, old: Snapshot, verify: bool) -> Snapshot:
        """Return a new snapshot, or the old one if nothing is different."""
        core = self._core
        self._surroundings = surroundings = Surroundings(core.name, core.user_scope)
        scan = self._scanner.scan(surroundings.folders())
        if verify:
            core.running.verify(scan.bundles)
        distrust = self._distrust()
        plugins = judge(
            scan.bundles,
            Circumstances(
                host=core.name,
                host_version=core.version,
                command=core.command,
                trust=core.grants.state,
                distrust=distrust,
                disabled_by=surroundings.disabled_by,
                missing_hooks=self.missing_hooks,
                changed=core.running.changed,
                lacks_tree=self._lacks_tree,
                capabilities=capability_set,
                exclusive=core.exclusive_surfaces(),
                reserved=self.reserved | core.declarations.own_names(),
            ),
        )
        plugins = core.running.update(plugins)
        notices = [*surroundings.all_notices(), *scan.notices]
        if distrust and distrust not in notices:
            notices.insert(0, distrust)
        if old.generation and (plugins, tuple(notices)) == (old.plugins, old.notices):
            return old
        return Snapshot.of(old.generation + 1, plugins, notices)

    def _distrust(self) -> str | None:
        """Say why nothing at all is trusted."""
        core = self._core
        problem = core.grants.state.problem
        return core.user_scope.problem or (f"nothing is trusted: {problem}" if problem else None)

    @property
    def knows_hooks(self) -> bool:
        """Whether it can be told that the application does not have a hook."""
        return self.hooks_settled or self.announced_hooks is not None

    def missing_hooks(self, manifest: Manifest, *, optional: bool = False) -> list[str]:
        """Return hooks without specification, once the host had its chance to add them.

        :param manifest: The plugin's manifest.
        :param optional: Whether to return those without which the plugin works, instead.
        """
        if not self.knows_hooks:
            return []
        announced = self.announced_hooks or frozenset()
        return [
            capability.name
            for capability in manifest.capabilities
            if capability.surface == HOOKIMPLS
            and bool(capability.detail.get("optional")) is optional
            and capability.name not in announced
            and not self._core.manager.has_spec(capability.name)
        ]

    def _lacks_tree(self, record: Record) -> bool:
        """Tell whether a record came from another machine without its tree (dotfiles)."""
        return not record.is_from_here and not self._core.store.has(record.tree)
