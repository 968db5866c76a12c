"""Fixtures for the tests of activation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.activation.support import Bundles


@pytest.fixture
def bundles(tmp_path: Path) -> Iterator[Bundles]:
    """Make and attach bundles."""
    made = Bundles(tmp_path)
    yield made
    made.close()
