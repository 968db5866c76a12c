"""``new``: a bundle that works, to be changed into one's own."""

from __future__ import annotations

import os

import click

from lionplug.cli.group import Command
from lionplug.cli.options import json_option
from lionplug.cli.session import Session, pass_session
from lionplug.imports import safe_imports
from lionplug.text import exact, quote

#: Names of the templates; a test compares them with those that there are.
TEMPLATES = ("bundle",)


@click.command(
    "new",
    cls=Command,
    short_help="Write a new bundle that works.",
    help="""Write a new bundle: a manifest, a tool, its test and a README.

    NAME has 1 to 32 of a-z, 0-9 and '-'. DIRECTORY is made, by default one of that name
    here; one that is there already is refused. Nothing is approved.
    """,
    examples=[
        ("new word-count", "Write ./word-count."),
        ("new word-count ~/src/word-count", "Write it elsewhere."),
        ("new word-count --json", "Name what was written as one object."),
    ],
)
@click.argument("name", metavar="NAME")
@click.argument("directory", metavar="[DIRECTORY]", required=False, type=click.Path())
@click.option(
    "--template",
    type=click.Choice(TEMPLATES),
    default="bundle",
    show_default=True,
    allow_from_autoenv=False,
    help="What to write.",
)
@json_option
@pass_session
def new_command(session: Session, name: str, directory: str | None, template: str) -> None:
    """Write a new bundle."""
    with safe_imports():
        from lionplug.authoring.creating import require_name, write_bundle
        from lionplug.authoring.template import files_of
    require_name(name)
    host, output = session.host, session.output
    path = name if directory is None else directory
    files = files_of(name, host=host.name, version=host.version, command=host.command)
    write_bundle(path, files)
    if output.as_json:
        location = os.path.abspath(path)
        output.document(
            {"name": name, "template": template, "path": location, "files": list(files)}
        )
        return
    output.text(f"Wrote {exact(path)}:")
    output.text([f"  {file}" for file in files])
    # What begins with a hyphen would be taken for an option.
    typed = path if not path.startswith("-") else os.path.join(".", path)
    output.text(f"Next: {host.command} check {quote(typed)}")
