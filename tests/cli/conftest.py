"""Fixtures of the tests of the command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.place import Place


@pytest.fixture
def place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Iterator[Place]:
    """A home and a project of their own."""
    found = Place(tmp_path, monkeypatch, capfd)
    yield found
    found.close()


@pytest.fixture
def greeter(place: Place) -> Callable[..., Path]:
    """Write a bundle into the user's own plugins."""
    return lambda **options: place.bundle(place.user_plugins, **options)
