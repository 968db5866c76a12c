"""``doctor``: presented for people and as JSON; with no, a foreign and a shared scope."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.place import Place

Greeter = Callable[..., Path]


@pytest.fixture(autouse=True)
def _private(place: Place) -> None:
    (place.home / ".lionplug").mkdir(mode=0o700)


def test_nothing_needs_you(place: Place) -> None:
    result = place.outside("doctor")
    assert result.code == 0, result
    assert result.out.startswith("Here\n  lionplug ")
    assert result.err == "Nothing needs you.\n"


def test_a_plugin_that_waits(place: Place, greeter: Greeter) -> None:
    greeter()
    result = place.run("doctor")
    assert result.code == 1
    assert "Needs you (1)\n  plugin-untrusted: user:greeter 1.0 is untrusted: " in result.out
    assert "\n    -> lionplug trust greeter\n" in result.out
    assert result.err == "1 thing needs you.\n"
    assert not place.marker.exists()
    place.approve()
    assert place.run("doctor").code == 0
    assert not place.marker.exists()


def test_json_is_one_document_with_a_code_for_each_finding(place: Place, greeter: Greeter) -> None:
    greeter()
    document = place.json("doctor", code=1)
    assert document["host"] == document["command"] == "lionplug"
    assert document["needs_person"] is True
    assert document["mended"] == []
    (finding,) = [one for one in document["findings"] if one["severity"] == "problem"]
    assert finding == {
        "code": "plugin-untrusted",
        "severity": "problem",
        "text": finding["text"],
        "command": "lionplug trust greeter",
        "plugin": "user:greeter",
    }


def test_two_copies_of_one_name(place: Place, greeter: Greeter) -> None:
    greeter()
    place.bundle(place.project_plugins)
    out = place.run("doctor").out
    assert "-> lionplug trust user:greeter\n" in out
    assert "-> lionplug trust project:greeter\n" in out


def test_s31_a_shared_scope_is_mended(place: Place, greeter: Greeter) -> None:
    greeter()
    place.approve()
    scope = place.home / ".lionplug"
    scope.chmod(0o777)
    (scope / "trust.json").chmod(0o666)
    told = place.outside("doctor")
    assert told.code == 1
    assert "Needs you (2)\n  permissions:" in told.out
    assert f"-> chmod go-w {scope}\n" in told.out
    assert scope.stat().st_mode & 0o777 == 0o777  # it was only told
    mended = place.outside("doctor", "--fix-permissions")
    assert mended.code == 0, mended
    assert mended.out.startswith(f"Mended: {scope} (mode 0777, now 0755)\n")
    assert f"Mended: {scope}/trust.json (mode 0666, now 0644)\n" in mended.out
    assert place.outside("call", "greet", "who=x").out == "Hello x\n"


def test_s31_a_shared_way_is_mended_and_the_scope_found_again(
    place: Place, greeter: Greeter
) -> None:
    greeter()
    place.home.chmod(0o777)
    assert place.outside("doctor").code == 1
    mended = place.outside("doctor", "--fix-permissions", "--json")
    assert mended.json["mended"] == [
        {"path": str(place.home), "before": "0777", "after": "0755", "problem": None}
    ]
    codes = {one["code"] for one in mended.json["findings"] if one["severity"] == "problem"}
    assert codes == {"plugin-untrusted"}


def test_s31_what_is_left_alone_says_why(place: Place) -> None:
    target = place.home / "settings.yaml"
    target.touch()
    target.chmod(0o666)
    (place.home / ".lionplug" / "settings.yaml").symlink_to(target)
    result = place.outside("doctor", "--fix-permissions")
    assert result.code == 1
    assert f"Left alone: {target}: a link leads there" in " ".join(result.out.split())
    assert target.stat().st_mode & 0o777 == 0o666


def test_without_a_scope(place: Place) -> None:
    result = place.outside("doctor", "--fix-permissions", HOME="relative")
    assert result.code == 1
    assert "user scope: " in result.out
    assert "HOME=relative is a relative path" in " ".join(result.out.split())
    (place.home / ".lionplug").rmdir()
    assert place.outside("doctor", "--fix-permissions").code == 0
    assert not (place.home / ".lionplug").exists()


def test_a_scope_of_somebody_else(place: Place) -> None:
    if os.geteuid() != 0:
        pytest.skip("giving a directory to somebody else needs root")
    os.chown(place.home / ".lionplug", 4321, 4321)
    result = place.outside("doctor", "--fix-permissions")
    assert result.code == 1
    assert "only another user can mend it" in " ".join(result.out.split())
    assert "is owned by uid 4321" in " ".join(result.out.split())


def test_s19_a_project_on_the_path_is_told(place: Place) -> None:
    (place.project / "yaml.py").write_text(f"open({str(place.marker)!r}, 'w')\n")
    result = place.outside("doctor", PYTHONPATH=str(place.project))
    assert result.code == 0, result
    assert "Worth knowing (1)\n  search-path:" in result.out
    assert f"search-path: {place.project} is on sys.path" in " ".join(result.out.split())
    assert not place.marker.exists()


def test_s19_in_a_hostile_checkout(place: Place) -> None:
    for name in ("yaml", "importlib_metadata", "packaging", "grp_", "pip"):
        (place.project / f"{name}.py").write_text(f"open({str(place.marker)!r}, 'w')\n")
    (place.project / "evil-1.dist-info").mkdir()
    (place.project / "evil-1.dist-info" / "METADATA").write_text("Name: evil\nVersion: 1\n")
    (place.project / "evil-1.dist-info" / "entry_points.txt").write_text(
        "[lionplug.hosts]\nevil = evil:host.json\n"
    )
    result = place.outside("doctor", program=[sys.executable, "-m", "lionplug"])
    assert result.code == 0, result
    assert "evil" not in result.out + result.err
    assert not place.marker.exists()


def test_hostile_text_is_shown_escaped(place: Place, greeter: Greeter) -> None:
    greeter(
        manifest="name: greeter\nversion: '1'\nlionplug: '>=0'\n"
        'python_packages: ["x @ https://evil/x.whl?$(touch${IFS}pwned)"]\n'
    )
    result = place.run("doctor")
    assert result.code == 1
    assert "$(touch${IFS}pwned)" in result.out
    assert "->" not in result.out


def test_a_closed_pipe(place: Place, greeter: Greeter) -> None:
    greeter()
    result = place.outside(program=["/bin/sh", "-c", f"{sys.executable} -m lionplug doctor | true"])
    assert "Traceback" not in result.err
