"""``check`` and ``schema``: what an author needs before anybody is asked to approve."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from lionplug.cli.group import Command
from lionplug.cli.options import json_option
from lionplug.cli.output import readable_json
from lionplug.cli.progress import progress
from lionplug.cli.session import Session, pass_session
from lionplug.imports import safe_imports
from lionplug.text import exact

if TYPE_CHECKING:
    from lionplug.authoring.report import Report
    from lionplug.errors import Problem

FORMATS = ("text", "json", "github")


@click.command(
    "check",
    cls=Command,
    short_help="Find what is wrong with a bundle directory.",
    help="""Find what is wrong with a bundle directory, without importing or running it.

    Every problem is printed with its place and a code, which the page 'Checks' of the
    documentation explains. The exit code is 1 if there is an error, and 0 if there are
    warnings only. The user scope is not needed.
    """,
    examples=[
        ("check .", "One line for each problem."),
        ("check ./web-research --json", "All as one object, with counts."),
        ("check ./web-research --format github", "As annotations of a GitHub workflow."),
    ],
)
@click.argument("path", metavar="PATH", type=click.Path())
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    allow_from_autoenv=False,
    help="How to print the problems; 'json' is what --json prints.  [default: text]",
)
@json_option
@pass_session
def check_command(session: Session, path: str, form: str | None) -> None:
    """Check a bundle."""
    output = session.output
    if output.as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} exclude each other")
    output.as_json = output.as_json or form == "json"
    with safe_imports():
        from lionplug.authoring.check import check_bundle
    with progress(f"checking {exact(path)}"):
        report = check_bundle(path, host=session.host.name, sections=session.host.sections)
    if output.as_json:
        output.document({"path": path, **report.to_dict()})
    elif form == "github":
        output.text([annotation(path, problem) for problem in report.problems])
        output.note(_summary(path, report))
    else:
        output.text([line_of(path, problem) for problem in report.problems])
        output.text(_summary(path, report))
    if report.errors:
        raise click.exceptions.Exit(1)


@click.command(
    "schema",
    cls=Command,
    short_help="Print the JSON Schema of plugin.yaml.",
    help="""Print the JSON Schema (2020-12) of plugin.yaml for this host.

    An editor that knows it completes keys and marks mistakes. It can't say everything that
    'check' finds.
    """,
    examples=[
        ("schema > plugin.schema.json", "For an editor."),
        ("schema --json", "The same in ASCII."),
    ],
)
@json_option
@pass_session
def schema_command(session: Session) -> None:
    """Print the JSON Schema of the manifest."""
    with safe_imports():
        from lionplug.manifest.schema import manifest_schema
    schema = manifest_schema(session.host.name, session.host.sections)
    if session.output.as_json:
        session.output.document(schema)
    else:
        session.output.text(readable_json(schema))


def line_of(path: str, problem: Problem) -> str:
    """Return a problem as one line: ``PATH/FILE:LINE:COLUMN: SEVERITY[CODE] MESSAGE``.

    :param path: The bundle, as it was named.
    """
    with safe_imports():
        from lionplug.authoring.rules import severity_of
    place = _file(path, problem)
    if problem.line:
        place += f":{problem.line}:{problem.column}"
    return f"{place}: {severity_of(problem.code)}[{exact(problem.code)}] {_message(problem)}"


def annotation(path: str, problem: Problem) -> str:
    """Return a problem as a workflow command of GitHub.

    What could end the value, the property or the line is escaped, so that no name in a
    bundle becomes a command of its own (security rule S37).
    """
    with safe_imports():
        from lionplug.authoring.rules import severity_of
    properties = {"file": os.path.normpath(_file(path, problem))}
    if problem.line:
        properties |= {"line": str(problem.line), "col": str(problem.column)}
    properties["title"] = problem.code
    listed = ",".join(f"{key}={escape_property(value)}" for key, value in properties.items())
    return f"::{severity_of(problem.code)} {listed}::{escape_data(_message(problem))}"


def escape_data(text: str) -> str:
    """Return text as the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Return text as the value of a property of a workflow command."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def _file(path: str, problem: Problem) -> str:
    return os.path.join(exact(path), problem.file)


def _message(problem: Problem) -> str:
    text = f"{problem.field}: {problem.message}" if problem.field else problem.message
    return " ".join(text.split("\n"))


def _summary(path: str, report: Report) -> str:
    with safe_imports():
        from lionplug.trust.layout import plural
    name = f"{exact(report.name)} {exact(report.version)}" if report.name else exact(path)
    counts = [(report.errors, "error"), (report.warnings, "warning")]
    found = " and ".join(plural(count, noun) for count, noun in counts if count)
    return f"{name}: {found or 'nothing to mend'}."
