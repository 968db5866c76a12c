"""``list`` and ``info``: what there is, and why it is in the state that it is in."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from attrs import field, frozen

from lionplug.cli.describe import (
    SUMMARY,
    capability_lines,
    file_lines,
    other_notices,
    refusal_lines,
    scope_line,
    state_of,
    typed_name,
    wrapped,
)
from lionplug.cli.group import Command
from lionplug.cli.options import json_option, plugin_argument
from lionplug.cli.progress import progress
from lionplug.cli.session import Session, pass_session
from lionplug.errors import LionplugError
from lionplug.imports import safe_imports
from lionplug.inventory import states
from lionplug.sources import SourceSignature
from lionplug.text import exact, prose, quote

if TYPE_CHECKING:
    from lionplug.host import Host
    from lionplug.inventory.plugin import Plugin
    from lionplug.trust.file_table import FileRow
    from lionplug.trust.record import Record

HOOKS_UNKNOWN = (
    "The hooks are not checked by this command: only the application itself knows which "
    "hooks it has."
)

STYLES = {"active": "green", "invalid": "red", "collision": "red", "disabled": "dim"}


@click.command(
    "list",
    cls=Command,
    short_help="List every copy of every plugin with its state.",
    help="""List every copy of every plugin with its state.

    Nothing of a plugin is imported. Approvals of plugins whose directory is gone are
    dropped, and named.
    """,
    examples=[
        ("list", "What is there, and what needs you."),
        ("list --json", "The same as a list of objects: name, version, state, reason, ..."),
    ],
)
@json_option
@pass_session
def list_command(session: Session) -> None:
    """List plugins."""
    host, output = session.host, session.output
    host.plugins.refresh()
    moved = scope_line(host)
    if moved:
        output.text(moved)
    for record in host.prune():
        output.note(
            f"Dropped the approval of {exact(record.name)}: nothing is left at "
            f"{exact(record.location)}. If it comes back, it has to be approved again."
        )
    plugins = host.plugins.all
    notices = other_notices(host)
    output.note(notices)
    if output.as_json:
        output.document([_row(plugin) for plugin in plugins])
    elif plugins:
        output.styled(_table(plugins, notices))
    else:
        output.text(_empty(host))
    output.note(_attention(host))


def _row(plugin: Plugin) -> dict[str, Any]:
    data = plugin.to_dict()
    first = ("name", "version", "state", "reason", "scope", "location")
    return {key: data[key] for key in first} | data


def _table(plugins: Sequence[Plugin], told: Sequence[str]) -> str:
    with safe_imports():
        from lionplug.cli.tables import Cell, Column, draw_table
    heads = [
        Column(title="NAME", least=8, most=32),
        Column(title="VERSION", least=7, most=12),
        Column(title="STATE", least=9, most=15),
        Column(title="SCOPE", least=7, most=9),
        Column(title="ABOUT"),
    ]
    rows = [
        [
            Cell(text=exact(plugin.name)),
            Cell(text=exact(plugin.version)),
            Cell(text=state_of(plugin), style=STYLES.get(state_of(plugin), "yellow")),
            Cell(text=plugin.scope),
            Cell(text=_about(plugin, plugins, told)),
        ]
        for plugin in plugins
    ]
    return draw_table(heads, rows, sys.stdout)


def _about(plugin: Plugin, plugins: Sequence[Plugin], told: Sequence[str]) -> str:
    """Return what a plugin is for, why it is in its state, and what comes next.

    :param told: The notices; a reason that is one of them is not repeated for each plugin.
    """
    reason = plugin.failed or plugin.reason.split("\n")[0]
    if reason in told:
        reason = "nothing is trusted, see above"
    lines = [prose(plugin.description, SUMMARY), reason, *refusal_lines(plugin, plugins)]
    if plugin.next_command:
        lines.append(f"-> {plugin.next_command}")
    return "\n".join(filter(None, lines))


def _empty(host: Host) -> list[str]:
    scope = host.user_scope
    places = [scope.plugins] if scope.path else []
    places.append(f".{host.name}/plugins (in a project)")
    return [
        "No plugins. A plugin is a directory with a plugin.yaml; put it into one of:",
        *(f"  {exact(place)}" for place in places),
    ]


def _attention(host: Host) -> list[str]:
    waiting = host.plugins.needs_attention
    if not waiting:
        return []
    counts = Counter(map(state_of, waiting))
    told = ", ".join(f"{count} {state}" for state, count in counts.items())
    verb = "plugin needs" if len(waiting) == 1 else "plugins need"
    return [f"{len(waiting)} {verb} you: {told}. '{host.command} info NAME' says more."]


@click.command(
    "info",
    cls=Command,
    short_help="Show all about one plugin.",
    help="""Show all about one plugin: state, capabilities, problems, files and their digest.

    Nothing of it is imported.
    """,
    examples=[
        ("info web-research", "State, what it offers, and the command that comes next."),
        ("info project:web-research", "One copy of several that have the name."),
        ("info web-research --json", "The same with the tree digest, as one object."),
    ],
)
@plugin_argument
@json_option
@pass_session
def info_command(session: Session, name: str) -> None:
    """Show one plugin."""
    host, output = session.host, session.output
    host.plugins.refresh()
    plugin = host.plugins.find(name)
    with progress(f"reading and hashing {exact(plugin.name)}"):
        live = _Live.of(host, plugin)
    copies = [one for one in host.plugins.all if one.name == plugin.name and one != plugin]
    if output.as_json:
        output.document(_document(plugin, live, copies) | {"hooks_checked": session.knows_hooks})
        return
    output.text(_lines(plugin, live, copies, output.width))
    if not session.knows_hooks and any(one.surface == "hookimpls" for one in plugin.capabilities):
        output.text(["", *wrapped(HOOKS_UNKNOWN, output.width)])
    whole = f"{host.command} info {quote(typed_name(plugin, host.plugins.all))} --json"
    output.text(file_lines(live.files, whole))


@frozen(kw_only=True)
class _Live:
    """What is known of the files of a copy as they are now."""

    digest: str | None = None
    problem: str | None = None
    signatures: Mapping[str, SourceSignature] = field(factory=dict)
    files: Sequence[FileRow] = ()

    @classmethod
    def of(cls, host: Host, plugin: Plugin) -> _Live:
        if plugin.manifest is None:
            return cls()  # its problems say why
        try:
            with host.review(plugin) as review:
                known = {target: one for target, one in review.signatures.items() if one}
                files = sorted(review.disclosure.files, key=lambda row: row.path)
                return cls(digest=review.disclosure.digest, signatures=known, files=files)
        except (LionplugError, OSError) as error:
            problem = str(error)
        try:
            # A scope that can't be written has no room for a copy; the digest needs none.
            return cls(digest=host.digest(plugin.location), problem=problem)
        except (LionplugError, OSError):
            return cls(problem=problem)


def _document(plugin: Plugin, live: _Live, copies: Sequence[Plugin]) -> dict[str, Any]:
    record = plugin.record
    return _row(plugin) | {
        "digest": live.digest,
        "digest_problem": live.problem,
        "approved": _approval(record) if record else None,
        "manifest": plugin.manifest.to_dict() if plugin.manifest else None,
        "capabilities": [capability.to_dict() for capability in plugin.capabilities],
        "files": [row.to_dict() for row in live.files],
        "signatures": {target: one.to_dict() for target, one in live.signatures.items()},
        "copies": [
            {"address": one.address, "state": one.state, "location": one.location} for one in copies
        ],
    }


def _approval(record: Record) -> dict[str, Any]:
    return {
        "digest": record.tree,
        "version": record.version,
        "approved_at": record.approved_at,
    }


def _lines(plugin: Plugin, live: _Live, copies: Sequence[Plugin], width: int) -> list[str]:
    lines = [f"{exact(plugin.name)} {exact(plugin.version)}".rstrip()]
    if plugin.description:
        lines += wrapped(prose(plugin.description), width, "  ")
    lines += ["", *_field("state", state_of(plugin), width)]
    lines += _field("reason", plugin.failed or plugin.reason, width)
    if plugin.next_command and plugin.state != states.INVALID:  # there it is this command
        lines.append(f"  {'next':<10}{plugin.next_command}")
    lines += _field("scope", f"{plugin.scope} ({exact(plugin.address)})", width)
    lines.append(f"  {'location':<10}{exact(plugin.location)}")
    if live.digest:
        lines += ["  digest", f"    {live.digest}"]  # to be copied, so never broken
    lines += _field("digest", live.problem or "", width)
    if plugin.record:
        same = plugin.record.tree == live.digest
        lines += _field("approved", _approved_text(plugin.record, same), width)
    lines += _manifest_lines(plugin, width)
    for name, why in plugin.refused_names:
        lines += _field("refused", f"{exact(name)}: {why}", width)
    if copies:
        lines += ["", "Other copies of this name"]
        lines += [f"  {exact(one.address)}  {state_of(one)}" for one in copies]
    if plugin.problems:
        lines += ["", f"Problems ({len(plugin.problems)})"]
        for problem in plugin.problems:
            lines += wrapped(str(problem), width, "  ")
    return lines + capability_lines(plugin.capabilities, live.signatures, width)


def _field(title: str, text: str, width: int) -> list[str]:
    if not text:
        return []
    first, *rest = wrapped(text, width - 12)
    return [f"  {title:<10}{first}", *(f"{'':12}{line}" for line in rest)]


def _approved_text(record: Record, same: bool) -> str:
    return f"{record.approved_at}, " + ("these files" if same else record.tree)


def _manifest_lines(plugin: Plugin, width: int) -> list[str]:
    manifest = plugin.manifest
    if manifest is None:
        return []
    hosts = ", ".join(f"{exact(host)} {exact(spec)}" for host, spec in manifest.hosts.items())
    lines = _field("hosts", hosts, width)
    lines += _field("requires", ", ".join(exact(str(one)) for one in manifest.requires), width)
    lines += _field("packages", ", ".join(map(exact, manifest.python_packages)), width)
    return lines + _field("excludes", ", ".join(map(exact, manifest.exclude)), width)
