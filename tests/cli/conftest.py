"""Fixtures of the tests of the command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import click
import pytest

from lionplug import Host
from lionplug.cli.app import make_cli
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


@pytest.fixture
def application_of(place: Place, capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command below ``li plugin``, of the host ``app``, and return what it prints."""
    user = place.home / ".app"

    def run(*arguments: str) -> str:
        application = click.Group("li")
        make_host = partial(Host, "app", version="1.0", command="li plugin", user_dir=str(user))
        application.add_command(make_cli(make_host))
        with pytest.raises(SystemExit) as end:
            application.main(args=["plugin", *arguments], prog_name="li")
        assert not end.value.code
        return capfd.readouterr().out

    return run
