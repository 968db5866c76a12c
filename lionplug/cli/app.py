"""The group of plugin commands: for ``lionplug`` itself, and for mounting elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

import lionplug
from lionplug.cli.approving import revoke_command, trust_command
from lionplug.cli.calling import call_command
from lionplug.cli.comparing import diff_command, digest_command, show_command
from lionplug.cli.completion import completion_command
from lionplug.cli.group import PluginGroup
from lionplug.cli.hosts import VARIABLE, choose_host
from lionplug.cli.looking import info_command, list_command
from lionplug.cli.session import session_of
from lionplug.cli.switching import disable_command, enable_command

if TYPE_CHECKING:
    from lionplug.host import Host

COMMANDS = (
    list_command,
    info_command,
    trust_command,
    revoke_command,
    enable_command,
    disable_command,
    diff_command,
    digest_command,
    show_command,
    call_command,
    completion_command,
)

HELP = """See, approve and call plugins.

A plugin is visible before it is trusted, trusted before it is imported, and imported
only when one of its hooks is first called.

Exit codes: 0 done, 1 refused or failed, 2 usage, 130 interrupted, 141 the reader of the
output went away.
"""


def _chosen_host(ctx: click.Context) -> Host:
    """Return the host that ``--host`` or the environment names."""
    host, warning = choose_host(ctx.params.get("host"))
    if warning and not ctx.resilient_parsing:
        session_of(ctx).output.note(warning)
    return host


def _debug_option() -> click.Option:
    return click.Option(
        ["--debug"],
        is_flag=True,
        help="Show the traceback of a failure.",
    )


def _nothing(**_: object) -> None:
    """Do nothing: click wants every group to have a function of its own."""


def make_cli(make_host: Callable[[], Host], *, name: str = "plugin") -> PluginGroup:
    """Return the plugin commands for one host, to be mounted in an application's own CLI.

    :param make_host: Gives the host with all its hook specifications; called once per run,
        when a command first needs it. ``Host(command=…)`` is what messages call the
        commands, such as ``li plugin``.
    :param name: Name of the group.
    """
    group = PluginGroup(
        name,
        make_host=lambda _: _with_hooks(make_host()),
        knows_hooks=True,
        params=[_debug_option()],
        callback=_nothing,
        help=HELP,
    )
    for command in COMMANDS:
        group.add_command(command)
    return group


def _with_hooks(host: Host) -> Host:
    """Return a host that expects no more hook specifications, as after its first hook call.

    A plugin that implements a hook of no specification is ``incompatible`` from then on;
    without it, such a plugin would look ``active`` here and not in the application.
    """
    _ = host.hook
    return host


def make_lionplug() -> PluginGroup:
    """Return the ``lionplug`` command."""
    host_option = click.Option(
        ["--host"],
        metavar="NAME",
        allow_from_autoenv=False,
        help=f"Name of the application to manage plugins of (default: ${VARIABLE}, else lionplug).",
    )
    version_option = click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_print_version,
        help="Print the version and exit.",
    )
    group = PluginGroup(
        "lionplug",
        make_host=_chosen_host,
        knows_hooks=False,
        params=[host_option, _debug_option(), version_option],
        callback=_nothing,
        help=HELP,
    )
    for command in COMMANDS:
        group.add_command(command)
    return group


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        session_of(ctx).output.text(f"lionplug {lionplug.__version__}")
        ctx.exit()
