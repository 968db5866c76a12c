"""On a system without POSIX owners and modes, one message says why nothing works (S40)."""

from __future__ import annotations

import importlib
import os

import pytest

import lionplug.files


def test_s40_importing_on_another_system_fails_with_one_message(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(os, "name", "nt")
        with pytest.raises(ImportError) as caught:
            importlib.reload(lionplug.files)
    assert str(caught.value) == (
        "lionplug needs owners, modes and descriptors as POSIX has them (Linux, macOS, BSD); "
        "on this system (nt) it can't tell who may change a plugin"
    )
    importlib.reload(lionplug.files)
