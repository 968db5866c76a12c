"""What a check found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import frozen

from lionplug.authoring.rules import ERROR, severity_of
from lionplug.errors import Problem

#: Problems that a report keeps; nobody reads the rest before these are mended.
MOST_PROBLEMS = 1_000


@frozen(kw_only=True)
class Report:
    """The result of checking one bundle.

    :param name: Name of the plugin; empty if the manifest can't be read.
    :param version: Its version.
    :param problems: What is wrong, by file, line and column.
    """

    name: str = ""
    version: str = ""
    problems: tuple[Problem, ...] = ()

    @property
    def errors(self) -> int:
        """How many problems are errors."""
        return sum(severity_of(problem.code) == ERROR for problem in self.problems)

    @property
    def warnings(self) -> int:
        """How many problems are warnings."""
        return len(self.problems) - self.errors

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON-ready data."""
        return {
            "name": self.name,
            "version": self.version,
            "errors": self.errors,
            "warnings": self.warnings,
            "problems": [
                {"severity": severity_of(problem.code), **problem.to_dict()}
                for problem in self.problems
            ],
        }


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return problems once each, those of the manifest first, bounded.

    :param problems: In the order in which they were found.
    """
    found = sorted(set(problems), key=_rank)
    if len(found) > MOST_PROBLEMS:
        # Errors decide the exit code, so they are what stays.
        found = sorted(sorted(found, key=_is_warning)[:MOST_PROBLEMS], key=_rank)
        found.append(Problem("more", "there are more problems; mend these first.", file="."))
    return tuple(found)


def _is_warning(problem: Problem) -> bool:
    return severity_of(problem.code) != ERROR


def _rank(problem: Problem) -> tuple[bool, str, int, int, str, str]:
    is_manifest = problem.file == "plugin.yaml"
    place = (problem.file, problem.line, problem.column)
    return (not is_manifest, *place, problem.code, problem.message)
