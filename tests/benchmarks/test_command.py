"""What the command takes to answer."""

from __future__ import annotations

import pytest

from tests.benchmarks.conftest import Worlds
from tests.benchmarks.paired import interleave, process
from tests.benchmarks.places import Installation, approve_all, write_tools
from tests.benchmarks.table import Table

pytestmark = pytest.mark.benchmark

SECTION = "Command"


def test_list(table: Table, worlds: Worlds, installation: Installation) -> None:
    world = worlds.make("command")
    write_tools(world, 100)
    approve_all(world, store=[])
    env = installation.environment(world.user.parent)
    command = [installation.python, str(installation.script)]
    times = interleave(
        {
            "list": process([*command, "list"], env, world.project),
            "version": process([*command, "--version"], env, world.project),
            "click": process(installation.run("import click"), env, world.project),
        },
        rounds=21,
        warm_up=2,
    )
    against = "`python -c 'import click'`"
    table.compare(
        SECTION, ("list", "click"), ("`lionplug list`, 100 approved bundles", against), times
    )
    table.compare(SECTION, ("version", "click"), ("`lionplug --version`", against), times)
