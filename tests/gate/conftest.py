"""Fixtures for the tests of gate and hook manager."""

from __future__ import annotations

from tests.activation.conftest import bundles

__all__ = ["bundles"]
