"""``host.plugins``: the inventory as a host's code sees it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from lionplug.errors import AmbiguousNameError, PluginNotFoundError
from lionplug.inventory import states
from lionplug.inventory.plugin import Plugin
from lionplug.inventory.snapshot import Changes, Snapshot
from lionplug.text import exact

_KINDS = ("installed", "user", "project")


class Inventory:
    """Every copy of every plugin; always the current generation.

    :param current: Returns the current snapshot, discovering first where that is due.
    :param refresh: Looks again at everything and returns the changes.
    :param refusals: Returns the calls that were refused since the host started.
    """

    def __init__(
        self,
        current: Callable[[], Snapshot],
        refresh: Callable[[], Changes],
        refusals: Callable[[], Sequence[str]],
    ) -> None:
        self._current = current
        self._refresh = refresh
        self._refusals = refusals

    @property
    def all(self) -> tuple[Plugin, ...]:
        """Every copy, in canonical order."""
        return self._current().plugins

    @property
    def generation(self) -> int:
        """Number of the current snapshot; it only grows."""
        return self._current().generation

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know about scopes and files, one line each."""
        return self._current().notices

    @property
    def refusals(self) -> tuple[str, ...]:
        """Calls that a plugin was kept out of, one line for each plugin and generation."""
        return tuple(self._refusals())

    @property
    def needs_attention(self) -> tuple[Plugin, ...]:
        """Copies that wait for a person, for a one-line banner."""
        return tuple(
            plugin for plugin in self.all if plugin.state in states.NEED_ATTENTION or plugin.failed
        )

    def refresh(self) -> Changes:
        """Look again at scopes, settings, approvals and the live trees of approved plugins.

        :returns: What was added, removed and changed since the last generation.
        """
        return self._refresh()

    def __iter__(self) -> Iterator[Plugin]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)

    def __contains__(self, name: object) -> bool:
        """Tell whether a copy has a name, in whatever state."""
        return any(plugin.name == name for plugin in self.all)

    def __getitem__(self, name: str) -> Plugin:
        """Return the active copy of a name, or if none is active the nearest.

        :raises PluginNotFoundError: if no copy has the name.
        """
        copies = [plugin for plugin in self.all if plugin.name == name]
        if not copies:
            raise self._unknown(name)
        active = [plugin for plugin in copies if plugin.is_active]
        return (active or copies)[-1]

    def find(self, text: str) -> Plugin:
        """Return the one copy that a person means.

        :param text: A name that only one copy has; ``user:NAME``, ``project:NAME`` (the
            nearest) or ``installed:NAME``; or the path of a copy.
        :raises PluginNotFoundError: if no copy fits.
        :raises AmbiguousNameError: if several do, with the names that single them out
            (security rule S22).
        """
        everyone = self.all
        kind, colon, name = text.partition(":")
        if colon and kind in _KINDS:
            fitting = [one for one in everyone if one.scope == kind and one.name == name]
            if fitting:
                nearest = max(one.found.scope.rank for one in fitting)
                fitting = [one for one in fitting if one.found.scope.rank == nearest]
        elif os.sep in text or text in (".", ".."):
            real = _resolved(text)
            fitting = [one for one in everyone if one.location == real]
        else:
            fitting = [one for one in everyone if one.name == text]
        if len(fitting) == 1:
            return fitting[0]
        if not fitting:
            raise self._unknown(text)
        choices = [one.address for one in fitting]
        raise AmbiguousNameError(
            f"{exact(text)} fits {len(fitting)} copies; name one of: "
            + ", ".join(map(exact, choices)),
            choices=choices,
            plugin=text,
        )

    def _unknown(self, text: str) -> PluginNotFoundError:
        names = sorted({plugin.name for plugin in self.all})
        listing = ", ".join(map(exact, names[:20])) + (", ..." if len(names) > 20 else "")
        return PluginNotFoundError(
            f"no plugin is called {exact(text)}. "
            + (f"There are: {listing}." if names else "There is no plugin in any scope."),
            plugin=text,
        )


def _resolved(path: str) -> str | None:
    try:
        return os.path.realpath(os.path.expanduser(path))
    except (OSError, ValueError):  # the working directory was deleted; no path can be that text
        return None
