"""``lionplug.Host``: what an application embeds.

This module is the door only. Creating a :class:`Host` opens no file and imports nothing
but lionplug's own light modules; the first question asked to it builds
:class:`lionplug.host.core.Core`.
"""

from __future__ import annotations

from _thread import RLock

from lionplug.imports import safe_imports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    import pluggy

    from lionplug.activation.log import Activation
    from lionplug.errors import LionplugError
    from lionplug.host.core import Core
    from lionplug.host.diagnosis import Diagnosis
    from lionplug.host.review import Review, Revocation
    from lionplug.inventory.plugin import Plugin
    from lionplug.inventory.view import Inventory
    from lionplug.manifest.section import Section
    from lionplug.scopes import ProjectScope, UserScope
    from lionplug.surfaces.collection import Collection
    from lionplug.surfaces.surface import Surface
    from lionplug.surfaces.tools import Tools
    from lionplug.trust.diff import TreeDiff
    from lionplug.trust.disclosure import Disclosure
    from lionplug.trust.record import Record

__all__ = ["Host"]


class Host:
    """The plugins of one application.

    :param name: Name of the application: the project directories ``.NAME/``, the user scope
        ``~/.NAME`` and the manifest key ``NAME`` follow from it. It obeys the rule of plugin
        names (``a-z``, ``0-9``, ``-``; 32 characters).
    :param version: Version of the application (PEP 440), compared with the ranges that
        plugins declare.
    :param command: What a person types to manage plugins, named in messages; such as
        ``"li plugin"``. Default: ``lionplug --host NAME``, or ``lionplug`` for that host.
    :param user_dir: Absolute path of the user scope instead of ``~/.NAME``.
    :raises UsageError: if the name can't be a host's.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str,
        command: str | None = None,
        user_dir: str | None = None,
    ) -> None:
        self.name = name
        self.version = version
        self.command = command or ("lionplug" if name == "lionplug" else f"lionplug --host {name}")
        self.user_dir = user_dir
        self._lock = RLock()
        self._built: Core | None = None
        problem = _name_problem(name)
        if problem:
            raise _usage_error(problem)

    @property
    def _core(self) -> Core:
        core = self._built
        if core is None:
            with self._lock, safe_imports():
                from lionplug.host.core import Core

                if self._built is None:
                    self._built = Core(self)
                core = self._built
        return core

    # -- what there is ---------------------------------------------------------------

    @property
    def plugins(self) -> Inventory:
        """Every copy of every plugin, with state and reason."""
        return self._core.inventory

    @property
    def user_scope(self) -> UserScope:
        """Where approvals and the user's own plugins are kept."""
        return self._core.user_scope

    @property
    def project_scopes(self) -> tuple[ProjectScope, ...]:
        """Project directories found from the working directory upwards, nearest first."""
        return self._core.project_scopes

    @property
    def activations(self) -> tuple[Activation, ...]:
        """What was imported when: module, plugin, hook, milliseconds."""
        return self._core.activations.rows

    # -- calling ---------------------------------------------------------------------

    @property
    def hook(self) -> pluggy.HookRelay:
        """The hook relay, as in pluggy; the first use discovers."""
        core = self._built
        relay = core.relay if core is not None else None
        return relay if relay is not None else self._core.hook

    @property
    def tools(self) -> Tools:
        """The tools of all active plugins and of the host itself."""
        return self._core.tools

    @property
    def agents(self) -> Collection:
        """Profiles of agents, by ``plugin/name`` or an unambiguous name."""
        return self._core.collection("agents")

    @property
    def playbooks(self) -> Collection:
        """Playbooks, by ``plugin/name`` or an unambiguous name."""
        return self._core.collection("playbooks")

    @property
    def packs(self) -> Collection:
        """Packs of data, by ``plugin/name`` or an unambiguous name."""
        return self._core.collection("packs")

    def surface(self, name: str) -> Collection:
        """Return the view of any surface, also of one that :meth:`add_surface` added.

        :raises UsageError: if there is no such surface.
        """
        return self._core.collection(name)

    @property
    def sections(self) -> Mapping[str, Section]:
        """What may stand below ``capabilities`` in a manifest for this host, by key."""
        return self._core.sections

    def add_surface(self, surface: Surface) -> None:
        """Add a kind of capability of the application's own.

        Plugins declare it in ``plugin.yaml`` under its name; it is listed, disclosed,
        pinned and granted like the built-in ones.

        :param surface: Its description: hooks, the section of the manifest, and how a
            declared capability becomes a value.
        :raises UsageError: if there is a surface of that name already.
        """
        self._core.add_surface(surface)

    def add_hookspecs(self, module_or_class: object) -> None:
        """Add hook specifications of the application, as in pluggy."""
        self._core.add_hookspecs(module_or_class)

    def register(self, plugin: object, name: str | None = None) -> str | None:
        """Register an object of the application that implements hooks; return its name."""
        return self._core.register(plugin, name)

    def unregister(self, plugin: object) -> None:
        """Take back what :meth:`register` did."""
        self._core.unregister(plugin)

    # -- approving -------------------------------------------------------------------

    def review(self, plugin: Plugin) -> AbstractContextManager[Review]:
        """Copy a plugin into private staging and disclose the copy (security rule S3)."""
        return self._core.approvals.review(plugin)

    def trust(
        self,
        name: str,
        *,
        approve: Callable[[Disclosure], bool] | None = None,
        expect: str | None = None,
    ) -> Plugin:
        """Approve exactly the bytes that are shown.

        :param name: What :meth:`Inventory.find` takes.
        :param approve: Gets the disclosure and answers; only ``True`` approves.
        :param expect: Full tree digest (``lp1:sha256:…``) to approve without a question.
        :returns: The plugin in its new state.
        :raises TrustError: if it can't be approved, the digest is another, or the answer is no.
        """
        return self._core.approvals.trust(name, approve=approve, expect=expect)

    def revoke(self, name: str) -> Revocation:
        """Take an approval back: no new call enters the plugin, in any process."""
        return self._core.approvals.revoke(name)

    def enable(self, name: str) -> Plugin:
        """Let a disabled plugin take part again."""
        return self._core.approvals.set_disabled(name, False)

    def disable(self, name: str) -> Plugin:
        """Keep a plugin out of all calls without touching its files or its approval."""
        return self._core.approvals.set_disabled(name, True)

    def diff(self, name: str) -> TreeDiff:
        """Compare the live tree of a plugin with the approved one."""
        return self._core.approvals.diff(name)

    def show(self, name: str, file: str, *, approved: bool = False) -> bytes:
        """Return one file of a staged copy of the live tree, or of the approved tree."""
        return self._core.approvals.show(name, file, approved=approved)

    def digest(self, path: str) -> str:
        """Return the tree digest of a bundle directory, of a private copy of it."""
        return self._core.approvals.digest(path)

    def prune(self) -> list[Record]:
        """Drop and return the records of bundles that are really gone."""
        return self._core.approvals.prune()

    # -- diagnosing ------------------------------------------------------------------

    def diagnose(self) -> Diagnosis:
        """Return what a person should know: scopes, settings, approvals, plugins, permissions.

        Nothing of a plugin is imported, and nothing is changed. Call ``plugins.refresh()``
        first to see what changed on disk.
        """
        with safe_imports():
            from lionplug.host.diagnosis import diagnose
        return diagnose(self)

    # -- ending ----------------------------------------------------------------------

    def close(self) -> None:
        """Withdraw every grant and forget the imported modules of plugins."""
        with self._lock:
            if self._built is not None:
                self._built.close()

    def __repr__(self) -> str:
        return f"<lionplug.Host {self.name} {self.version}>"


def _name_problem(name: object) -> str | None:
    """Say why a text can't be a host's name; without ``re``, which is not loaded yet."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    if (
        not isinstance(name, str)
        or not 0 < len(name) <= 32
        or name.strip(letters + "-")
        or name[0] == "-"
    ):
        return (
            f"{name!r} can't be the name of a host: use 1 to 32 of a-z, 0-9 and '-', "
            "beginning with a letter or digit."
        )
    if name in (
        "name", "version", "description", "hosts", "requires",
        "exclude", "capabilities",
    ):  # fmt: skip
        return f"{name!r} can't be the name of a host: it is a key of every plugin.yaml."
    return None


def _usage_error(problem: str) -> LionplugError:
    with safe_imports():
        from lionplug.errors import UsageError

        return UsageError(problem)
