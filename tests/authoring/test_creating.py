"""Writing a new bundle: it works, and nothing that stood there is touched."""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_IMODE

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lionplug.authoring import creating
from lionplug.authoring.check import check_bundle
from lionplug.authoring.creating import require_name, write_bundle
from lionplug.authoring.template import TEMPLATES, files_of, module_name
from lionplug.errors import LionplugError, UsageError
from lionplug.manifest.names import PLUGIN_NAME, is_plugin_name
from lionplug.manifest.parse import parse_manifest
from lionplug.manifest.specifiers import contains

FILES = {"a.txt": "one\n", "b/c/d.txt": "two\n"}


def tree(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*"))


@settings(max_examples=25, deadline=None)
@given(name=st.from_regex(PLUGIN_NAME, fullmatch=True).filter(is_plugin_name))
def test_every_name_gives_a_bundle_that_check_accepts(
    tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    root = tmp_path_factory.mktemp("new") / name
    write_bundle(str(root), files_of(name, host="lionplug", version="0.1.0", command="lionplug"))
    report = check_bundle(str(root), host="lionplug")
    assert (report.name, report.problems) == (name, ())
    for path in root.rglob("*.py"):
        compile(path.read_text(), str(path), "exec")


@given(name=st.from_regex(PLUGIN_NAME, fullmatch=True))
def test_the_folder_of_the_code_can_be_imported(name: str) -> None:
    assert module_name(name).isidentifier()


@pytest.mark.parametrize("version", ["0.1.0", "1", "2.0.0.dev3", "1.0rc1", "1!2.0+local.1"])
def test_the_range_holds_the_host_that_wrote_it(version: str) -> None:
    text = files_of("a", host="lionagi", version=version, command="li plugin")["plugin.yaml"]
    manifest = parse_manifest(text.encode(), host="lionagi")
    assert contains(manifest.hosts["lionagi"], version)


@pytest.mark.parametrize("name", ["", "A", "a b", "../a", "-a", "a" * 33, "user", "a\n", "ä"])
def test_a_name_that_no_plugin_can_have_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="can't be the name of a plugin: expected"):
        require_name(name)


def test_the_command_knows_the_templates() -> None:
    from lionplug.cli.creating import TEMPLATES as named

    assert tuple(TEMPLATES) == named


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077])
def test_s33_nobody_else_can_write_what_is_new(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        write_bundle(str(tmp_path / "new"), FILES)
    finally:
        os.umask(before)
    root = tmp_path / "new"
    assert tree(root) == ["a.txt", "b", "b/c", "b/c/d.txt"]
    assert (root / "b/c/d.txt").read_text() == "two\n"
    for path in [root, *root.rglob("*")]:
        assert S_IMODE(path.stat().st_mode) == (0o755 if path.is_dir() else 0o644) & ~umask


@pytest.mark.parametrize("kind", ["directory", "file", "link", "dangling"])
def test_s33_what_is_there_already_is_left_alone(tmp_path: Path, kind: str) -> None:
    target, elsewhere = tmp_path / "new", tmp_path / "elsewhere"
    if kind == "directory":
        target.mkdir()
    elif kind == "file":
        target.write_text("mine")
    else:
        target.symlink_to(elsewhere)
        if kind == "link":
            elsewhere.mkdir()
    before = tree(tmp_path)
    with pytest.raises(UsageError, match="is there already, and nothing was written"):
        write_bundle(str(target), FILES)
    assert tree(tmp_path) == before


def test_s33_a_link_planted_while_it_is_written_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, elsewhere = tmp_path / "new", tmp_path / "elsewhere"
    elsewhere.mkdir()
    make = creating._make

    def make_and_plant(*arguments: object) -> None:
        make(*arguments)  # type: ignore[arg-type]
        target.rmdir()
        target.symlink_to(elsewhere)

    monkeypatch.setattr(creating, "_make", make_and_plant)
    with pytest.raises(LionplugError):
        write_bundle(str(target), FILES)
    assert tree(elsewhere) == []


def test_s33_a_link_planted_in_the_new_directory_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, elsewhere = tmp_path / "new", tmp_path / "elsewhere"
    elsewhere.mkdir()
    make = creating._make

    def make_and_plant(*arguments: object) -> None:
        make(*arguments)  # type: ignore[arg-type]
        (target / "b").symlink_to(elsewhere)
        (target / "a.txt").symlink_to(elsewhere / "a.txt")

    monkeypatch.setattr(creating, "_make", make_and_plant)
    with pytest.raises(LionplugError):
        write_bundle(str(target), FILES)
    assert tree(elsewhere) == []


def test_s33_a_failure_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(directory: object, name: str, data: object, mode: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(creating, "write_at", fail)
    with pytest.raises(LionplugError, match="can't be written: No space left on device"):
        write_bundle(str(tmp_path / "new"), FILES)
    assert tree(tmp_path) == []


def test_what_holds_the_directory_must_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist; make it first"):
        write_bundle(str(tmp_path / "no" / "new"), FILES)
    with pytest.raises(UsageError, match="is there already"):
        write_bundle("/", FILES)
