"""Fixtures for all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A fresh world whose project is the working directory."""
    os.chmod(tmp_path, 0o700)
    world = World(tmp_path)
    monkeypatch.chdir(world.project)
    yield world
    for host in world.hosts:
        host.close()
