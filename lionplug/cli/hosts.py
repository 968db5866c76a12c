"""Which host the bare ``lionplug`` command speaks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from attrs import frozen

import lionplug
from lionplug.imports import safe_imports
from lionplug.scopes import environment_value
from lionplug.text import exact

if TYPE_CHECKING:
    from lionplug.cli.announcements import Announced, Announcement
    from lionplug.host import Host

#: The host that is meant when nobody names one and not exactly one is installed.
DEFAULT = "lionplug"

VARIABLE = "LIONPLUG_HOST"


@frozen(kw_only=True)
class Choice:
    """The host of one run.

    :param host: The host.
    :param knows_hooks: Whether its announcement names the hooks that it has.
    :param notes: What to tell: about the variable, and about its announcement.
    """

    host: Host
    knows_hooks: bool
    notes: tuple[str, ...]


def choose_host(name: str | None) -> Choice:
    """Make the host that a run of the command is for.

    :param name: What ``--host`` says; else ``LIONPLUG_HOST`` counts; else the only host
        that is announced in this environment; else ``lionplug``.
    :raises click.UsageError: Several installed distributions, or none, have the name.
    :raises UsageError: It can't be a host's name.
    """
    warning = None
    origin = "--host"
    if name is None:
        name, warning = environment_value(VARIABLE)
        origin = VARIABLE
    announced = _announced()
    if not name:
        only = [*announced.hosts, *announced.ambiguous]
        name = only[0] if len(only) == 1 else DEFAULT
    about_it = [text for host, text in announced.problems if host == name]
    notes = tuple(filter(None, (warning, *about_it)))
    if name in announced.ambiguous:
        distributions = ", ".join(map(exact, announced.ambiguous[name]))
        raise click.UsageError(
            f"the host {exact(name)} is announced by several distributions: {distributions}; "
            "uninstall all but one"
        )
    known = announced.hosts.get(name)
    if known is None:
        version = _version(name, origin)
        return Choice(host=_make(name, version), knows_hooks=False, notes=notes)
    return Choice(host=_announced_host(known), knows_hooks=known.hooks is not None, notes=notes)


def _announced() -> Announced:
    with safe_imports():
        from lionplug.cli.announcements import announced_hosts
    return announced_hosts()


def _announced_host(known: Announcement) -> Host:
    host = _make(known.name, known.version, known.command)
    with safe_imports():
        from lionplug.host.announcing import believe
    believe(host, hooks=known.hooks, reserved_tools=known.reserved_tools)
    return host


def _make(name: str, version: str, command: str | None = None) -> Host:
    with safe_imports():
        import logging

        from lionplug.host import Host
    # Every refusal is told by the command itself; without a handler of its own the logger
    # would print it a second time.
    logging.getLogger("lionplug").addHandler(logging.NullHandler())
    return Host(name, version=version, command=command)


def _version(name: str, origin: str) -> str:
    if name == DEFAULT:
        return lionplug.__version__
    with safe_imports():
        from importlib.metadata import PackageNotFoundError, version
    try:
        return version(name)
    except PackageNotFoundError:
        raise click.UsageError(
            f"{origin} names the host {exact(name)}, but no distribution of that name is installed "
            "in this environment, so its version is unknown; install it here, or run "
            "lionplug where it is installed. An application that is a script mounts these "
            "commands in its own command line: lionplug.cli.app.make_cli(make_host)"
        ) from None
