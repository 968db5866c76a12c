"""Collecting what is wrong with one document, so that all of it is reported at once."""

from __future__ import annotations

from typing import NoReturn

from lionplug.documents.nodes import Node
from lionplug.errors import Problem, ProblemsError
from lionplug.text import exact

#: Problems of one document that are kept; the others are counted.
LIMIT = 50


class Problems:
    """The problems of one document.

    :param file: Path of the document for messages.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        #: Steps from the top of the document to the field that is being read.
        self.path: list[str | int] = []
        #: How many were noted so far.
        self.count = 0
        self._found: list[Problem] = []

    @property
    def found(self) -> tuple[Problem, ...]:
        """All problems in the order of the document, the last one counting those left out."""
        found = sorted(self._found, key=lambda problem: (problem.line, problem.column))
        more = self.count - len(found)
        if more:
            text = f"{more} more problems are not shown; mend these first."
            found.append(Problem("more", text, file=self.file))
        return tuple(found)

    def add(self, code: str, message: str, line: int = 0, column: int = 0) -> None:
        """Note a problem of the field that is being read."""
        self.count += 1
        if self.count > LIMIT:
            return
        field = field_path(self.path)
        self._found.append(
            Problem(code, message, file=self.file, line=line, column=column, field=field)
        )

    def at(self, node: Node, code: str, message: str) -> None:
        """Note a problem at the place of a node."""
        self.add(code, message, node.line, node.column)

    def fail(self, error: type[ProblemsError], plugin: str | None = None) -> NoReturn:
        """Raise everything that was found as one error.

        :param error: The class to raise.
        :param plugin: Name of the plugin whose file it is, if known.
        """
        noun = "problem" if self.count == 1 else "problems"
        summary = f"{exact(self.file)} can't be used: {self.count} {noun}."
        raise error(self.found, summary, plugin=plugin, file=self.file)


def field_path(steps: list[str | int]) -> str:
    """Return the path of a field, such as ``capabilities.tools[0].name``."""
    parts: list[str] = []
    for step in steps:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        else:
            parts.append(f".{exact(step[:100])}" if parts else exact(step[:100]))
    return "".join(parts)
