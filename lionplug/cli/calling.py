"""``call``: one call of a tool, as an agent would make it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from lionplug.cli.arguments import parse_arguments
from lionplug.cli.aside import prints_aside
from lionplug.cli.completion import complete_tools
from lionplug.cli.describe import typed_name
from lionplug.cli.failure import ToolFailure
from lionplug.cli.group import Command
from lionplug.cli.options import json_option
from lionplug.cli.results import result_lines, spelled_out, to_json
from lionplug.cli.session import Session, pass_session
from lionplug.errors import ArgumentsError, AsyncToolError, LionplugError
from lionplug.imports import safe_imports
from lionplug.text import quote

if TYPE_CHECKING:
    from lionplug.host import Host
    from lionplug.surfaces.tools import Tool


@click.command(
    "call",
    cls=Command,
    short_help="Call a tool of an active plugin.",
    help="""Call a tool of an active plugin and print what it returns.

    A value is taken as JSON where the tool's schema wants a number, a boolean, an array or
    an object, else as text. A returned string is printed as it is, with characters that do
    not show escaped; anything else as JSON. What JSON lacks, such as bytes, is shown as the
    text that Python gives for it, and standard error says so. What the tool itself prints
    goes to standard error.
    """,
    examples=[
        ("call web_search query=pluggy limit=3", "Arguments as key=value."),
        ("call web_search --input query.json", "Arguments from a JSON object in a file."),
        ("call web_search --input - < query.json", "... from standard input."),
    ],
)
@click.argument("tool", metavar="TOOL", shell_complete=complete_tools)
@click.argument("pairs", metavar="[KEY=VALUE]...", nargs=-1)
@click.option(
    "--input",
    "source",
    metavar="FILE",
    help="Read the arguments as a JSON object from FILE, '-' for standard input.",
)
@json_option
@pass_session
def call_command(session: Session, tool: str, pairs: tuple[str, ...], source: str | None) -> None:
    """Call a tool."""
    output = session.output
    handle = session.host.tools[tool]
    arguments = parse_arguments(pairs, source, handle.parameters)
    with prints_aside(), _pointed_to_info(session.host, handle):
        content = to_json(call_tool(handle, arguments))
    output.note(spelled_out(content.as_text))
    if output.as_json:
        output.document(
            {
                "tool": handle.name,
                "plugin": handle.plugin,
                "result": content.value,
                "as_text": list(content.as_text),
            }
        )
    else:
        output.text(result_lines(content.value))


def call_tool(handle: Tool, arguments: dict[str, Any]) -> object:
    """Call a tool, awaiting it where it is asynchronous.

    :raises ToolFailure: The tool raised; the error is its cause.
    """
    try:
        if not handle.is_async:
            try:
                return handle.call(arguments)
            except AsyncToolError:  # known only after the import
                pass
        with safe_imports():
            from asyncio import run
        return run(handle.acall(arguments))
    except LionplugError:
        raise
    except (Exception, SystemExit) as error:
        raise ToolFailure(handle.name, handle.plugin) from error


@contextmanager
def _pointed_to_info(host: Host, handle: Tool) -> Iterator[None]:
    """Have an error about the arguments name the command that shows what a tool takes."""
    try:
        yield
    except ArgumentsError as error:
        everyone = host.plugins.all
        for plugin in everyone:
            if plugin.is_active and plugin.name == handle.plugin == error.plugin:
                error.command = f"{host.command} info {quote(typed_name(plugin, everyone))}"
        raise
