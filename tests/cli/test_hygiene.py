"""The process of the command loads nothing from where it stands (security rule S19)."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.place import Place

Greeter = Callable[..., Path]

PLANTED = [
    "yaml", "click", "rich", "attr", "attrs", "json", "pluggy", "jsonschema", "filelock", "anyio",
    "packaging", "re2", "sitecustomize_", "importlib_metadata", "markdown_it", "pygments",
    "colorama", "lionplug_hookspecs", "idna", "sniffio", "unicodedata", "termios",
]  # fmt: skip


@pytest.fixture
def clone(place: Place, greeter: Greeter) -> Place:
    """A hostile checkout: every import of its modules leaves a mark."""
    greeter()
    for name in PLANTED:
        (place.project / f"{name}.py").write_text(
            f"open({str(place.marker)!r}, 'a').write({name!r})\nraise ImportError\n"
        )
    for folder in ("lionplug.bundles", "rich"):
        (place.project / folder).mkdir(parents=True)
        (place.project / folder / "__init__.py").write_text(
            f"open({str(place.marker)!r}, 'a').write({folder!r})\n"
        )
    return place


COMMANDS = [["list"], ["info", "greeter"], ["trust", "greeter"], ["call", "greet"], ["--help"]]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_s19_python_m_in_a_hostile_checkout(clone: Place, command: list[str]) -> None:
    program = [sys.executable, "-m", "lionplug"]
    result = clone.outside(*command, program=program)
    assert not clone.marker.exists(), clone.marker.read_text()
    assert result.code == (1 if command[0] in ("trust", "call") else 0), result


@pytest.mark.parametrize("path", [".", "", ":/usr/lib", "PROJECT"])
def test_s19_the_script_with_a_path_that_names_the_checkout(clone: Place, path: str) -> None:
    script = shutil.which("lionplug", path=str(Path(sys.executable).parent))
    if script is None:
        pytest.skip("lionplug is not installed as a script beside this interpreter")
    # What the interpreter itself imports at its start from PYTHONPATH is beyond a program.
    for name in ("json", "unicodedata", "importlib_metadata"):
        (clone.project / f"{name}.py").unlink()
    value = path.replace("PROJECT", str(clone.project))
    for command in (["list"], ["call", "greet"]):
        clone.outside(*command, program=[script], PYTHONPATH=value)
        assert not clone.marker.exists(), clone.marker.read_text()


def test_no_heavy_module_is_loaded_for_help(place: Place) -> None:
    code = (
        "import sys; from lionplug.cli.main import main; main(['--help'])\n"
        "print(sorted({'yaml', 'rich', 'jsonschema', 'anyio'} & set(sys.modules)))"
    )
    result = place.outside(program=[sys.executable, "-c", code])
    assert result.out.splitlines()[-1] == "[]", result
