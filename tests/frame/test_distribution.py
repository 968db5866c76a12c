"""What is built and installed is the source tree, and it works outside of it."""

from __future__ import annotations

import configparser
import json
import tarfile
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

import lionplug
from tests.frame.conftest import ROOT, environment, run

ROOTS = {
    "lionplug": ROOT / "lionplug",
    "lionplug_hookspecs": ROOT / "hookspecs/lionplug_hookspecs",
    "lionplug_contrib": ROOT / "contrib/lionplug_contrib",
}
#: Modules that cost a noticeable part of a millisecond; a host pays for them only when it
#: first asks something.
HEAVY = {
    "asyncio",
    "dataclasses",
    "enum",
    "importlib.metadata",
    "inspect",
    "json",
    "logging",
    "pathlib",
    "re",
    "typing",
}


def source_files() -> set[str]:
    return {
        f"{name}/{path.relative_to(folder).as_posix()}"
        for name, folder in ROOTS.items()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_packages_in_setup_cfg_are_the_folders() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    listed = config["options"]["packages"].split()
    folders = {path.rpartition("/")[0].replace("/", ".") for path in source_files()}
    assert sorted(listed) == sorted(folders)
    assert listed == sorted(listed)


def test_every_folder_with_modules_is_a_package() -> None:
    files = source_files()
    folders = {path.rpartition("/")[0] for path in files if path.endswith(".py")}
    assert {folder for folder in folders if f"{folder}/__init__.py" not in files} == set()


@pytest.mark.parametrize("name", ROOTS)
def test_package_is_typed(name: str) -> None:
    assert f"{name}/py.typed" in source_files()


def test_wheel_holds_the_source_tree_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        assert names == source_files()
        for name in sorted(names):
            package, _, rest = name.partition("/")
            assert archive.read(name) == (ROOTS[package] / rest).read_bytes(), name


def test_wheel_metadata(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        folder = f"lionplug-{lionplug.__version__}.dist-info"
        metadata = HeaderParser().parsestr(archive.read(f"{folder}/METADATA").decode())
        entry_points = archive.read(f"{folder}/entry_points.txt").decode()
        assert f"{folder}/licenses/LICENSE" in archive.namelist()
    assert metadata["Name"] == "lionplug"
    assert metadata["Version"] == lionplug.__version__
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "pluggy<2,>=1.6" in metadata.get_all("Requires-Dist", [])
    assert entry_points.strip() == "[console_scripts]\nlionplug = lionplug.cli.main:main"


def test_sdist_holds_what_a_build_needs(dist: Path) -> None:
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"setup.cfg", "pyproject.toml", "README.md", "LICENSE"} <= names
    sources = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("*/**/py.typed")}
    assert {name for name in sources if name.startswith(("lionplug/", "hookspecs/"))} <= names


@pytest.mark.parametrize("command", [["lionplug"], ["python", "-m", "lionplug"]], ids=" ".join)
def test_installed_command_tells_its_version(
    installed: Path, tmp_path: Path, command: list[str]
) -> None:
    program = [str(installed / command[0]), *command[1:], "--version"]
    output = run(program, cwd=tmp_path, env=environment(tmp_path))
    assert lionplug.__version__ in output
    assert output.count("\n") == 1


def test_import_loads_nothing_but_itself(installed: Path, tmp_path: Path) -> None:
    code = (
        "import sys; before = set(sys.modules); import lionplug; "
        "after = set(sys.modules) - before; import json; "
        "print(json.dumps([lionplug.__file__, sorted(after), sorted(sys.stdlib_module_names)]))"
    )
    output = run([str(installed / "python"), "-c", code], cwd=tmp_path, env=environment(tmp_path))
    file, loaded, standard = json.loads(output)
    assert Path(file).is_relative_to(installed.parent)
    assert [name for name in loaded if name.partition(".")[0] not in standard] == ["lionplug"]
    assert HEAVY.intersection(loaded) == set()


def test_import_takes_a_tenth_of_the_time_of_pluggy(installed: Path, tmp_path: Path) -> None:
    def seconds(module: str) -> float:
        code = f"from time import perf_counter as now; t = now(); import {module}; print(now() - t)"
        python = str(installed / "python")
        return float(run([python, "-c", code], cwd=tmp_path, env=environment(tmp_path)))

    # In turns, and the best of each, so that a busy machine slows both or neither.
    times = [(seconds("lionplug"), seconds("pluggy")) for _ in range(10)]
    ours, theirs = (min(column) for column in zip(*times, strict=True))
    assert ours <= theirs / 10, f"lionplug {ours * 1e3:.3f} ms, pluggy {theirs * 1e3:.3f} ms"
