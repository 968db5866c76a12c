"""Fixtures for measuring, and the table at the end of the run."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from tests.benchmarks.places import Installation
from tests.benchmarks.table import Table
from tests.support import World

#: Names the file that the table of a complete run is written to.
PAGE = "LIONPLUG_PERFORMANCE_PAGE"

_TABLE = pytest.StashKey[Table]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_TABLE] = Table()


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Fail a test whose rows miss their aims by far, once all of them are kept."""
    rows = pyfuncitem.config.stash[_TABLE].rows
    before = len(rows)
    result = yield
    failures = [failure for row in rows[before:] if (failure := row.failure())]
    if failures:
        pytest.fail("\n".join(failures), pytrace=False)
    return result


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    table = terminalreporter.config.stash[_TABLE]
    if table.rows:
        terminalreporter.section("measured")
        terminalreporter.write_line(table.text())
        page = os.environ.get(PAGE)
        if page:
            Path(page).write_text(table.page(), encoding="utf-8")
            terminalreporter.write_line(f"\nwritten: {page}")


@pytest.fixture(scope="session")
def table(pytestconfig: pytest.Config) -> Table:
    return pytestconfig.stash[_TABLE]


@pytest.fixture(scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation(tmp_path_factory.mktemp("installation") / "environment")


class Worlds:
    """Several private worlds for one comparison."""

    def __init__(self, root: Path) -> None:
        root.chmod(0o700)
        self._root = root
        self._made: list[World] = []

    def make(self, name: str) -> World:
        """Return a new, empty world."""
        (self._root / name).mkdir(mode=0o700)
        world = World(self._root / name)
        self._made.append(world)
        return world

    def close(self) -> None:
        """Close all hosts."""
        for world in self._made:
            for host in world.hosts:
                host.close()


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worlds]:
    """Make worlds; the working directory is a project without plugins."""
    made = Worlds(tmp_path_factory.mktemp("worlds"))
    before = Path.cwd()
    os.chdir(made.make("here").project)
    yield made
    os.chdir(before)
    made.close()
