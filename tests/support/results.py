"""Writing the outcomes of a test run as a page of the documentation."""

from __future__ import annotations

import platform
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path

import pytest


class ResultsPage:
    """A pytest plugin that writes one table row for each test of a run.

    :param path: The page.
    :param title: Its title.
    """

    def __init__(self, path: Path, title: str) -> None:
        self._path = path
        self._title = title
        self._rows: dict[str, tuple[str, float]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the outcome of the call, or of a set-up that ended the test."""
        outcome, seconds = self._rows.get(report.nodeid, ("passed", 0.0))
        if report.outcome != "passed":
            outcome = report.outcome
        self._rows[report.nodeid] = (outcome, seconds + report.duration)

    def pytest_sessionfinish(self) -> None:
        """Write the page."""
        passed = sum(outcome == "passed" for outcome, _ in self._rows.values())
        lines = [
            f"# {self._title}",
            "",
            "Written by the run itself; nothing here is typed by hand.",
            "",
            f"{passed} of {len(self._rows)} passed on {date.today()}: Python "
            f"{platform.python_version()}, pluggy {version('pluggy')}, {sys.platform}.",
            "",
            "| test | outcome | seconds |",
            "|---|---|---|",
        ]
        for name, (outcome, seconds) in sorted(self._rows.items()):
            lines.append(f"| `{name.removeprefix('tests/')}` | {outcome} | {seconds:.1f} |")
        self._path.write_text("\n".join(lines) + "\n")
