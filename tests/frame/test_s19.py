"""S19: lionplug used in a hostile clone executes none of the clone's files.

Each file of the clone that could be imported by mistake leaves a mark when it is. The
tests use an installed wheel, so that lionplug itself does not come from the checkout.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.frame.conftest import environment, run

#: Modules that lionplug, or what it depends on, imports after its first line.
DEFERRED = (
    "anyio",
    "asyncio",
    "attr",
    "attrs",
    "click",
    "dataclasses",
    "difflib",
    "enum",
    "filelock",
    "inspect",
    "json",
    "jsonschema",
    "logging",
    "packaging",
    "pluggy",
    "re",
    "re2",
    "referencing",
    "rich",
    "rpds",
    "shlex",
    "shutil",
    "subprocess",
    "sysconfig",
    "tempfile",
    "typing",
    "yaml",
)
MANIFEST = """\
name: evil
version: '1.0'
lionplug: '>=0'
capabilities:
  tools:
    - name: run
      target: tools.py:run
"""


class Clone:
    """A repository that someone else wrote, with the person standing in it."""

    def __init__(self, tmp_path: Path, bin_folder: Path) -> None:
        self.mark = tmp_path / "executed"
        self.home = tmp_path / "home"
        self.home.mkdir(mode=0o700)
        self.path = self.home / "clone"
        self.path.mkdir()
        (self.path / ".git").mkdir()
        self.bin = bin_folder
        trap = f"with open({str(self.mark)!r}, 'a') as mark:\n    print(__file__, file=mark)\n"
        for name in DEFERRED:
            (self.path / f"{name}.py").write_text(trap)
        for folder in ("lionplug.bundles", "bundles", ".lionplug/plugins/evil"):
            (self.path / folder).mkdir(parents=True)
            (self.path / folder / "__init__.py").write_text(trap)
        (self.path / ".lionplug/plugins/evil/plugin.yaml").write_text(MANIFEST)
        (self.path / ".lionplug/plugins/evil/tools.py").write_text(trap + "def run(): ...\n")

    def run(
        self,
        *arguments: str,
        cwd: Path | None = None,
        stdin: str = "",
        variables: dict[str, str] | None = None,
    ) -> str:
        program, *rest = arguments
        return run(
            [str(self.bin / program), *rest],
            cwd=cwd or self.path,
            env=environment(self.home, **(variables or {})),
            stdin=stdin,
        )

    def executed(self) -> list[str]:
        if not self.mark.exists():
            return []
        return [Path(line).name for line in self.mark.read_text().splitlines()]


@pytest.fixture
def clone(tmp_path: Path, installed: Path) -> Clone:
    return Clone(tmp_path, installed)


def test_s19_traps_work(clone: Clone) -> None:
    clone.run("python", "-c", "import yaml, json")
    assert clone.executed() == ["yaml.py", "json.py"]


@pytest.mark.parametrize("variables", [{}, {"PYTHONPATH": "."}], ids=["", "PYTHONPATH=."])
@pytest.mark.parametrize("command", [["lionplug"], ["python", "-m", "lionplug"]], ids=" ".join)
def test_s19_command_in_a_clone(
    clone: Clone, command: list[str], variables: dict[str, str]
) -> None:
    if variables and command == ["lionplug"]:
        pytest.skip("whoever sets PYTHONPATH for a script sets what it imports at its start")
    listed = json.loads(clone.run(*command, "list", "--json", variables=variables))
    assert [(plugin["name"], plugin["state"]) for plugin in listed] == [("evil", "untrusted")]
    assert "evil" in clone.run(*command, "info", "evil", variables=variables)
    assert clone.run(*command, "digest", ".lionplug/plugins/evil", variables=variables).startswith(
        "lp1:"
    )
    assert clone.executed() == []


SESSION = """\
import os, lionplug
os.chdir(os.environ["CLONE"])
host = lionplug.Host("lionplug", version="1.0")
print([(plugin.name, plugin.state) for plugin in host.plugins.all])
with host.review(host.plugins["evil"]) as review:
    print(review.disclosure.name)
print(list(host.tools))
host.close()
"""
PRINTED = "[('evil', 'untrusted')]\nevil\n[]\n"


def test_s19_program_that_enters_a_clone(clone: Clone) -> None:
    assert (
        clone.run("python", "-c", SESSION, cwd=clone.home, variables={"CLONE": str(clone.path)})
        == PRINTED
    )
    assert clone.executed() == []


def test_s19_interpreter_session_that_enters_a_clone(clone: Clone) -> None:
    # A session needs an empty line after a block.
    lines = SESSION.replace("print(list", "\nprint(list")
    printed = clone.run(
        "python", "-i", "-q", cwd=clone.home, stdin=lines, variables={"CLONE": str(clone.path)}
    )
    assert printed == PRINTED
    assert clone.executed() == []


def test_s19_interpreter_that_starts_in_a_clone(clone: Clone) -> None:
    assert clone.run("python", "-c", SESSION, variables={"CLONE": str(clone.path)}) == PRINTED
    assert clone.executed() == []
