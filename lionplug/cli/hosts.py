"""Which host the bare ``lionplug`` command speaks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

import lionplug
from lionplug.imports import safe_imports
from lionplug.scopes import environment_value
from lionplug.text import exact

if TYPE_CHECKING:
    from lionplug.host import Host

#: The host that is meant when nobody names one.
DEFAULT = "lionplug"

VARIABLE = "LIONPLUG_HOST"


def choose_host(name: str | None) -> tuple[Host, str | None]:
    """Make the host that a run of the command is for.

    :param name: What ``--host`` says; else ``LIONPLUG_HOST`` counts, else ``lionplug``.
    :returns: The host, and a warning about the variable if there is one.
    :raises click.UsageError: No installed distribution has the name.
    :raises UsageError: It can't be a host's name.
    """
    warning = None
    origin = "--host"
    if name is None:
        name, warning = environment_value(VARIABLE)
        origin = VARIABLE
    name = name or DEFAULT
    version = _version(name, origin)
    with safe_imports():
        import logging

        from lionplug.host import Host
    # Every refusal is told by the command itself; without a handler of its own the logger
    # would print it a second time.
    logging.getLogger("lionplug").addHandler(logging.NullHandler())
    return Host(name, version=version), warning


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
