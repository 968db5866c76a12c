"""A record is pruned only for a bundle that was really taken away."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lionplug.trust.gone import is_gone


def test_deleted_bundle_is_gone(tmp_path: Path) -> None:
    location = tmp_path / "hello"
    location.mkdir()
    assert not is_gone(str(location))

    location.rmdir()

    assert is_gone(str(location))
    assert is_gone(str(location), os.stat(tmp_path).st_dev)


def test_bundle_whose_directory_above_is_missing_is_not_gone(tmp_path: Path) -> None:
    assert not is_gone(str(tmp_path / "unmounted" / "hello"))


def test_bundle_on_another_device_than_it_was_is_not_gone(tmp_path: Path) -> None:
    """An empty mount point lies on the device of the directory that it covers."""
    assert not is_gone(str(tmp_path / "hello"), os.stat(tmp_path).st_dev + 1)


def test_what_is_there_is_not_gone_whatever_it_is(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("nowhere")

    assert not is_gone(str(tmp_path / "file"))
    assert not is_gone(str(tmp_path / "link"))
    assert not is_gone(str(tmp_path / "file" / "hello"))


@pytest.mark.parametrize("denied", ["lstat", "stat"])
def test_what_may_not_be_looked_at_is_not_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, denied: str
) -> None:
    def refuse(path: str, **options: object) -> os.stat_result:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(f"lionplug.trust.gone.os.{denied}", refuse)

    assert not is_gone(str(tmp_path / "hello"))


def test_bundle_in_an_unreadable_directory_is_not_gone(tmp_path: Path) -> None:
    above = tmp_path / "plugins"
    above.mkdir(mode=0)
    try:
        if os.access(above, os.X_OK, effective_ids=True):
            pytest.skip("this account may look at everything")
        assert not is_gone(str(above / "hello"))
    finally:
        above.chmod(0o700)
