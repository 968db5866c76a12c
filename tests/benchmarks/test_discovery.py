"""Finding bundles: from nothing, and again in the same process."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest
import yaml

from lionplug.discovery.bundles import BundleScanner
from lionplug.discovery.found import ScopeFolder
from lionplug.manifest.parse import parse_manifest
from tests.benchmarks.conftest import Worlds
from tests.benchmarks.paired import interleave, once
from tests.benchmarks.table import AtMost, Table

pytestmark = pytest.mark.benchmark

SECTION = "Discovery"

MANIFEST = """\
name: bundle-{number:04}
version: 1.{number}.0
description: Bundle number {number}, with the usual number of lines.
lionplug: ">=0.1"
requires: ["example-library>=2"]
capabilities:
  tools:
    - name: search_{number}
      target: tools/search.py:search
      description: Search something and return what was found.
    - name: fetch_{number}
      target: tools/fetch.py:fetch
      description: Fetch something by its name.
  hookimpls:
    - hook: session_start
      target: hooks/session.py:session_start
    - hook: session_end
      target: hooks/session.py:session_end
      trylast: true
  agents:
    - agents/researcher.md
    - agents/reviewer.md
  playbooks:
    - playbooks/survey.playbook.yaml
x-homepage: https://bundles.example/{number}
x-licence: Apache-2.0
"""


def folder_with(worlds: Worlds, count: int) -> Path:
    world = worlds.make(f"discovery-{count}")
    for number in range(count):
        world.bundle(f"bundle-{number:04}", manifest=MANIFEST.format(number=number))
    return world.plugins()


def stat_each(folder: Path) -> int:
    """Do what no scan can do without: list the folder, look at each manifest."""
    count = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            os.stat(f"{entry.path}/plugin.yaml")
            count += 1
    return count


def load_each(folder: Path) -> int:
    """Do what others do: read every manifest with PyYAML's C loader."""
    count = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            data = Path(entry.path, "plugin.yaml").read_bytes()
            yaml.load(data, Loader=yaml.CSafeLoader)  # as the peers do; the files are ours
            count += 1
    return count


@pytest.mark.parametrize("bundles", [100, 1_000])
def test_discovery(table: Table, worlds: Worlds, bundles: int) -> None:
    folder = folder_with(worlds, bundles)
    user = folder.parent
    scopes = [ScopeFolder(kind="user", directory=str(user), root=str(user), rank=0)]

    def scanner() -> BundleScanner:
        return BundleScanner(partial(parse_manifest, host="lionplug"))

    def cold() -> None:
        scanner().scan(scopes)

    warm = scanner()
    found = warm.scan(scopes).bundles
    assert [problem for one in found for problem in one.problems] == []
    assert len(found) == bundles == stat_each(folder) == load_each(folder)
    times = interleave(
        {
            "cold": once(cold),
            "warm": once(lambda: warm.scan(scopes)),
            "yaml": once(lambda: load_each(folder)),
            "stat": once(lambda: stat_each(folder)),
        },
        rounds=31 if bundles == 100 else 15,
    )
    table.compare(
        SECTION,
        ("cold", "yaml"),
        (f"first scan of {bundles:,} bundles", "PyYAML's C loader over the same files"),
        times,
    )
    table.compare(
        SECTION,
        ("warm", "stat"),
        (f"second scan of {bundles:,} bundles", "floor: `scandir` and one `stat` each"),
        times,
        AtMost(1.5),
    )
