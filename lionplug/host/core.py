"""The composition root: builds the parts of one host and keeps them in step."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any

import pluggy

from lionplug.activation.active import ActivePlugin
from lionplug.activation.log import ActivationLog
from lionplug.activation.manager import HookManager
from lionplug.discovery.bundles import BundleScanner
from lionplug.errors import (
    CapabilityNotFoundError,
    LionplugError,
    LockTimeoutError,
    ScopeError,
    TrustError,
)
from lionplug.files.limits import Limits
from lionplug.gate import CallRecord, Policy, record_of
from lionplug.host.approvals import Approvals
from lionplug.host.running import Running
from lionplug.host.surroundings import Surroundings
from lionplug.inventory.judge import Circumstances, judge
from lionplug.inventory.plugin import Plugin
from lionplug.inventory.snapshot import Changes, Offer, Snapshot
from lionplug.inventory.view import Inventory
from lionplug.manifest.model import Manifest
from lionplug.manifest.parse import parse_manifest
from lionplug.scopes import ProjectScope, find_user_scope
from lionplug.surfaces import tools
from lionplug.surfaces.declarations import Declarations
from lionplug.surfaces.loader import BundleLoader
from lionplug.surfaces.tools import Tools
from lionplug.text import exact
from lionplug.trust.grants import Grants
from lionplug.trust.record import Record
from lionplug.trust.records import TrustFile
from lionplug.trust.store import Store

if TYPE_CHECKING:
    from lionplug.host import Host

#: Refusals that are remembered, the newest ones.
_REFUSALS = 1_000

#: The surfaces that every host has.
SURFACES = (tools.SURFACE,)

_logger = logging.getLogger("lionplug")


class Core:
    """All parts of one host.

    :param host: The door that the application holds.
    """

    def __init__(self, host: Host) -> None:
        self.name = host.name
        self.version = host.version
        self.command = host.command
        self.user_scope = find_user_scope(host.name, host.user_dir)
        self.trust_file = TrustFile(self.user_scope)
        self.store = Store(self.user_scope)
        self.grants = Grants(self.trust_file, self._approvals_read)
        self.read_manifest = partial(parse_manifest, host=host.name)
        self.activations = ActivationLog()
        self.policy = Policy(
            look=self.grants.look, check=self.grants.check, report=self._call_ended
        )
        self.manager = HookManager(
            host.name,
            self.policy,
            on_misfit=self._misfit,
            on_specs=self.mark_stale,
        )
        self.running = Running(self)
        self.declarations = Declarations(SURFACES, self)
        self.inventory = Inventory(self.ready, self.refresh, lambda: tuple(self._refusals))
        self.approvals = Approvals(self)
        self.tools = Tools(self.declarations)
        self._scanner = BundleScanner(self.read_manifest)
        self._lock = RLock()
        self._snapshot: Snapshot | None = None
        self._surroundings = Surroundings(self.name, self.user_scope)
        self._stale = False
        self._building = False
        self._hooks_settled = False
        #: The hook relay while nothing is to be looked at before a call, for speed.
        self.relay: pluggy.HookRelay | None = None
        self._reserved: set[tuple[str, str]] = set()
        self._refusals: deque[str] = deque(maxlen=_REFUSALS)
        for surface in SURFACES:
            self.manager.add_hookspecs(surface.hookspecs)
        self.loader = BundleLoader(SURFACES, self)

    # -- the current generation --------------------------------------------------------

    def ready(self) -> Snapshot:
        """Return the current snapshot; the first question discovers (DESIGN §4.1)."""
        snapshot = self._snapshot
        if snapshot is None or self._stale:
            self._rebuild(verify=False)
            snapshot = self._snapshot
        return snapshot if snapshot is not None else _EMPTY

    def refresh(self) -> Changes:
        """Look at everything again, the live trees of approved plugins included."""
        self.declarations.forget_own()
        return self._rebuild(verify=True)

    def approvals_changed(self, location: str) -> None:
        """Take up what was just written about one copy, and look at its live tree again."""
        self.running.forget_change(location)
        self._rebuild(verify=False)
        self.running.look_at(location)
        self.ready()

    def mark_stale(self) -> None:
        """Have the next question build a new snapshot."""
        self._stale = True
        self.relay = None

    def _approvals_read(self) -> None:
        """Take a change of the approvals up: later, or at once where other bytes were approved.

        Whoever kept the relay or a hook asks no question again, and would go on without a
        plugin that was approved anew: without a guard, perhaps. What was only taken back
        keeps its place, and its gate, until somebody asks.
        """
        self._stale = True
        if self._snapshot is None or self._building or not self._approved_anew():
            return
        try:
            self.ready()
        except (LionplugError, OSError) as error:  # told to the next one who asks
            _logger.warning("the plugins could not be looked at again: %s", error)

    def _approved_anew(self) -> bool:
        state = self.grants.state
        records = [
            (active.record.tree, state.records.get(active.record.location))
            for active in self.running
        ]
        return any(
            record is not None
            and record.tree != tree
            and (record.name, record.location) not in state.disabled
            for tree, record in records
        )

    def _rebuild(self, *, verify: bool) -> Changes:
        with self._lock:
            old = self._snapshot or _EMPTY
            if self._building:  # a host's own hook asked while it was asked
                return Changes((), (), ())
            self._building = True
            try:
                new = self._look_around(old, verify)
            except BaseException:
                self.mark_stale()
                raise
            finally:
                self._building = False
            self._snapshot = new
        return new.since(old)

    def _look_around(self, old: Snapshot, verify: bool) -> Snapshot:
        if verify:
            self.grants.read_again()
        else:
            self.grants.look()
        self._stale = False
        self._surroundings = surroundings = Surroundings(self.name, self.user_scope)
        scan = self._scanner.scan(surroundings.folders())
        if verify:
            self.running.verify(scan.bundles)
        plugins = judge(
            scan.bundles,
            Circumstances(
                host=self.name,
                host_version=self.version,
                command=self.command,
                trust=self.grants.state,
                distrust=self._distrust(),
                disabled_by=surroundings.disabled_by,
                missing_hooks=self._missing_hooks,
                changed=self.running.changed,
                lacks_tree=self._lacks_tree,
                capabilities=self.capability_set,
                exclusive=frozenset(one.name for one in SURFACES if one.exclusive),
                reserved=self._reserved | self.declarations.own_names(),
            ),
        )
        plugins = self.running.update(plugins)
        notices = [*surroundings.all_notices(), *scan.notices]
        distrust = self._distrust()
        if distrust and distrust not in notices:
            notices.insert(0, distrust)
        if (plugins, tuple(notices)) == (old.plugins, old.notices) and old is not _EMPTY:
            return old
        return Snapshot.of(old.generation + 1, plugins, notices)

    def _distrust(self) -> str | None:
        """Say why nothing at all is trusted."""
        problem = self.grants.state.problem
        return self.user_scope.problem or (f"nothing is trusted: {problem}" if problem else None)

    def _missing_hooks(self, manifest: Manifest) -> list[str]:
        """Return hooks without specification, once the host had its chance to add them."""
        if not self._hooks_settled:
            return []
        return [
            capability.name
            for capability in manifest.capabilities
            if capability.surface == "hookimpls"
            and not capability.detail.get("optional")
            and not self.manager.has_spec(capability.name)
        ]

    def _lacks_tree(self, record: Record) -> bool:
        """Tell whether a record came from another machine without its tree (dotfiles)."""
        return not record.is_from_here and not self.store.has(record.tree)

    # -- facts for the other parts -----------------------------------------------------

    @property
    def project_scopes(self) -> tuple[ProjectScope, ...]:
        """Project scopes of the current generation, nearest first."""
        self.ready()
        return self._surroundings.projects

    @property
    def limits(self) -> Limits:
        """Bounds of what is read of one bundle."""
        return self._surroundings.limits

    def disabled_by(self, plugin: Plugin) -> str | None:
        """Return file and line of the settings that disable a plugin."""
        return self._surroundings.disabled_by(plugin.found)

    def capability_set(self, manifest: Manifest) -> tuple[dict[str, Any], ...]:
        """Return what a record pins of a manifest's meaning (SECURITY-RULES S12)."""
        return tuple(capability.to_dict() for capability in manifest.capabilities)

    def require_user_scope(self) -> None:
        """Raise unless there is a user scope in which things can be kept."""
        if self.user_scope.path is None or self.user_scope.problem:
            raise ScopeError(self.user_scope.problem or "there is no user scope")

    def collect_garbage(self) -> None:
        """Remove approved trees that no record names and no process uses (S16).

        What was asked for is done by then, so that a store which can't be written now, or
        is busy, is left for the next time.
        """
        try:
            self.store.collect(self.trust_file.named_trees)
        except (TrustError, LockTimeoutError) as error:
            _logger.info("approved trees that nobody needs were not removed: %s", error)

    def was_imported(self, location: str) -> bool:
        """Tell whether code of a copy was imported in this process."""
        active = self.running.get(location)
        return active is not None and active.was_imported

    # -- hooks -------------------------------------------------------------------------

    @property
    def hook(self) -> pluggy.HookRelay:
        """The relay; asking for it ends the time in which specifications are expected."""
        self.ready()
        if not self._hooks_settled:
            self._hooks_settled = True
            self.mark_stale()
            self.ready()
        self.relay = self.manager.hook
        if self._stale:  # by another thread, meanwhile
            self.relay = None
        return self.manager.hook

    def add_hookspecs(self, module_or_class: object) -> None:
        self.manager.add_hookspecs(module_or_class)

    def register(self, plugin: object, name: str | None = None) -> str | None:
        registered = self.manager.register(plugin, name)
        self.declarations.forget_own()
        self.mark_stale()
        return registered

    def unregister(self, plugin: object) -> None:
        self.manager.unregister(plugin)
        self.declarations.forget_own()
        self.mark_stale()

    def reserve(self, surface: str, names: Iterable[str]) -> None:
        """Keep names for the host; plugins that declare them are refused for them."""
        self._reserved.update((surface, name) for name in names)
        self.mark_stale()

    # -- what the loader and the views ask ---------------------------------------------

    def offer(self, surface: str, name: str) -> Offer | None:
        return self.ready().offers.get((surface, name))

    def offers(self, surface: str) -> list[Offer]:
        return [offer for (kind, _), offer in self.ready().offers.items() if kind == surface]

    def admit(self, offer: Offer, hook: str, *, current: bool) -> ActivePlugin | None:
        """Return the plugin of an offer if it may run now, else note the refusal.

        :param current: Whether to compare the manifest and the capability's own file with
            what was approved, by their stat.
        """
        call = record_of(self.policy.key(hook))
        if call is None:
            self.grants.look()
        active = self.running.get(offer.plugin.location)
        if active is None or not active.grant.stands:
            self._refuse(offer.plugin, hook, call)
            return None
        if current and not self.running.is_current(active, offer.capability):
            self._refuse(offer.plugin, hook, call)
            return None
        return active

    def look_again(self) -> None:
        """Look at the approvals; a change makes the snapshot out of date."""
        self.grants.look()

    def missing(self, surface: str, name: str) -> CapabilityNotFoundError:
        """Explain a miss by a snapshot that knows of the latest changes."""
        self.grants.look()
        return self.ready().missing(surface, name)

    def _refuse(self, plugin: Plugin, hook: str, call: CallRecord | None) -> None:
        if call is None:
            self._note_refusal(plugin.name, plugin.location, hook)
        else:
            call.refusals += (plugin,)

    def _call_ended(self, call: CallRecord) -> None:
        for refused in call.refusals:
            self._note_refusal(refused.name, refused.location, call.hook)

    def _note_refusal(self, name: str, location: str, hook: str) -> None:
        """Remember and log a refusal, once for each generation of the inventory."""
        generation = self._snapshot.generation if self._snapshot else 0
        line = f"{name} ({exact(location)}) was kept out of {hook} in generation {generation}"
        if line not in self._refusals:
            self._refusals.append(line)
            _logger.warning("%s", line)

    def _misfit(self, plugin: str, hook: str, reason: str) -> None:
        _logger.warning("plugin %s: hook %s is left out: %s", plugin, exact(hook), exact(reason))

    def own_plugins(self) -> list[object]:
        """Return the objects that answer for plugins, not for the host itself."""
        return [self.loader, *self.running.lazy_plugins()]

    def close(self) -> None:
        """End all grants and forget the modules of plugins."""
        with self._lock:
            self.running.close()
            self.store.close()


_EMPTY = Snapshot.of(0, (), ())
