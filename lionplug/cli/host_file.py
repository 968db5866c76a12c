"""``host-file``: write an application's announcement from its live host."""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any

import click

from lionplug.cli.aside import prints_aside
from lionplug.cli.group import Command
from lionplug.cli.options import json_option
from lionplug.cli.session import Session, pass_session
from lionplug.errors import UsageError
from lionplug.host import Host
from lionplug.imports import safe_imports
from lionplug.text import exact


@click.command(
    "host-file",
    cls=Command,
    short_help="Write the file by which an application announces itself.",
    help="""Write the file by which an application announces itself, from its live host.

    FACTORY is MODULE:FUNCTION, a function without arguments that returns the
    application's lionplug.Host with all its hook specifications. The application's own
    module is imported and run for that; it is the one command that does so.

    An installed application names the file in the entry-point group lionplug.hosts. Then
    'lionplug' finds it, names its command in messages and knows its hooks, without
    importing anything of it.
    """,
    examples=[
        ("host-file greeter_host:make_host", "Print it."),
        (
            "host-file greeter_host:make_host --path src -o src/greeter_host/host.json",
            "Write it, from a source tree that is not installed.",
        ),
    ],
)
@click.argument("factory", metavar="FACTORY")
@click.option(
    "--path",
    metavar="DIRECTORY",
    allow_from_autoenv=False,
    help="Directory to import the module from. The working directory is no such place by itself.",
)
@click.option(
    "-o",
    "--output",
    "target",
    metavar="FILE",
    allow_from_autoenv=False,
    help="Write to this file instead of standard output.",
)
@json_option
@pass_session
def host_file_command(session: Session, factory: str, path: str | None, target: str | None) -> None:
    """Write an announcement."""
    output = session.output
    module, name = _split(factory)
    if path is not None:
        sys.path.insert(0, os.path.abspath(path))
    output.note(f"Importing {exact(module)}, the application's own code.")
    with prints_aside():
        document = _announcement(module, name)
    text = json.dumps(document, indent=2) + "\n"
    if target is None:
        if output.as_json:
            output.document(document)
        else:
            output.text(text.rstrip("\n"))
        return
    _write(target, text)
    output.document({"file": target, "announcement": document})
    if not output.as_json:
        output.text(f"Wrote {exact(target)}.")


def _split(factory: str) -> tuple[str, str]:
    module, colon, name = factory.partition(":")
    if not colon or not all(part.isidentifier() for part in f"{module}.{name}".split(".")):
        raise click.UsageError(f"FACTORY is MODULE:FUNCTION, found {exact(factory)}")
    return module, name


def _announcement(module: str, name: str) -> dict[str, Any]:
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise UsageError(
            f"no module is called {exact(module)} in this environment; install the application "
            "here, or name the directory that holds it with --path"
        ) from None
    for part in name.split("."):
        if not hasattr(found, part):
            raise UsageError(f"{exact(module)} has no {exact(name)}; name a function of it")
        found = getattr(found, part)
    host = found() if callable(found) else found
    if not isinstance(host, Host):
        raise UsageError(
            f"{exact(module)}:{exact(name)} gives {exact(type(host).__name__)}, expected a "
            "lionplug.Host; return the host itself"
        )
    with safe_imports():
        from lionplug.host.announcing import announcement_of
    try:
        return announcement_of(host)
    finally:
        host.close()


def _write(target: str, text: str) -> None:
    with safe_imports():
        from pathlib import Path
    try:
        Path(target).write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.FileError(exact(target), hint=error.strerror) from None
