"""Fixtures for all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support import World
from tests.support.results import ResultsPage

# An ordinary run plays the same examples everywhere, so that a change is refused for what it
# does and never for another's luck; LIONPLUG_SEARCH=1 plays new ones. Two busy cores keep no
# deadline.
settings.register_profile("ordinary", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None)
settings.load_profile("search" if os.environ.get("LIONPLUG_SEARCH") else "ordinary")


def pytest_configure(config: pytest.Config) -> None:
    """Write the outcomes to the page that ``make`` names, in the process that has them all."""
    page = os.environ.get("LIONPLUG_RESULTS_PAGE")
    if page and not hasattr(config, "workerinput"):
        title = os.environ["LIONPLUG_RESULTS_TITLE"]
        config.pluginmanager.register(ResultsPage(Path(page), title))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A fresh world whose project is the working directory."""
    os.chmod(tmp_path, 0o700)
    world = World(tmp_path)
    monkeypatch.chdir(world.project)
    yield world
    for host in world.hosts:
        host.close()
