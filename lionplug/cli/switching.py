"""``enable`` and ``disable``: in or out of all calls, approval and files untouched."""

from __future__ import annotations

import click

from lionplug.cli.describe import state_of, wrapped
from lionplug.cli.group import Command
from lionplug.cli.options import json_option, plugin_argument
from lionplug.cli.session import Session, pass_session
from lionplug.inventory.plugin import Plugin
from lionplug.text import exact


@click.command(
    "disable",
    cls=Command,
    short_help="Keep a plugin out of all calls.",
    help="""Keep a plugin out of all calls, without touching its files or its approval.

    Running hosts notice at their next call. Nothing of the plugin is imported.
    """,
    examples=[
        ("disable web-research", "It answers no more."),
        ("disable user:web-research", "Only the copy of the user scope."),
    ],
)
@plugin_argument
@json_option
@pass_session
def disable_command(session: Session, name: str) -> None:
    """Disable a plugin."""
    before = session.host.plugins.find(name)
    _tell(session, before, session.host.disable(name), "disabled")


@click.command(
    "enable",
    cls=Command,
    short_help="Let a disabled plugin take part again.",
    help="""Let a disabled plugin take part again.

    It must still be approved: enabling approves nothing. A plugin that a settings file
    disables is enabled by removing that line.
    """,
    examples=[("enable web-research", "Undo 'disable web-research'.")],
)
@plugin_argument
@json_option
@pass_session
def enable_command(session: Session, name: str) -> None:
    """Enable a plugin."""
    before = session.host.plugins.find(name)
    _tell(session, before, session.host.enable(name), "enabled")


def _tell(session: Session, before: Plugin, after: Plugin, what: str) -> None:
    output = session.output
    changed = before.state != after.state
    if output.as_json:
        output.document(after.to_dict() | {"changed": changed})
        return
    name = exact(after.name)
    if changed:
        output.text(f"{name} is {what}; it was {state_of(before)} and is {state_of(after)} now.")
    else:
        output.text(f"Nothing changed: {name} is {state_of(after)}.")
    if after.reason and after.state != "active" and (what == "enabled" or not changed):
        output.text(wrapped(after.reason, output.width, "  "))
        if after.next_command:
            output.text(f"Next: {after.next_command}")
