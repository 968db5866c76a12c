"""The command ``greeter``, made with click."""

from __future__ import annotations

import click

from greeter_host import greet, make_host
from lionplug.cli.app import make_cli


@click.group()
def main() -> None:
    """Greet people."""


@main.command("hello")
@click.argument("name")
def hello(name: str) -> None:
    """Greet NAME."""
    host = make_host()
    click.echo(greet(host, name))
    waiting = len(host.plugins.needs_attention)
    if waiting:
        click.echo(f"{waiting} plugin(s) need you; run '{host.command} list'", err=True)


main.add_command(make_cli(make_host, name="plugin"))

if __name__ == "__main__":
    main(prog_name="greeter")
