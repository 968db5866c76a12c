"""Executable examples in Markdown: how ``README.md`` and ``docs/`` are kept true.

``docs/contributing.md`` describes the notation for authors. One page is one example: its
blocks are taken from top to bottom, in a new home directory that no other page sees.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,})(?P<language>[^`\s]*)[^`]*$")
_DIRECTIVE = re.compile(r"^<!-- (?P<word>file|skip): (?P<text>.+?) -->$")
_EXIT_STATUS = re.compile(r"\s#\s*exit status (\d+)$")
_SECONDS = 60


@dataclass(frozen=True)
class Block:
    """A fenced block, and the directive on the line before it."""

    language: str
    text: str
    line: int
    file: str | None = None
    skip: str | None = None

    @property
    def runs(self) -> bool:
        return self.skip is None and (
            self.file is not None or self.language in ("python", "console")
        )


@dataclass(frozen=True)
class Command:
    """One ``$`` line of a console block, with the output shown below it."""

    text: str
    output: tuple[str, ...]
    line: int

    @property
    def status(self) -> int:
        found = _EXIT_STATUS.search(self.text)
        return int(found[1]) if found else 0


def blocks(markdown: str) -> list[Block]:
    """Return the fenced blocks of a page in order."""
    found = []
    directive: re.Match[str] | None = None
    lines = enumerate(markdown.splitlines(), start=1)
    for number, line in lines:
        fence = _FENCE.match(line)
        if fence:
            body = []
            for _, inner in lines:
                if inner.rstrip() == fence["fence"]:
                    break
                body.append(inner)
            else:
                raise ValueError(f"line {number}: this block is never closed")
            given = {directive["word"]: directive["text"]} if directive else {}
            text = "".join(f"{inner}\n" for inner in body)
            found.append(Block(fence["language"], text, number, **given))
            directive = None
        elif line.strip():
            directive = _DIRECTIVE.match(line)
    return found


def commands(block: Block) -> Iterator[Command]:
    """Split a console block; a command goes on while its lines end in a backslash."""
    lines = block.text.splitlines()
    if lines and not lines[0].startswith("$ "):
        raise ValueError(f"line {block.line + 1}: a console block begins with a '$ command' line")
    index = 0
    while index < len(lines):
        start = index
        text = lines[index][2:]
        while text.endswith("\\"):
            index += 1
            text += "\n" + lines[index]
        index += 1
        shown = index
        while index < len(lines) and not lines[index].startswith("$ "):
            index += 1
        yield Command(text, tuple(lines[shown:index]), block.line + 1 + start)


def matches(shown: tuple[str, ...], actual: str) -> bool:
    """Compare output; ``...`` stands for any text in a line, alone on a line for any lines."""
    parts = [
        r"(?:.*\n)*"
        if line.strip() == "..."
        else re.escape(line.rstrip()).replace(r"\.\.\.", ".*") + r"\n"
        for line in shown
    ]
    lines = [line.rstrip() for line in actual.rstrip("\n").split("\n")]
    return re.fullmatch("".join(parts), "\n".join(lines) + "\n") is not None


class Home:
    """A new home directory with a working directory ``project`` below it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.project = home / "project"
        self.project.mkdir(parents=True)
        home.chmod(0o700)
        kept = {
            name: value
            for name, value in os.environ.items()
            if name.startswith(("COVERAGE_", "LC_")) or name in ("LANG", "TMPDIR")
        }
        scripts = os.path.dirname(sys.executable)
        self.environment = {
            **kept,
            "HOME": str(home),
            "PATH": os.pathsep.join([scripts, os.environ.get("PATH", os.defpath)]),
            "COLUMNS": "80",
            "NO_COLOR": "1",
            "TERM": "dumb",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def run(self, arguments: list[str]) -> tuple[int, str]:
        done = subprocess.run(
            arguments,
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        return done.returncode, done.stdout


def run_page(page: Path, home: Path) -> int:
    """Execute a page's examples.

    :param page: The Markdown file.
    :param home: A directory that doesn't exist yet.
    :returns: How many blocks were executed or written.
    :raises AssertionError: If one does not do what the page says; the message shows both.
    """
    place = Home(home)
    count = 0
    for block in blocks(page.read_text(encoding="utf-8")):
        if not block.runs:
            continue
        count += 1
        if block.file is not None:
            target = place.project / block.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            status, output = place.run([sys.executable, "-c", block.text])
            assert status == 0, f"{page.name}, line {block.line}: exit status {status}\n{output}"
        else:
            for command in commands(block):
                _run_command(page, command, place)
    return count


def _run_command(page: Path, command: Command, place: Home) -> None:
    where = f"{page.name}, line {command.line}: {command.text}"
    status, output = place.run(["/bin/sh", "-c", command.text])
    assert status == command.status, (
        f"{where}\nexpected exit status {command.status}, got {status}\n{output}"
    )
    if command.output and not matches(command.output, output):
        shown = "\n".join(command.output)
        raise AssertionError(f"{where}\n--- the page shows\n{shown}\n--- it printed\n{output}")
