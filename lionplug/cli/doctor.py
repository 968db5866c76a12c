"""``doctor``: what keeps plugins from working, and the command that mends each thing."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit

from lionplug.cli.failure import REFUSED
from lionplug.cli.group import Command
from lionplug.cli.options import json_option
from lionplug.cli.path import path_at_start
from lionplug.cli.progress import progress
from lionplug.cli.session import Session, pass_session
from lionplug.imports import safe_imports
from lionplug.text import exact

if TYPE_CHECKING:
    from lionplug.host.diagnosis import Diagnosis, Finding
    from lionplug.host.permissions import Mended

HEADINGS = {"info": "Here", "problem": "Needs you", "warning": "Worth knowing"}


@click.command(
    "doctor",
    cls=Command,
    short_help="Say what keeps plugins from working, and what mends it.",
    help="""Say what keeps plugins from working, and the command that mends each thing.

    Looked at are the host, the user scope and project scopes, settings, approvals, every
    plugin with what it needs, hooks that nothing runs, the search path of Python, and who
    else can write in the user scope. Nothing of a plugin is imported. Exits with 1 when
    something needs a person.
    """,
    examples=[
        ("doctor", "All there is to know."),
        ("doctor --fix-permissions", "First take away what others may write in the user scope."),
        ("doctor --json", "The same as one object, with a code for each finding."),
    ],
)
@click.option(
    "--fix-permissions",
    is_flag=True,
    allow_from_autoenv=False,
    help="Take the right to write of group and others from paths of yours that are refused "
    "for it. Each is named; no link is followed, nothing in a project is changed.",
)
@json_option
@pass_session
def doctor_command(session: Session, fix_permissions: bool) -> None:
    """Diagnose."""
    mended = _mend(session) if fix_permissions else []
    diagnosis = _diagnosis(session)
    if session.output.as_json:
        session.output.document(
            diagnosis.to_dict() | {"mended": [_mended_row(row) for row in mended]}
        )
    else:
        session.output.text(_lines(diagnosis, mended, session.output.width))
        session.output.note(_summary(diagnosis))
    if diagnosis.needs_person:
        raise Exit(REFUSED)


def _mend(session: Session) -> list[Mended]:
    with safe_imports():
        from lionplug.host.permissions import mend_permissions
        from lionplug.scopes.user import user_scopes
    host = session.host
    rows = mend_permissions(host)
    if host.user_scope.problem and any(row.problem is None for row in rows):
        # Where the scope is was settled when its way was not safe yet. Only this run, which
        # imports nothing of a plugin, may ask a second time.
        user_scopes.clear()
        session.renew()
    return rows


def _diagnosis(session: Session) -> Diagnosis:
    with safe_imports():
        from attrs import evolve

        from lionplug.cli.announcements import announced_hosts
        from lionplug.host.diagnosis import WARNING, Finding, diagnose
    host = session.host
    with progress("comparing approved plugins with their files"):
        host.plugins.refresh()
    diagnosis = diagnose(host, search_path=path_at_start())
    problems = [
        Finding(code="announcement", severity=WARNING, text=text)
        for _, text in announced_hosts().problems
    ]
    return evolve(diagnosis, findings=(*diagnosis.findings, *problems))


def _mended_row(row: Mended) -> dict[str, str | None]:
    return {
        "path": row.path,
        "before": None if row.problem else f"{row.before:04o}",
        "after": None if row.problem else f"{row.after:04o}",
        "problem": row.problem,
    }


def _lines(diagnosis: Diagnosis, mended: list[Mended], width: int) -> list[str]:
    lines = []
    for row in mended:
        if row.problem is None:
            lines.append(f"Mended: {exact(row.path)} (mode {row.before:04o}, now {row.after:04o})")
        else:
            lines += _wrapped(f"Left alone: {exact(row.path)}: {row.problem}", width)
    for severity, heading in HEADINGS.items():
        findings = [one for one in diagnosis.findings if one.severity == severity]
        if findings:
            count = "" if severity == "info" else f" ({len(findings)})"
            lines += ["", f"{heading}{count}"]
            for one in findings:
                lines += _finding(one, width)
    return lines[1:] if lines and not lines[0] else lines


def _finding(finding: Finding, width: int) -> list[str]:
    text = finding.text if finding.severity == "info" else f"{finding.code}: {finding.text}"
    lines = _wrapped(text, width, "  ")
    if finding.command:
        lines.append(f"    -> {finding.command}")  # to be copied, so never broken
    return lines


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Return lines in which no path is broken, so that it can be copied."""
    return [
        piece
        for line in text.split("\n")
        for piece in textwrap.wrap(
            line,
            width,
            initial_indent=indent,
            subsequent_indent=f"{indent}  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    ]


def _summary(diagnosis: Diagnosis) -> str:
    count = sum(one.severity == "problem" for one in diagnosis.findings)
    if not count:
        return "Nothing needs you."
    return f"{count} {'thing needs' if count == 1 else 'things need'} you."
