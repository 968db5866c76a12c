"""Fixtures for all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import World
from tests.support.results import ResultsPage


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
