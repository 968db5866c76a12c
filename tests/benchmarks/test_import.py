"""What a program pays at its start."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pluggy
import pytest

import lionplug
from tests.benchmarks.paired import Round, interleave, loop, process
from tests.benchmarks.places import Installation
from tests.benchmarks.table import AtMost, Table

pytestmark = pytest.mark.benchmark

SECTION = "Start of a program"

PROGRAMS = {
    "bare": "pass",
    "pluggy": "import pluggy",
    "lionplug": "import lionplug",
    "Host": "from lionplug import Host",
    "constructor": "from lionplug import Host; Host('app', version='1.0')",
    "hookimpl": "from lionplug import hookimpl",
    "question": "from lionplug import Host; list(Host('app', version='1.0').plugins)",
}
TEXTS = {
    "lionplug": "`import lionplug`",
    "Host": "`from lionplug import Host`",
    "constructor": "the same and `Host(...)`",
    "hookimpl": "`from lionplug import hookimpl`",
    "question": "`Host(...)` and the first question to it, no plugins",
}
AIMS = {"lionplug": AtMost(0.10), "Host": AtMost(0.25), "constructor": AtMost(0.25)}


def test_import(table: Table, installation: Installation, tmp_path: Path) -> None:
    times = interleave(
        {
            name: process(installation.run(code), installation.environment(), tmp_path)
            for name, code in PROGRAMS.items()
        },
        rounds=41,
        warm_up=2,
    )

    def above_bare(name: str) -> Callable[[Round], float]:
        return lambda one: one[name] - one["bare"]

    def of_pluggy(name: str) -> Callable[[Round], float]:
        return lambda one: above_bare(name)(one) / above_bare("pluggy")(one)

    for name, text in TEXTS.items():
        table.add(
            SECTION,
            text,
            "`import pluggy`, both above a bare start",
            times.ratio(of_pluggy(name)),
            (times.middle(above_bare(name)), times.middle(above_bare("pluggy"))),
            AIMS.get(name),
        )


def test_constructor(table: Table) -> None:
    times = interleave(
        {
            "ours": loop("Host('app', version='1.0')", 200, Host=lionplug.Host),
            "pluggy": loop("PluginManager('app')", 200, PluginManager=pluggy.PluginManager),
        },
        rounds=51,
    )
    table.compare(
        SECTION, ("ours", "pluggy"), ("one more `Host(...)`", "`pluggy.PluginManager(...)`"), times
    )
