"""Discovery of bundles: whatever lies in ``plugins/``, a scan ends and raises nothing."""

from __future__ import annotations

import os
import socket
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from lionplug.discovery import bundles
from lionplug.discovery.bundles import BundleScanner, Scan
from lionplug.discovery.found import ScopeFolder
from lionplug.files.opening import Directory
from lionplug.manifest.parse import parse_manifest

GOOD = b"name: good\nversion: 1.0.0\nlionplug: '>=0'\n"


@pytest.fixture
def scope(tmp_path: Path) -> ScopeFolder:
    (tmp_path / "project" / ".lionplug" / "plugins").mkdir(parents=True)
    root = str(tmp_path / "project")
    return ScopeFolder(kind="project", directory=f"{root}/.lionplug", root=root, rank=1)


@pytest.fixture
def scanner() -> BundleScanner:
    return BundleScanner(partial(parse_manifest, host="lionplug"))


def plugins(scope: ScopeFolder) -> Path:
    return Path(scope.directory) / "plugins"


def add(scope: ScopeFolder, name: str, manifest: bytes = GOOD) -> Path:
    folder = plugins(scope) / name
    folder.mkdir()
    (folder / "plugin.yaml").write_bytes(manifest)
    return folder


def names(scan: Scan) -> list[str]:
    return [found.directory for found in scan.bundles]


def test_a_bundle_is_found_with_its_manifest(scope: ScopeFolder, scanner: BundleScanner) -> None:
    folder = add(scope, "good")
    (found,) = scanner.scan([scope]).bundles
    assert found.manifest is not None
    assert (found.name, found.location, found.problems) == ("good", str(folder), ())


def test_a_directory_without_manifest_is_ignored(
    scope: ScopeFolder, scanner: BundleScanner
) -> None:
    (plugins(scope) / "work-in-progress").mkdir()
    assert scanner.scan([scope]) == Scan(bundles=(), notices=())


def test_a_scope_without_plugins_is_empty(tmp_path: Path, scanner: BundleScanner) -> None:
    nowhere = ScopeFolder(kind="user", directory=str(tmp_path / "x"), root="/", rank=0)
    assert scanner.scan([nowhere]) == Scan(bundles=(), notices=())


def test_a_bad_manifest_is_found_whole_with_its_problems(
    scope: ScopeFolder, scanner: BundleScanner
) -> None:
    add(scope, "bad", b"name: good\nversion: 1.0.0\nplaybook: x\nname: again\n")
    add(scope, "good")
    bad, good = scanner.scan([scope]).bundles
    assert bad.manifest is None
    assert bad.name == "bad"
    assert all(problem.line for problem in bad.problems)
    assert good.manifest is not None


def test_names_that_begin_with_a_dot_are_ignored(
    scope: ScopeFolder, scanner: BundleScanner
) -> None:
    add(scope, ".hidden")
    assert names(scanner.scan([scope])) == []


@pytest.mark.parametrize("where", ["entry", "manifest"])
@pytest.mark.parametrize("kind", ["fifo", "socket", "dangling", "file", "directory", "device"])
def test_odd_nodes_neither_hang_nor_abort_the_scan(
    scope: ScopeFolder, scanner: BundleScanner, kind: str, where: str
) -> None:
    add(scope, "good")
    path = plugins(scope) / "odd"
    if where == "manifest":
        path.mkdir()
        path = path / "plugin.yaml"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        server = socket.socket(socket.AF_UNIX)
        here = Path.cwd()
        os.chdir(path.parent)  # the path of a socket is short
        try:
            server.bind(path.name)
        finally:
            os.chdir(here)
            server.close()
    elif kind == "dangling":
        path.symlink_to("nowhere")
    elif kind == "file":
        path.write_bytes(b"")
    elif kind == "directory":
        path.mkdir()
    elif os.geteuid() == 0:
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, 3))
    else:
        pytest.skip("only root can make a device node")
    started = time.monotonic()
    scan = scanner.scan([scope])
    assert time.monotonic() - started < 2
    assert "good" in names(scan)
    if where == "manifest":
        (odd,) = [found for found in scan.bundles if found.directory == "odd"]
        assert odd.manifest is None
        assert len(odd.problems) >= 1
    else:
        assert names(scan) == ["good"]


