"""Plugins and their capabilities as lines of text; all foreign text is made fit here."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lionplug.sources import SourceSignature
from lionplug.text import argv_json, exact, prose
from lionplug.trust.layout import size_text

if TYPE_CHECKING:
    from lionplug.host import Host
    from lionplug.inventory.plugin import Plugin
    from lionplug.manifest.capability import Capability
    from lionplug.trust.file_table import FileRow

#: Characters of a description in a list (security rule S24).
SUMMARY = 200

#: Begins the notice that names the user scope.
SCOPE = "user scope: "

#: Begins the notice that says why nothing at all is trusted.
DISTRUST = "nothing is trusted: "

#: Files that are listed in text.
MOST_FILES = 40

#: Columns for a path; what stands beside a longer one is not aligned.
LONGEST_PATH = 48

#: Headings of the built-in surfaces; another surface is named as it is.
TITLES = {
    "tools": "Tools",
    "hookimpls": "Hooks",
    "hooks_external": "Hook commands",
    "agents": "Agents",
    "playbooks": "Playbooks",
    "providers": "Providers",
    "packs": "Packs",
    "skills": "Skills",
    "prompts": "Prompts",
    "mcp_servers": "MCP servers",
}


def state_of(plugin: Plugin) -> str:
    """Return the state as a person reads it, such as ``active (failed)``."""
    return f"{plugin.state} (failed)" if plugin.failed else plugin.state


def scope_line(host: Host) -> str | None:
    """Return the line that names a user scope that is not where it usually is (S6).

    With it everything else has to be read differently, so it stands above all.
    """
    lines = [line for line in host.plugins.notices if line.startswith(SCOPE)]
    return lines[0] if lines else None


def other_notices(host: Host) -> list[str]:
    """Return what else a person should know, each cause once.

    What makes nothing trusted is a reason not to read the settings either, and would be
    told a second time: ``nothing is trusted: CAUSE``, ``settings.yaml: CAUSE``.
    """
    lines = list(dict.fromkeys(host.plugins.notices))
    causes = {line.removeprefix(DISTRUST) for line in lines if line.startswith(DISTRUST)}
    return [
        line
        for line in lines
        if not line.startswith(SCOPE)
        and (line.startswith(DISTRUST) or not any(line.endswith(f": {one}") for one in causes))
    ]


def typed_name(plugin: Plugin, everyone: Iterable[Plugin]) -> str:
    """Return what a person types for a copy: its name where that is enough."""
    copies = [one for one in everyone if one.name == plugin.name]
    return plugin.name if len(copies) == 1 else plugin.address


def refusal_lines(plugin: Plugin, everyone: Iterable[Plugin]) -> list[str]:
    """Say shortly which names of a plugin are refused, and for whom.

    :param plugin: One copy.
    :param everyone: All copies.
    """
    lines = []
    for key, why in plugin.refused_names:
        surface, _, name = key.partition(":")
        rivals = [
            one.address if one.name == plugin.name else one.name
            for one in everyone
            if one.location != plugin.location
            # A name that the host keeps is refused for that, whoever else declares it.
            and f"{one.name} ({one.address})" in why
        ]
        short = f"also declared by {', '.join(map(exact, rivals))}" if rivals else why
        lines.append(f"refused: {exact(surface.removesuffix('s'))} {exact(name)} ({short})")
    return lines


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Return foreign-text-free lines of at most ``width`` columns, breaking long words."""
    lines: list[str] = []
    for line in text.split("\n"):
        lines += textwrap.wrap(
            line,
            width,
            initial_indent=indent,
            subsequent_indent=indent,
            break_on_hyphens=False,
        ) or [""]
    return lines


def capability_lines(
    capabilities: Iterable[Capability],
    signatures: Mapping[str, SourceSignature],
    width: int,
) -> list[str]:
    """Describe capabilities, grouped by surface in the order of the manifest.

    :param capabilities: What a manifest declares.
    :param signatures: Signatures by target, as read from the source without importing it.
    :param width: Columns for free text.
    """
    groups: dict[str, list[Capability]] = {}
    for capability in capabilities:
        groups.setdefault(capability.surface, []).append(capability)
    lines: list[str] = []
    for surface, members in groups.items():
        lines += ["", f"{TITLES.get(surface, exact(surface))} ({len(members)})"]
        for capability in members:
            lines += _capability(capability, signatures.get(capability.target), width)
    return lines


def file_lines(files: Sequence[FileRow], more: str) -> list[str]:
    """List the files of a tree, at most :data:`MOST_FILES`.

    :param files: Every entry; directories are not listed.
    :param more: The command that lists them all.
    """
    listed = [row for row in files if row.kind != "directory"]
    shown = listed[:MOST_FILES]
    width = min(max((len(exact(row.path)) for row in shown), default=0), LONGEST_PATH)
    lines = ["", f"Files ({len(listed)})"] if listed else []
    for row in shown:
        what = f"-> {exact(row.target)}" if row.kind == "link" else size_text(row.size)
        lines.append(f"  {exact(row.path):<{width}}  {what}{'  run bit' if row.runs else ''}")
    if len(listed) > len(shown):
        lines.append(f"  ... and {len(listed) - len(shown)} more; '{more}' lists them all")
    return lines


def _capability(capability: Capability, signature: SourceSignature | None, width: int) -> list[str]:
    lines = [f"  {exact(capability.name)}"]
    if capability.surface == "tools":
        lines[0] += exact(_arguments(capability.detail.get("parameters"), signature))
        if signature and signature.is_async:
            lines[0] += "  (async)"
    description = capability.detail.get("description") or (signature.summary if signature else "")
    if description:
        lines += wrapped(prose(str(description)), width, "      ")
    if capability.target:
        lines.append(f"      code     {exact(capability.target)}")
    if capability.argv:
        first, *rest = argv_json(capability.argv)
        lines += [f"      command  {first}", *(f"      {line}" for line in rest)]
    if capability.url:
        lines.append(f"      address  {exact(capability.url)}")
    named = capability.target.partition(":")[0]
    lines += [f"      file     {exact(file)}" for file in capability.files if file != named]
    return lines


def _arguments(schema: object, signature: SourceSignature | None) -> str:
    """Return the arguments of a tool: from its declared schema, else from its signature."""
    if isinstance(schema, Mapping):
        return arguments_text(schema)
    if signature is not None:
        return signature.text("").removeprefix("async ").removeprefix("def ")
    return "(...)"


def arguments_text(schema: Mapping[str, Any]) -> str:
    """Return the arguments that a JSON Schema asks for, such as ``(query: string, limit?)``."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return "(...)"
    required = schema.get("required")
    needed = set(required) if isinstance(required, (list, tuple)) else set()
    parts = []
    for name, value in properties.items():
        kind = value.get("type") if isinstance(value, Mapping) else None
        if isinstance(kind, (list, tuple)):
            kind = " | ".join(map(str, kind))
        parts.append(f"{name}{'' if name in needed else '?'}" + (f": {kind}" if kind else ""))
    return f"({', '.join(parts)})"
