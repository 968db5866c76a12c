"""The composition root: builds the parts of one host and joins them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import pluggy

from lionplug.activation.active import ActivePlugin
from lionplug.activation.log import ActivationLog
from lionplug.activation.manager import HookManager
from lionplug.errors import (
    CapabilityNotFoundError,
    LionplugError,
    LockTimeoutError,
    ScopeError,
    TrustError,
    UsageError,
)
from lionplug.gate import CallRecord, Policy, record_of
from lionplug.host.approvals import Approvals
from lionplug.host.generations import Generations
from lionplug.host.refusals import Refusals
from lionplug.host.running import Running
from lionplug.host.snapshots import SnapshotBuilder
from lionplug.inventory.plugin import Plugin
from lionplug.inventory.snapshot import Offer, Snapshot
from lionplug.inventory.view import Inventory
from lionplug.manifest.model import Manifest
from lionplug.manifest.parse import parse_manifest
from lionplug.manifest.section import Section
from lionplug.manifest.sections import SECTIONS
from lionplug.manifest.specifiers import contains
from lionplug.scopes import ProjectScope, find_user_scope
from lionplug.surfaces import agents, packs, playbooks, tools
from lionplug.surfaces.collection import Collection
from lionplug.surfaces.declarations import Declarations
from lionplug.surfaces.provider import SurfaceProvider
from lionplug.surfaces.surface import Surface
from lionplug.surfaces.tools import Tools
from lionplug.surfaces.user_files import UserFiles
from lionplug.text import exact
from lionplug.trust.grants import Grants
from lionplug.trust.store import Store
from lionplug.trust.trust_file import TrustFile

if TYPE_CHECKING:
    from lionplug.host import Host

#: The surfaces that every host has.
SURFACES = (tools.SURFACE, agents.SURFACE, playbooks.SURFACE, packs.SURFACE)

_logger = logging.getLogger("lionplug")


class Core:
    """All parts of one host.

    :param host: The door that the application holds.
    :raises UsageError: if the host's version is none.
    """

    def __init__(self, host: Host) -> None:
        if not isinstance(host.version, str) or contains(">=0.dev0", host.version) is None:
            raise UsageError(
                f"Host({host.name!r}): {exact(str(host.version))} is no version; give it one "
                "that plugins can name a range of, such as '1.4.0' (PEP 440)."
            )
        self.name = host.name
        self.version = host.version
        self.command = host.command
        self.user_scope = find_user_scope(host.name, host.user_dir)
        self.trust_file = TrustFile(self.user_scope)
        self.store = Store(self.user_scope)
        self.grants = Grants(self.trust_file, self._approvals_read, self.outdate)
        self.surfaces: dict[str, Surface] = {}
        self._sections = dict(SECTIONS)
        self.providers: dict[str, object] = {}
        self.activations = ActivationLog()
        self.refusals = Refusals()
        self.builder = SnapshotBuilder(self)
        self.generations = Generations(self.builder.build, self._prepare)
        #: The hook relay while nothing is to be looked at before a call, for speed.
        self.relay: pluggy.HookRelay | None = None
        self.policy = Policy(look=self.grants.look, report=self._call_ended)
        self.manager = HookManager(
            host.name,
            self.policy,
            lock=self.generations.lock,
            on_misfit=self._misfit,
            on_specs=self.outdate,
            may_register=self._may_register,
        )
        self.running = Running(self)
        self.declarations = Declarations(self.surfaces, self)
        self.inventory = Inventory(
            self.ready, self.generations.refresh, lambda: self.refusals.lines
        )
        self.approvals = Approvals(self)
        self.tools = Tools(self.declarations)
        for surface in SURFACES:
            self._serve(surface)
        kinds = (agents.USER_FILES, playbooks.USER_FILES, packs.USER_FILES)
        self.manager.register(UserFiles(self.user_scope, kinds), "lionplug user files")

    # -- surfaces ----------------------------------------------------------------------

    def add_surface(self, surface: Surface) -> None:
        """Serve one more surface."""
        if surface.name in self.surfaces or surface.name in self._sections:
            raise UsageError(f"there is a surface {exact(surface.name)} already; name it another.")
        with self.generations.lock:
            self._serve(surface)
            self.builder.read_again()
        self.declarations.forget_own()
        self.outdate()

    def collection(self, surface: str) -> Collection:
        """Return the view of a surface."""
        if surface not in self.surfaces:
            known = ", ".join(sorted(self.surfaces))
            raise UsageError(f"there is no surface {exact(surface)}; there are: {known}.")
        return Collection(surface, self.declarations)

    def exclusive_surfaces(self) -> frozenset[str]:
        """Return the surfaces on which a name can belong to one plugin only."""
        return frozenset(name for name, one in self.surfaces.items() if one.exclusive)

    @property
    def sections(self) -> Mapping[str, Section]:
        """What may stand below ``capabilities``, the surfaces of this host included."""
        return dict(self._sections)

    def read_manifest(self, data: bytes) -> Manifest:
        """Parse a manifest, with all surfaces of this host."""
        return parse_manifest(data, host=self.name, sections=self._sections)

    def _serve(self, surface: Surface) -> None:
        self.manager.add_hookspecs(surface.hookspecs)
        self.surfaces[surface.name] = surface
        if surface.section is not None:
            self._sections[surface.section.key] = surface.section
        self.providers[f"lionplug {surface.name}"] = SurfaceProvider(surface, self)

    # -- generations -------------------------------------------------------------------

    def ready(self) -> Snapshot:
        """Return the current snapshot; the first question discovers."""
        return self.generations.current()

    def outdate(self) -> None:
        """Have the next question build a new snapshot."""
        self.generations.outdate()
        self.relay = None

    def approvals_changed(self, location: str) -> None:
        """Take up what was just written about one copy, and look at its live tree again."""
        self.grants.look()
        self.outdate()
        for plugin in self.ready().plugins:
            if plugin.location == location and self.running.look_at(plugin.found):
                self.outdate()
        self.ready()

    def _prepare(self, verify: bool) -> None:
        """Ask what must be known before a snapshot is built, without its lock."""
        if verify:
            self.declarations.forget_own()
            self.grants.read_again()
        else:
            self.grants.look()
        self.declarations.learn_own()

    def _approvals_read(self) -> None:
        """Take a change of the approvals up: later, or at once where other bytes were approved.

        Whoever kept the relay or a hook asks no question again, and would go on without a
        plugin that was approved anew: without a guard, perhaps. What was only taken back
        keeps its place, and its gate, until somebody asks.
        """
        if not self.generations.snapshot.generation or not self._approved_anew():
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

    # -- facts for the other parts -----------------------------------------------------

    @property
    def project_scopes(self) -> tuple[ProjectScope, ...]:
        """Project scopes of the current generation, nearest first."""
        self.ready()
        return self.builder.projects

    def require_user_scope(self) -> None:
        """Raise unless there is a user scope in which things can be kept."""
        if self.user_scope.path is None or self.user_scope.problem:
            raise ScopeError(
                self.user_scope.problem
                or "there is no user scope to keep approvals in; set HOME and start again."
            )

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
        return self.running.was_imported(location)

    # -- hooks -------------------------------------------------------------------------

    @property
    def hook(self) -> pluggy.HookRelay:
        """The relay; asking for it ends the time in which specifications are expected."""
        if not self.builder.hooks_settled:
            self.builder.hooks_settled = True
            self.outdate()
        self.ready()
        self.relay = self.manager.hook
        if not self.generations.is_current:  # outdated by another thread, meanwhile
            self.relay = None
        return self.manager.hook

    def add_hookspecs(self, module_or_class: object) -> None:
        self.manager.add_hookspecs(module_or_class)

    def register(self, plugin: object, name: str | None = None) -> str | None:
        registered = self.manager.register(plugin, name)
        self.declarations.forget_own()
        self.outdate()
        return registered

    def unregister(self, plugin: object) -> None:
        self.manager.unregister(plugin)
        self.declarations.forget_own()
        self.outdate()

    def reserve(self, surface: str, names: Iterable[str]) -> None:
        """Keep names for the host; plugins that declare them are refused for them."""
        self.builder.reserved.update((surface, name) for name in names)
        self.outdate()

    # -- what the provider and the views ask -------------------------------------------

    def offer(self, surface: str, name: str) -> Offer | None:
        return self.ready().offer(surface, name)

    def offers(self, surface: str) -> list[Offer]:
        return [offer for (kind, _), offer in self.ready().qualified.items() if kind == surface]

    def admit(self, offer: Offer, hook: str, *, current: bool) -> ActivePlugin | None:
        """Return the plugin of an offer if it may run now, else note the refusal.

        :param current: Whether to compare the manifest and the capability's own file with
            what was approved, by their stat.
        """
        call = record_of(self.policy.key(hook))
        if call is None:
            self.grants.look()
        active = self.running.get(offer.plugin.location)
        if (
            active is None
            or active.record.tree != _approved_tree(offer.plugin)  # approved anew, meanwhile
            or not active.grant.stands
            or (current and not self.running.is_current(active, offer.capability))
        ):
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

    def plugin_objects(self) -> list[object]:
        """Return the registered objects that speak for plugins, not for the host itself."""
        return [
            *self.providers.values(),
            *self.running.lazy_plugins(),
            *self.manager.attributed_plugins(),
        ]

    def _refuse(self, plugin: Plugin, hook: str, call: CallRecord | None) -> None:
        if call is None:
            self.refusals.note(plugin, hook, self.generations.snapshot.generation)
        else:
            call.note(plugin)

    def _call_ended(self, call: CallRecord) -> None:
        self.refusals.note_call(call, self.generations.snapshot.generation)

    def _may_register(self, plugin: str) -> bool:
        """Tell whether the code of a plugin may register objects: only while it is active."""
        return any(one.record.name == plugin and one.grant.stands for one in self.running)

    def _misfit(self, plugin: str, hook: str, reason: str) -> None:
        """Keep the failure of a hook that does not fit, so that listings show it."""
        self.running.note_misfit(plugin, hook, reason)
        if not reason:
            return
        what = f"hook {exact(hook)} is" if hook else "its hooks are"
        _logger.warning("plugin %s: %s left out: %s", plugin, what, exact(reason))

    def close(self) -> None:
        """End all grants and forget the modules of plugins; nothing is active from now on."""
        with self.generations.lock:
            self.generations.close()
            self.relay = None
            self.running.close()
            self.store.close()


def _approved_tree(plugin: Plugin) -> str | None:
    return plugin.record.tree if plugin.record is not None else None
