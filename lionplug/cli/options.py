"""Options and arguments that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from lionplug.cli.completion import complete_plugins
from lionplug.cli.session import session_of

Function = TypeVar("Function", bound=Callable[..., Any])

#: Context of a command that approves: whatever an application that mounts the group has
#: set up, no configuration file answers for the person (security rule S23). Options of
#: such a command also have ``allow_from_autoenv=False``.
TYPED_ONLY: dict[str, Any] = {"default_map": {}}


def _wants_json(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    session_of(ctx).output.as_json = value


def json_option(function: Function) -> Function:
    """Add ``--json``: one JSON document on standard output, also when the command fails."""
    return click.option(
        "--json",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        allow_from_autoenv=False,
        callback=_wants_json,
        help="Print one JSON document; all else goes to standard error.",
    )(function)


def plugin_argument(function: Function) -> Function:
    """Add the argument NAME: a plugin's name, ``user:NAME``, ``project:NAME`` or a path."""
    return click.argument("name", metavar="NAME", shell_complete=complete_plugins)(function)
