"""Shell completion: scripts, and candidates from data alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lionplug.cli import completion
from tests.cli.place import Place, Result

Greeter = Callable[..., Path]


def complete(place: Place, line: str, **environment: Any) -> Result:
    words = line.split(" ")
    return place.outside(
        _LIONPLUG_COMPLETE="bash_complete",
        COMP_WORDS=line,
        COMP_CWORD=str(len(words) - 1),
        **environment,
    )


def candidates(place: Place, line: str) -> list[str]:
    result = complete(place, line)
    assert result.err == ""
    return [item.partition(",")[2] for item in result.out.splitlines() if item]


def test_commands_plugins_tools_and_files_complete(place: Place, greeter: Greeter) -> None:
    greeter()
    greeter(name="grader", manifest="name: grader\nnope: 1\n")
    assert "list" in candidates(place, "lionplug li")
    assert candidates(place, "lionplug info gr") == ["grader", "greeter"]
    assert candidates(place, "lionplug trust gree") == ["greeter"]
    assert candidates(place, "lionplug show greeter t") == ["tools/greet.py"]
    assert candidates(place, "lionplug call g") == []
    place.approve()
    assert candidates(place, "lionplug call g") == ["greet"]
    assert not place.marker.exists()


def test_copies_of_one_name_complete_as_addresses(place: Place, greeter: Greeter) -> None:
    greeter()
    place.bundle(place.project_plugins)
    assert candidates(place, "lionplug info u") == ["user:greeter"]
    assert candidates(place, "lionplug info p") == ["project:greeter"]


def test_names_that_a_shell_could_read_otherwise_are_not_offered(
    place: Place, greeter: Greeter
) -> None:
    root = greeter()
    (root / "a$(touch x)").write_text("")
    (root / "a\nb").write_text("")
    (root / "ab").write_text("")
    place.bundle(place.user_plugins, directory="g;x", manifest="name: [\n")
    assert candidates(place, "lionplug show greeter a") == ["ab"]
    assert candidates(place, "lionplug info g") == ["greeter"]


def test_a_large_tree_is_not_walked_to_its_end(
    place: Place, greeter: Greeter, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = greeter()
    for number in range(5):
        (root / f"d{number}").mkdir()
        (root / f"d{number}" / "file").write_text("")
    (root / "__pycache__").mkdir()
    (root / "__pycache__" / "x.pyc").write_text("")
    plugin = SimpleNamespace(location=str(root))
    every = ["plugin.yaml", *(f"d{number}/file" for number in range(5)), "tools/greet.py"]
    assert list(completion._tree(plugin)) == every  # type: ignore[arg-type]
    monkeypatch.setattr(completion, "MOST_FILES", 4)
    assert list(completion._tree(plugin)) == every[:3]  # type: ignore[arg-type]


def test_errors_are_swallowed(place: Place) -> None:
    plugins = place.user_plugins
    plugins.parent.mkdir()
    plugins.write_text("no directory")
    assert candidates(place, "lionplug info x") == []
    assert candidates(place, "lionplug show nobody x") == []
    odd = complete(place, "lionplug info x", LIONPLUG_HOST="no-such-host-here")
    assert (odd.out.strip(), odd.err) == ("", "")
    for question in ("tcsh_complete", "bash_source", "bash", "x"):
        result = place.outside("list", _LIONPLUG_COMPLETE=question)
        assert (result.code, result.out, result.err) == (1, "", "")
    result = place.outside(_LIONPLUG_COMPLETE="bash_complete")  # without the words
    assert (result.code, result.out, result.err) == (1, "", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_valid_and_run_no_program_to_be_printed(place: Place, shell: str) -> None:
    planted = place.project / shell
    planted.write_text(f"#!/bin/sh\ntouch {place.marker}\n")
    planted.chmod(0o755)
    result = place.outside("completion", shell, PATH=".:/usr/bin:/bin")
    assert result.code == 0
    assert "_LIONPLUG_COMPLETE" in result.out
    assert "%(" not in result.out
    assert not place.marker.exists()
    found = shutil.which(shell)
    if found:
        checked = subprocess.run([found, "-n"], input=result.out.encode(), check=False)
        assert checked.returncode == 0
    assert place.json("completion", shell)["script"] + "\n" == result.out


def test_bash_completes_with_the_script(place: Place, greeter: Greeter) -> None:
    bash = shutil.which("bash")
    if not bash:
        pytest.skip("there is no bash")
    greeter()
    tools = place.home / "bin"
    tools.mkdir()
    (tools / "lionplug").write_text(f'#!/bin/sh\nexec {sys.executable} -m lionplug "$@"\n')
    (tools / "lionplug").chmod(0o755)
    script = place.run("completion", "bash").out + (
        "COMP_WORDS=(lionplug info gre); COMP_CWORD=2\n"
        '_lionplug_completion lionplug; echo "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        [bash, "--norc"],
        input=script.encode(),
        capture_output=True,
        cwd=place.project,
        env=place.environment(PATH=f"{tools}:/usr/bin:/bin"),
        timeout=20,
        check=True,
    )
    assert done.stdout == b"greeter\n"
    assert done.stderr == b""
