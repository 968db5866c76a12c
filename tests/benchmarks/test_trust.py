"""Hashing, copying and checking trees of small files, which system calls dominate."""

from __future__ import annotations

import os
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest

from lionplug.files.limits import Limits
from lionplug.manifest.parse import parse_manifest
from lionplug.scopes import find_user_scope
from lionplug.trust.staging import live_digest, live_signature, stage
from lionplug.trust.store import Store
from tests.benchmarks.conftest import Worlds
from tests.benchmarks.paired import interleave, once
from tests.benchmarks.table import AtMost, Table

pytestmark = pytest.mark.benchmark

SECTION = "Trees of 1,000 files of 4 KiB"

FILES, SIZE = 1_000, 4_096


def hash_each(paths: list[str]) -> None:
    """Do what no check of the bytes can do without."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        sha256(os.read(descriptor, 65_536)).hexdigest()
        os.close(descriptor)


def copy_each(paths: list[str], target: Path) -> None:
    """Do what no copy can do without, nothing hashed."""
    target.mkdir()
    for number, path in enumerate(paths):
        source = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        copy = os.open(target / str(number), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC)
        data = os.read(source, 65_536)
        sha256(data).hexdigest()
        os.write(copy, data)
        os.close(source)
        os.close(copy)


def stat_each(paths: list[str]) -> None:
    for path in paths:
        os.stat(path)


def test_trees(table: Table, worlds: Worlds, tmp_path: Path) -> None:
    world = worlds.make("trees")
    files: dict[str, str | bytes] = {
        f"data/{number // 50:02}/{number:04}.bin": number.to_bytes(4, "big") * (SIZE // 4)
        for number in range(FILES)
    }
    folder = world.bundle("big", files)
    paths = [str(folder / path) for path in files]
    scope = find_user_scope("lionplug", str(world.user))
    read = partial(parse_manifest, host="lionplug")
    store = Store(scope)
    with stage(str(folder), scope, Limits(), read) as staged:
        stored = store.publish(staged)
    copies = iter(tmp_path / str(number) for number in range(100))

    def stage_it() -> None:
        with stage(str(folder), scope, Limits(), read):
            pass

    times = interleave(
        {
            "digest": once(lambda: live_digest(str(folder), Limits(), read)),
            "hash": once(lambda: hash_each(paths)),
            "stage": once(stage_it),
            "copy": once(lambda: copy_each(paths, next(copies))),
            "signature": once(lambda: live_signature(str(folder), Limits(), [])),
            "verify": once(lambda: store.verify(stored)),
            "stat": once(lambda: stat_each(paths)),
        },
        rounds=21,
    )
    reading, deleting = "digest of the tree, walk included", "staging, deleting it included"
    plain_loop = "floor: open, read and sha256 of each file"
    stat_floor = "floor: one `stat` for each file"
    rows: list[tuple[str, str, str, str, AtMost | None]] = [
        ("digest", "hash", reading, plain_loop, AtMost(1.6, gate=False)),
        ("stage", "copy", deleting, "floor: copy and hash each file", None),
        ("stage", "hash", deleting, plain_loop, None),
        ("signature", "stat", "live tree unchanged, by its signature", stat_floor, AtMost(2.0)),
        ("verify", "stat", "approved tree unchanged, by its seal", stat_floor, AtMost(2.0)),
    ]
    for top, bottom, what, against, aim in rows:
        table.compare(SECTION, (top, bottom), (what, against), times, aim)
