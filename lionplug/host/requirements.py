"""What an incompatible plugin lacks, one reason at a time, and the command that mends it.

Commands are built from parts that match strict patterns and are quoted for a shell. A
direct reference and a marker can hold anything, so they are text only (security rule S37).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from typing import TYPE_CHECKING

from attrs import evolve, frozen
from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as PackageRequirement

from lionplug.inventory import states
from lionplug.manifest.compatibility import host_reason, package_reasons, requirement_reason
from lionplug.manifest.specifiers import Requirement
from lionplug.text import exact, quote

if TYPE_CHECKING:
    from lionplug.host.core import Core
    from lionplug.inventory.plugin import Plugin
    from lionplug.manifest.model import Manifest

_DISTRIBUTION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_RANGE = re.compile(r"(?:~=|==|!=|<=|>=|<|>)[A-Za-z0-9][A-Za-z0-9.!+*_-]*")

#: States of a copy that can meet a requirement.
_PRESENT = frozenset(states.STATES) - {states.INVALID, states.INCOMPATIBLE, states.DISABLED}


@frozen(kw_only=True)
class Unmet:
    """One thing that a plugin needs and does not have.

    :param reason: What is missing and what to do.
    :param command: The command that mends it, where one does.
    """

    reason: str
    command: str | None = None


def unmet_requirements(plugin: Plugin, everyone: Sequence[Plugin], core: Core) -> Iterator[Unmet]:
    """Yield what keeps an incompatible plugin from this host.

    :param plugin: A copy in the state ``incompatible``.
    :param everyone: All copies.
    :param core: The parts of the host.
    """
    manifest = plugin.manifest
    if manifest is None:
        return
    reason = host_reason(manifest, core.name, core.version)
    if reason:
        yield Unmet(reason=reason)
    for text in manifest.python_packages:
        for reason in package_reasons(_needing_only(manifest, text)):
            yield Unmet(reason=reason, command=install_command(text))
    for hook in core.builder.missing_hooks(manifest):
        yield Unmet(
            reason=f"implements the hook {exact(hook)}, which {core.name} {core.version} does not "
            "have; mark it optional or use a plugin version made for this host"
        )
    for requirement in manifest.requires:
        copies = [one for one in everyone if one.name == requirement.name]
        versions = [one.version for one in copies if one.state in _PRESENT]
        reason = requirement_reason(requirement, versions)
        if reason:
            yield Unmet(reason=reason, command=_enabling(requirement, copies))


def _needing_only(manifest: Manifest, package: str) -> Manifest:
    return evolve(manifest, python_packages=(package,))


def _enabling(requirement: Requirement, copies: Sequence[Plugin]) -> str | None:
    """Return the command that switches a copy on which would meet a requirement."""
    for copy in copies:
        if copy.state == states.DISABLED and not requirement_reason(requirement, [copy.version]):
            return copy.next_command
    return None


def install_command(text: str) -> str | None:
    """Return the command that installs what a requirement asks for.

    :param text: A requirement of a manifest (PEP 508).
    :returns: ``None`` for one with an address and for one that is not made of a plain name
        and plain ranges. A marker is left out: it holds here.
    """
    wanted = _plain_requirement(text)
    if wanted is None:
        return None
    try:
        distribution("pip")
    except PackageNotFoundError:
        return f"uv pip install --python {quote(sys.executable)} {quote(wanted)}"
    # Without the option, '-m pip' would run a pip.py of the directory where the person is.
    isolated = "-P" if sys.version_info >= (3, 11) else "-I"
    return f"{quote(sys.executable)} {isolated} -m pip install {quote(wanted)}"


def _plain_requirement(text: str) -> str | None:
    try:
        requirement = PackageRequirement(text)
    except InvalidRequirement:
        return None
    names = [requirement.name, *sorted(requirement.extras)]
    ranges = sorted(map(str, requirement.specifier))
    if (
        requirement.url is not None
        or not all(map(_DISTRIBUTION.fullmatch, names))
        or not all(map(_RANGE.fullmatch, ranges))
    ):
        return None
    extras = f"[{','.join(names[1:])}]" if names[1:] else ""
    return f"{requirement.name}{extras}{','.join(ranges)}"