def test_an_unreadable_directory_is_found_as_invalid(
    scope: ScopeFolder, scanner: BundleScanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(scope, "closed")
    add(scope, "good")
    original = Directory.child

    def child(self: Directory, name: str) -> Directory:
        if name == "closed":
            raise PermissionError(13, "Permission denied")
        return original(self, name)

    monkeypatch.setattr(Directory, "child", child)
    closed, good = scanner.scan([scope]).bundles
    assert str(closed.problems[0]) == (
        "plugin.yaml: it can't be read (Permission denied). Check its owner and mode."
    )
    assert good.manifest is not None


def test_s_links_of_a_project_stay_inside_it(
    scope: ScopeFolder, scanner: BundleScanner, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "plugin.yaml").write_bytes(GOOD)
    inside = Path(scope.root) / "vendored"
    inside.mkdir()
    (inside / "plugin.yaml").write_bytes(GOOD)
    (plugins(scope) / "out").symlink_to(elsewhere)
    (plugins(scope) / "in").symlink_to(inside)
    (found,) = scanner.scan([scope]).bundles
    assert (found.directory, found.location) == ("in", str(inside))


def test_a_user_may_link_a_bundle_from_anywhere(
    scope: ScopeFolder, scanner: BundleScanner, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "plugin.yaml").write_bytes(GOOD)
    (plugins(scope) / "out").symlink_to(elsewhere)
    user = ScopeFolder(kind="user", directory=scope.directory, root=scope.root, rank=0)
    (found,) = scanner.scan([user]).bundles
    assert found.location == str(elsewhere)


def test_plugins_linked_to_the_root_of_the_disk_is_not_searched(
    scope: ScopeFolder, scanner: BundleScanner
) -> None:
    plugins(scope).rmdir()
    plugins(scope).symlink_to("/")
    scan = scanner.scan([scope])
    assert scan.bundles == ()
    assert scan.notices == (
        f"{plugins(scope)} is not searched: it is a link out of the project, to /. "
        "Move the plugins into the project or into your user scope.",
    )


def test_a_link_to_a_file_is_no_bundle(scope: ScopeFolder, scanner: BundleScanner) -> None:
    (plugins(scope) / "file").write_bytes(b"")
    (plugins(scope) / "link").symlink_to("file")
    assert scanner.scan([scope]) == Scan(bundles=(), notices=())


def test_one_location_met_twice_is_one_bundle(scope: ScopeFolder, scanner: BundleScanner) -> None:
    folder = add(scope, "good")
    (plugins(scope) / "again").symlink_to(folder)
    assert len(scanner.scan([scope]).bundles) == 1


def test_a_flood_of_directories_is_cut_with_one_notice(
    scope: ScopeFolder, scanner: BundleScanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(bundles.BUNDLES, "project", 3)
    for number in range(5):
        add(scope, f"p{number}")
    scan = scanner.scan([scope])
    assert names(scan) == ["p0", "p1", "p2"]
    assert scan.notices == (
        f"{plugins(scope)} holds 5 directories; only the first 3 in order of name were looked "
        "at. Remove what is no plugin.",
    )


@pytest.mark.long
def test_a_hundred_thousand_entries_are_scanned_in_seconds(
    scope: ScopeFolder, scanner: BundleScanner
) -> None:
    add(scope, "good")
    directory = os.open(plugins(scope), os.O_RDONLY)
    try:
        for number in range(100_000):
            os.close(os.open(f"f{number}", os.O_CREAT | os.O_WRONLY, dir_fd=directory))
        started = time.monotonic()
        scan = scanner.scan([scope])
        assert time.monotonic() - started < 10
    finally:
        os.close(directory)
    assert names(scan) == ["good"]
    assert scan.notices == ()


def test_more_entries_than_are_read_give_one_notice(
    scope: ScopeFolder, scanner: BundleScanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundles, "ENTRIES", 2)
    for number in range(4):
        add(scope, f"p{number}")
    scan = scanner.scan([scope])
    assert len(scan.bundles) == 2
    assert scan.notices == (
        f"{plugins(scope)} holds more than 2 entries; the rest was not looked at. "
        "Remove what is no plugin.",
    )


def test_bundles_that_vanish_during_the_scan_are_passed_over(
    scope: ScopeFolder, scanner: BundleScanner
) -> None:
    stop = threading.Event()

    def churn() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            folder = add(scope, f"p{number % 7}")
            (folder / "plugin.yaml").unlink()
            folder.rmdir()

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(200):
            for found in scanner.scan([scope]).bundles:
                assert found.manifest is not None or found.problems
    finally:
        stop.set()
        thread.join()


def test_an_unchanged_manifest_is_read_once(
    scope: ScopeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[bytes] = []

    def read(data: bytes) -> object:
        reads.append(data)
        return parse_manifest(data, host="lionplug")

    scanner = BundleScanner(read)  # type: ignore[arg-type]
    folder = add(scope, "good")
    first = scanner.scan([scope])
    assert scanner.scan([scope]).bundles[0] is first.bundles[0]
    assert len(reads) == 1
    stat = os.stat(folder / "plugin.yaml")
    (folder / "plugin.yaml").write_bytes(GOOD.replace(b"1.0.0", b"2.0.0"))
    os.utime(folder / "plugin.yaml", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    (found,) = scanner.scan([scope]).bundles
    assert found.manifest is not None
    assert found.manifest.version == "2.0.0"


def test_hostile_directory_names_are_kept_as_they_are(
    scope: ScopeFolder, scanner: BundleScanner
) -> None:
    for name in ("a\nb", "\x1b[31m", "-rf", "ä", "a b"):
        add(scope, name)
    bad = os.fsdecode(b"\xff\xfe")
    add(scope, bad)
    assert set(names(scanner.scan([scope]))) == {"a\nb", "\x1b[31m", "-rf", "ä", "a b", bad}


def test_a_manifest_of_nearly_the_right_name_is_told(
    scope: ScopeFolder, scanner: BundleScanner
) -> None:
    for name in ("a", "b", "c", "d"):
        (plugins(scope) / name).mkdir()
        (plugins(scope) / name / "plugin.yml").write_bytes(GOOD)
    scan = scanner.scan([scope])
    assert scan.bundles == ()
    assert scan.notices == (
        f"a, b, c and 1 more in {plugins(scope)}: the manifest is called plugin.yml, and only "
        "plugin.yaml is read; rename it",
    )
