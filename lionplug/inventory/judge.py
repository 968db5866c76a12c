"""Deciding the state of every copy: a pure function of what was found and what is approved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from attrs import evolve, frozen

from lionplug.discovery.found import FoundBundle
from lionplug.inventory import states
from lionplug.inventory.plugin import Plugin
from lionplug.manifest.capability import label
from lionplug.manifest.compatibility import host_reason, package_reasons, requirement_reason
from lionplug.manifest.model import Manifest
from lionplug.manifest.names import is_plugin_name
from lionplug.text import exact, quote
from lionplug.trust.record import Record
from lionplug.trust.state import TrustState


@frozen(kw_only=True)
class Circumstances:
    """What the states depend on besides the bundles themselves.

    :param host: Name of the host.
    :param host_version: Its version (PEP 440).
    :param command: Its command, for the commands that are suggested.
    :param trust: The approvals and the enabled flags.
    :param distrust: Why nothing at all is trusted, as a sentence; ``None`` if all is well.
    :param disabled_by: For a bundle that a settings file disables, where it says so and what to do.
    :param missing_hooks: Hooks of a manifest that the host does not have; empty until known.
    :param changed: Location to reason, for live trees that are no longer what was approved.
    :param lacks_tree: Tells whether the approved tree of a record stayed on another machine.
    :param capabilities: The capability set of a manifest in the form that records pin.
    :param exclusive: Surfaces on which a name can belong to one plugin only.
    :param reserved: ``(surface, name)`` pairs that the host keeps for itself.
    """

    host: str
    host_version: str
    command: str
    trust: TrustState
    distrust: str | None
    disabled_by: Callable[[FoundBundle], str | None]
    missing_hooks: Callable[[Manifest], Sequence[str]]
    changed: Mapping[str, str]
    lacks_tree: Callable[[Record], bool]
    capabilities: Callable[[Manifest], tuple[Mapping[str, object], ...]]
    exclusive: Collection[str]
    reserved: Collection[tuple[str, str]]


def judge(bundles: Sequence[FoundBundle], facts: Circumstances) -> tuple[Plugin, ...]:
    """Give every copy its state, in the order in which it was given (canonical).

    :returns: One plugin for each bundle.
    """
    addresses = _addresses(bundles)
    names = _names_to_type(bundles, addresses)
    verdicts = _own_verdicts(bundles, facts)
    plugins = [
        _plugin(found, verdicts.get(found.location), addresses[found.location], names, facts)
        for found in bundles
    ]
    return _refuse_clashes(_settle_copies(plugins), facts)


def _addresses(bundles: Iterable[FoundBundle]) -> dict[str, str]:
    """Map each location to the shortest name that singles it out among all scopes."""
    nearest: dict[tuple[str, str], list[FoundBundle]] = {}
    for found in bundles:  # canonical order: later scopes are nearer
        key = (found.scope.kind, found.name)
        held = nearest.get(key)
        if held is None or held[0].scope.rank < found.scope.rank:
            nearest[key] = [found]
        elif held[0].scope.rank == found.scope.rank:
            held.append(found)
    addresses = {found.location: found.location for found in bundles}
    for (kind, name), copies in nearest.items():
        if len(copies) == 1 and copies[0].manifest is not None:
            addresses[copies[0].location] = f"{kind}:{name}"
    return addresses


def _names_to_type(bundles: Iterable[FoundBundle], addresses: Mapping[str, str]) -> dict[str, str]:
    """Map each location to what a person types: the bare name where that is enough."""
    copies: dict[str, list[str]] = defaultdict(list)
    for found in bundles:
        copies[found.name].append(found.location)
    return {
        location: name if len(locations) == 1 and is_plugin_name(name) else addresses[location]
        for name, locations in copies.items()
        for location in locations
    }


def _own_verdicts(
    bundles: Sequence[FoundBundle], facts: Circumstances
) -> dict[str, tuple[str, str]]:
    """Return state and reason of copies that are invalid, incompatible or disabled."""
    verdicts: dict[str, tuple[str, str]] = {}
    for found in bundles:
        verdict = _own_verdict(found, facts)
        if verdict is not None:
            verdicts[found.location] = verdict
    # Requirements are met by copies whose own are met. Starting from all and removing
    # until nothing changes leaves a cycle among present plugins met.
    while True:
        unmet = _unmet_requirements(bundles, verdicts)
        if not unmet:
            return verdicts
        verdicts.update(unmet)


def _own_verdict(found: FoundBundle, facts: Circumstances) -> tuple[str, str] | None:
    manifest = found.manifest
    if manifest is None:
        return states.INVALID, str(found.problems[0]) if found.problems else "can't be read"
    reasons = [
        host_reason(manifest, facts.host, facts.host_version),
        *package_reasons(manifest),
        *(
            f"implements the hook {exact(hook)}, which {facts.host} {facts.host_version} does "
            "not have; mark it optional or use a plugin version made for this host"
            for hook in facts.missing_hooks(manifest)
        ),
    ]
    reason = "; ".join(text for text in reasons if text)
    if reason:
        return states.INCOMPATIBLE, reason
    return _disabled(found, facts)


def _disabled(found: FoundBundle, facts: Circumstances) -> tuple[str, str] | None:
    reason = facts.disabled_by(found)
    if reason:
        return states.DISABLED, reason
    if (found.name, found.location) in facts.trust.disabled:
        return states.DISABLED, "disabled by you"
    return None


def _unmet_requirements(
    bundles: Sequence[FoundBundle], verdicts: Mapping[str, tuple[str, str]]
) -> dict[str, tuple[str, str]]:
    versions: dict[str, list[str]] = defaultdict(list)
    for found in bundles:
        if found.manifest is not None and found.location not in verdicts:
            versions[found.name].append(found.manifest.version)
    unmet = {}
    for found in bundles:
        if found.manifest is None:
            continue
        state = verdicts.get(found.location, ("", ""))[0]
        if state in (states.INVALID, states.INCOMPATIBLE):
            continue
        reasons = [
            requirement_reason(requirement, versions.get(requirement.name, ()))
            for requirement in found.manifest.requires
        ]
        reason = "; ".join(text for text in reasons if text)
        if reason:
            unmet[found.location] = (states.INCOMPATIBLE, reason)
    return unmet


def _plugin(
    found: FoundBundle,
    verdict: tuple[str, str] | None,
    address: str,
    names: Mapping[str, str],
    facts: Circumstances,
) -> Plugin:
    record = facts.trust.records.get(found.location)
    state, reason = verdict or _trust_verdict(found, record, facts)
    return Plugin(
        found=found,
        state=state,
        reason=reason,
        next_command=_next_command(state, reason, names[found.location], facts.command),
        address=address,
        record=record,
    )


def _trust_verdict(
    found: FoundBundle, record: Record | None, facts: Circumstances
) -> tuple[str, str]:
    """Compare a valid, compatible, enabled copy with its record (S12)."""
    manifest = found.manifest
    if manifest is None:
        raise AssertionError("only valid copies are compared with a record")
    if facts.distrust:
        return states.UNTRUSTED, facts.distrust
    unreadable = facts.trust.unreadable.get(found.location)
    if unreadable:
        return states.CHANGED, f"its approval can't be read ({unreadable}); review it again"
    if record is None:
        return states.UNTRUSTED, "not approved yet; review what it brings, then approve it"
    if facts.lacks_tree(record):
        return states.UNTRUSTED, (
            "approved on another machine or account, and the approved copy did not come along; "
            "review it again"
        )
    if record.name != manifest.name or record.manifest_sha256 != found.manifest_sha256:
        return states.CHANGED, "its manifest is not the approved one; review the difference"
    if found.location in facts.changed:
        return states.CHANGED, facts.changed[found.location]
    if tuple(record.capabilities) != facts.capabilities(manifest):
        return states.CHANGED, (
            "read differently than when it was approved: its capabilities are not those that "
            "were shown; review it again"
        )
    return states.ACTIVE, ""


def _next_command(state: str, reason: str, name: str, command: str) -> str | None:
    verb = {
        states.UNTRUSTED: "trust",
        states.CHANGED: "trust",
        states.DISABLED: "enable",
        states.INVALID: "info",
    }.get(state)
    if verb is None or (state == states.DISABLED and reason != "disabled by you"):
        return None
    return f"{command} {verb} {quote(name)}"


def _settle_copies(plugins: Sequence[Plugin]) -> list[Plugin]:
    """Let the nearest eligible copy of each name win; equals in one scope collide.

    Only copies that would otherwise be active take part, so an unapproved copy of a
    project never displaces an approved one of the user.
    """
    eligible: dict[str, list[Plugin]] = defaultdict(list)
    for plugin in plugins:
        if plugin.is_active:
            eligible[plugin.name].append(plugin)
    settled = {}
    for copies in eligible.values():
        nearest = max(copy.found.scope.rank for copy in copies)
        winners = [copy for copy in copies if copy.found.scope.rank == nearest]
        for copy in copies:
            if copy not in winners:
                settled[copy.location] = evolve(
                    copy,
                    state=states.SHADOWED,
                    reason=f"the nearer copy at {exact(winners[0].location)} is used",
                )
            elif len(winners) > 1:
                others = ", ".join(exact(other.location) for other in winners if other is not copy)
                settled[copy.location] = evolve(
                    copy,
                    state=states.COLLISION,
                    reason=f"{others} has the same name in the same scope; disable or remove one",
                    next_command=None,
                )
    return [settled.get(plugin.location, plugin) for plugin in plugins]


def _refuse_clashes(plugins: Sequence[Plugin], facts: Circumstances) -> tuple[Plugin, ...]:
    """Refuse names that two active plugins declare, or that the host keeps."""
    owners: dict[tuple[str, str], list[Plugin]] = defaultdict(list)
    for plugin in plugins:
        if plugin.is_active:
            for capability in plugin.capabilities:
                if capability.surface in facts.exclusive:
                    owners[capability.surface, capability.name].append(plugin)
    refused: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for (surface, name), sharers in owners.items():
        if (surface, name) in facts.reserved:
            why = f"{facts.host} itself has {label(surface, name)}, and its own always wins"
        elif len(sharers) > 1:
            both = " and ".join(f"{one.name} ({one.address})" for one in sharers)
            why = f"{both} both declare {label(surface, name)}; disable one of them"
        else:
            continue
        for plugin in sharers:
            refused[plugin.location].append((f"{surface}:{name}", why))
    return tuple(
        evolve(plugin, refused_names=tuple(refused[plugin.location]))
        if plugin.location in refused
        else plugin
        for plugin in plugins
    )
