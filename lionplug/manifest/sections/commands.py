"""Commands: a program and its arguments as a list, never a line for a shell (S7)."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from lionplug.documents.fields import INVALID, ListOf, Text
from lionplug.documents.nodes import Node, Sequence, shown
from lionplug.documents.problems import Problems
from lionplug.manifest.references import why_not_path
from lionplug.manifest.sections.common import PATH_PATTERN


def why_not_argument(text: str) -> str | None:
    """Return why a text can't be an element of a command, or ``None``."""
    return None if text.strip() else "expected an argument that is not blank"


def why_not_program(text: str) -> str | None:
    """Return why a text can't be the program of a command, or ``None``.

    With a slash it is a file of the bundle and nothing else; a bare name is looked up on
    the filtered PATH, never in the bundle or the working directory.
    """
    if "/" in text or "\\" in text:
        return why_not_path(text)
    return why_not_argument(text)


#: One element of a command.
ARGUMENT = Text(
    hint="an argument", check=why_not_argument, max_length=100_000, schema={"pattern": r"\S"}
)

#: The program alone, where the arguments stand under a key of their own.
PROGRAM = Text(
    hint="a program",
    check=why_not_program,
    code="path",
    schema={"pattern": r"\S", "allOf": [{"pattern": rf"^[^/\\]+$|{PATH_PATTERN}"}]},
)


@frozen(kw_only=True)
class Command(ListOf):
    """A program and its arguments."""

    item: Text = ARGUMENT
    what: str = "arguments"
    least: int = 1
    most: int = 1000

    def read(self, node: Node, problems: Problems) -> Any:
        argv = super().read(node, problems)
        if argv is INVALID or not isinstance(node, Sequence):
            return INVALID
        reason = why_not_program(argv[0])
        if reason:
            problems.at(node.items[0], "path", f"{reason}, found {shown(argv[0])}.")
            return INVALID
        return argv

    def json_schema(self) -> dict[str, Any]:
        return {**super().json_schema(), "prefixItems": [PROGRAM.json_schema()]}


#: A program and its arguments.
COMMAND = Command()


def program_file(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Return the file of the bundle that a command runs, if it names one."""
    return argv[:1] if "/" in argv[0] else ()
