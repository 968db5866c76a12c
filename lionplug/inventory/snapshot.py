"""One immutable generation of the inventory, with its indexes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from attrs import frozen

from lionplug.errors import CapabilityNotFoundError
from lionplug.inventory import states
from lionplug.inventory.plugin import Plugin
from lionplug.manifest.capability import Capability, label


class Changes(NamedTuple):
    """What a new generation brought; what is removed is as it was before.

    A copy counts as changed when its state, its reason or its manifest is another.
    """

    added: tuple[Plugin, ...]
    removed: tuple[Plugin, ...]
    changed: tuple[Plugin, ...]


class Offer(NamedTuple):
    """A capability and the plugin that declares it."""

    plugin: Plugin
    capability: Capability


@frozen(kw_only=True)
class Snapshot:
    """Every copy of every plugin at one moment.

    :param generation: Grows with every snapshot of a host.
    :param plugins: In canonical order.
    :param notices: What a person should know about scopes and files, one line each.
    :param offers: ``(surface, name)`` to the active plugin that answers for it; names on
        which plugins clash, or that several plugins have, are left out.
    :param qualified: ``(surface, "plugin/name")`` to the active plugin of that name.
    :param declared: ``(surface, name)`` to everyone who declares it, in any state.
    """

    generation: int
    plugins: tuple[Plugin, ...]
    notices: tuple[str, ...]
    offers: Mapping[tuple[str, str], Offer]
    qualified: Mapping[tuple[str, str], Offer]
    declared: Mapping[tuple[str, str], tuple[Plugin, ...]]

    @classmethod
    def of(cls, generation: int, plugins: Sequence[Plugin], notices: Sequence[str]) -> Snapshot:
        """Build the indexes over judged plugins."""
        offers: dict[tuple[str, str], Offer] = {}
        qualified: dict[tuple[str, str], Offer] = {}
        shared: set[tuple[str, str]] = set()
        declared: dict[tuple[str, str], list[Plugin]] = defaultdict(list)
        for plugin in plugins:
            refused = dict(plugin.refused_names)
            if plugin.manifest is None and plugin.record is not None:
                # Its manifest can't be read any more; what was approved tells what is missed.
                for shown in plugin.record.capabilities:
                    declared[str(shown["surface"]), str(shown["name"])].append(plugin)
            for capability in plugin.capabilities:
                key = (capability.surface, capability.name)
                declared[key].append(plugin)
                if plugin.is_active and ":".join(key) not in refused:
                    offer = Offer(plugin, capability)
                    if key in offers:
                        shared.add(key)
                    offers[key] = offer
                    qualified[key[0], f"{plugin.name}/{key[1]}"] = offer
        return cls(
            generation=generation,
            plugins=tuple(plugins),
            notices=tuple(notices),
            offers={key: offer for key, offer in offers.items() if key not in shared},
            qualified=qualified,
            declared={key: tuple(found) for key, found in declared.items()},
        )

    def offer(self, surface: str, token: str) -> Offer | None:
        """Return who answers for a bare name that is unambiguous, or for ``plugin/name``."""
        return self.offers.get((surface, token)) or self.qualified.get((surface, token))

    def since(self, old: Snapshot) -> Changes:
        """Compare with an earlier snapshot."""
        before = {plugin.location: plugin for plugin in old.plugins}
        after = {plugin.location: plugin for plugin in self.plugins}
        return Changes(
            added=tuple(one for place, one in after.items() if place not in before),
            removed=tuple(one for place, one in before.items() if place not in after),
            changed=tuple(
                one for place, one in after.items() if place in before and one != before[place]
            ),
        )

    def missing(self, surface: str, name: str) -> CapabilityNotFoundError:
        """Explain why nobody answers for a name: never a bare ``KeyError``.

        The text may end in a model's context, so it holds no words of a plugin but its
        name: a reason or a path can be prose of a repository that nobody approved
        (security rule S2, S23). The command that would help is an attribute of the error.
        """
        what = label(surface, name)
        owner, slash, bare = name.rpartition("/")
        declarers = self.declared.get((surface, bare), ())
        if slash:
            declarers = tuple(plugin for plugin in declarers if plugin.name == owner)
        for plugin in declarers:
            why = dict(plugin.refused_names).get(f"{surface}:{bare}")
            if why:
                return CapabilityNotFoundError(
                    f"{what} is refused: {why}.",
                    surface=surface,
                    name=name,
                    plugin=plugin.name,
                    state=plugin.state,
                )
        sharers = sorted({plugin.name for plugin in declarers if plugin.is_active})
        if len(sharers) > 1:
            choices = ", ".join(f"{plugin}/{bare}" for plugin in sharers)
            return CapabilityNotFoundError(
                f"{what} is declared by several plugins; name one of: {choices}.",
                surface=surface,
                name=name,
            )
        if declarers:
            plugin = min(declarers, key=_closest_to_active)
            return CapabilityNotFoundError(
                f"{what} is declared by {plugin.name} ({plugin.scope}:{plugin.name}), which is "
                f"{plugin.state}: {_WHY[plugin.state]}. "
                "Ask the person who runs this program to look at it.",
                surface=surface,
                name=name,
                plugin=plugin.name,
                state=plugin.state,
                command=plugin.next_command,
            )
        known = sorted(offered for kind, offered in self.offers if kind == surface)
        listing = ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
        return CapabilityNotFoundError(
            f"{what} is declared by no plugin. "
            + (f"Declared by active plugins: {listing}." if known else "No plugin offers any."),
            surface=surface,
            name=name,
        )


_WHY = {
    states.INVALID: "its manifest can't be used",
    states.INCOMPATIBLE: "it does not fit this program or what is installed here",
    states.BLOCKED: "a policy keeps it out",
    states.DISABLED: "somebody switched it off",
    states.UNTRUSTED: "not approved yet; review what it brings, then approve it",
    states.CHANGED: "its files are not the approved ones; review the difference",
    states.SHADOWED: "a nearer copy is used, which does not declare it",
    states.COLLISION: "another copy in the same place has its name",
    states.ACTIVE: "it does not answer",
}


def _closest_to_active(plugin: Plugin) -> int:
    return -states.STATES.index(plugin.state)
