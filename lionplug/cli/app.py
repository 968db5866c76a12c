"""The group of plugin commands: for ``lionplug`` itself, and for mounting elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

import lionplug
from lionplug.cli.approving import revoke_command, trust_command
from lionplug.cli.calling import call_command
from lionplug.cli.checking import check_command, schema_command
from lionplug.cli.comparing import diff_command, digest_command, show_command
from lionplug.cli.completion import completion_command
from lionplug.cli.creating import new_command
from lionplug.cli.doctor import doctor_command
from lionplug.cli.group import PluginGroup
from lionplug.cli.host_file import host_file_command
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
    doctor_command,
    new_command,
    check_command,
    schema_command,
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
    choice = choose_host(ctx.params.get("host"))
    session = session_of(ctx)
    session.hooks_announced = choice.knows_hooks
    if not ctx.resilient_parsing:
        session.output.note(choice.notes)
    return choice.host


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
    return _group(name, make_host, closes_host=True)


def _group(name: str, make_host: Callable[[], Host], *, closes_host: bool) -> PluginGroup:
    group = PluginGroup(
        name,
        make_host=lambda _: _with_hooks(make_host()),
        knows_hooks=True,
        closes_host=closes_host,
        params=[_debug_option()],
        callback=_nothing,
        help=HELP,
    )
    for command in COMMANDS:
        group.add_command(command)
    return group


class HostProgram(click.Group):
    """A program of which only the plugin commands are click's: the rest is its own.

    :param forwarded: The words after the program's name behind which they are found.
    """

    def __init__(self, name: str, forwarded: Sequence[str]) -> None:
        super().__init__(name)
        self.forwarded = tuple(forwarded)


def make_program(host: Host) -> HostProgram | PluginGroup:
    """Return a program that holds the plugin commands where ``host.command`` says.

    :param host: A host of the application, with all its hook specifications. It is lent:
        the commands don't close it.
    """
    name, *words = host.command.split()
    if any(word.startswith("-") for word in words):  # such as 'python -m notes plugin'
        name, words = " ".join([name, *words[:-1]]), words[-1:]
    *outer, last = words or [name]
    commands = _group(last, lambda: host, closes_host=False)
    if not words:  # a program of their own
        commands.forwarded = ()
        return commands
    program = HostProgram(name, words)
    folder: click.Group = program
    for word in outer:
        inner = click.Group(word)
        folder.add_command(inner)
        folder = inner
    folder.add_command(commands)
    return program


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
        help=f"Name of the application to manage plugins of (default: ${VARIABLE}, else the only "
        "one that announces itself here, else lionplug).",
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
    for command in (*COMMANDS, host_file_command):
        group.add_command(command)
    return group


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        session_of(ctx).output.text(f"lionplug {lionplug.__version__}")
        ctx.exit()
