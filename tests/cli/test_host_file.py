"""``host-file``: the announcement of a live host; and the commands of an argparse host."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lionplug import Host, hookspec
from lionplug.cli.main import main
from tests.cli.place import MANIFEST, Place, Result

APP = """\
import lionplug

print("noise of the application")

class Specs:
    @lionplug.hookspec
    def saved(self, title): ...

def make_host():
    host = lionplug.Host("li", version="1", command="li plugin")
    host.add_hookspecs(Specs)
    host.tools.reserve(["delete"])
    return host

number = 3
"""

WRITTEN = {
    "command": "li plugin",
    "groups": [],
    "classic_groups": [],
    "hooks": ["saved"],
    "reserved_tools": ["delete"],
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "li_app_of_test.py").write_text(APP)
    return folder


def test_it_is_written_from_the_live_host(place: Place, source: Path, tmp_path: Path) -> None:
    result = place.outside("host-file", "li_app_of_test:make_host", "--path", str(source))
    assert result.code == 0, result
    assert result.json == WRITTEN
    assert "Importing li_app_of_test, the application's own code." in result.err
    assert "noise of the application" in result.err
    target = tmp_path / "host.json"
    arguments = ["li_app_of_test:make_host", "--path", str(source), "-o", str(target), "--json"]
    written = place.outside("host-file", *arguments)
    assert written.json == {"file": str(target), "announcement": WRITTEN}
    assert target.read_text() == result.out


@pytest.mark.parametrize(
    ("factory", "code", "told"),
    [
        ("nothing", 2, "FACTORY is MODULE:FUNCTION, found nothing"),
        ("a b:c", 2, "FACTORY is MODULE:FUNCTION"),
        ("no_such_module:f", 2, "no module is called no_such_module in this environment"),
        ("li_app_of_test:f", 2, "li_app_of_test has no f"),
        ("li_app_of_test:number", 2, "gives int, expected a lionplug.Host"),
    ],
)
def test_what_is_no_host(place: Place, source: Path, factory: str, code: int, told: str) -> None:
    result = place.outside("host-file", factory, "--path", str(source))
    assert result.code == code, result
    assert told in result.err


def test_s19_the_working_directory_is_not_imported_from(place: Place) -> None:
    (place.project / "planted.py").write_text(f"open({str(place.marker)!r}, 'w')\n")
    result = place.outside("host-file", "planted:make_host")
    assert result.code == 2
    assert not place.marker.exists()


def test_a_file_that_cannot_be_written(place: Place, source: Path) -> None:
    arguments = ["li_app_of_test:make_host", "--path", str(source), "-o", "/nowhere/host.json"]
    result = place.outside("host-file", *arguments)
    assert result.code == 1
    assert "/nowhere/host.json" in result.err


class Specs:
    @hookspec
    def saved(self, title: str) -> None:
        """Called after saving."""


@pytest.fixture
def scope(place: Place) -> Path:
    scope = place.home / ".li"
    place.bundle(
        scope / "plugins",
        manifest=MANIFEST.format(name="greeter") + "li: '>=1'\n",
    )
    scope.chmod(0o700)
    return scope


def li(
    scope: Path, capfd: pytest.CaptureFixture[str], *arguments: str, command: str = "li plugin"
) -> Result:
    host = Host("li", version="1", command=command, user_dir=str(scope))
    host.add_hookspecs(Specs)
    code = main(list(arguments), host=host)
    out, err = capfd.readouterr()
    return Result(code, out, err)


@pytest.fixture
def capture(
    place: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> pytest.CaptureFixture[str]:
    monkeypatch.chdir(place.project)
    return capfd


@pytest.mark.parametrize(
    "command", ["li plugin", "li-plugins", "li app plugin", "python -m li plugin"]
)
def test_messages_name_the_command(
    scope: Path, capture: pytest.CaptureFixture[str], command: str
) -> None:
    listed = li(scope, capture, "list", command=command)
    assert listed.code == 0, listed
    assert f"{command} trust greeter" in " ".join(listed.out.split())
    assert f"Usage: {command} info" in li(scope, capture, "info", command=command).err
    shown = li(scope, capture, "info", "--help", command=command).out
    assert f"  {command} info web-research\n" in shown
    none = li(scope, capture, "lst", command=command)
    assert none.code == 2
    assert f"Try '{command} --help' for help." in none.err
    assert li(scope, capture, "info", "nobody", "--json", command=command).json["error"]["plugin"]
    assert f"Usage: {command} [OPTIONS] COMMAND" in li(scope, capture, command=command).err


def test_the_host_stays_open(scope: Path, capture: pytest.CaptureFixture[str]) -> None:
    host = Host("li", version="1", command="li plugin", user_dir=str(scope))
    digest = host.digest(str(scope / "plugins" / "greeter"))
    assert main(["trust", "greeter", "--expect", digest], host=host) == 0
    assert host.plugins["greeter"].is_active
    assert host.tools.call("greet", {"who": "Ada"}) == "Hello Ada"
    host.close()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_asks_behind_the_words(
    scope: Path, capture: pytest.CaptureFixture[str], shell: str
) -> None:
    script = li(scope, capture, "completion", shell).out
    name = "$1" if shell == "bash" else "li"
    assert f"_LIONPLUG_COMPLETE={shell}_complete" in script
    assert f"{name} plugin)" in script
    single = li(scope, capture, "completion", shell, command="li-plugins").out
    assert f"_LIONPLUG_COMPLETE={shell}_complete" in single
    assert " plugin)" not in single


def test_candidates(
    scope: Path, capture: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_LIONPLUG_COMPLETE", "bash_complete")
    for command in ("li plugin", "li-plugins"):
        line = f"{command} info gr"
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(line.count(" ")))
        assert li(scope, capture, command=command).out == "plain,greeter\n"


def test_the_bash_script_runs_in_bash(scope: Path, capture: pytest.CaptureFixture[str]) -> None:
    script = li(scope, capture, "completion", "bash").out
    check = "li() { echo plain,$1/$#; }; COMP_WORDS=(li plugin i); COMP_CWORD=2\n"
    check += 'env() { while [[ $1 == *=* ]]; do shift; done; "$@"; }\n'
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{check}_li_completion li; echo ${{COMPREPLY[0]}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "plugin/1\n", done.stderr
