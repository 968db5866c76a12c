"""``list`` and ``info``."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.place import MANIFEST, Place

Greeter = Callable[..., Path]


def test_an_empty_list_says_where_bundles_go(place: Place) -> None:
    result = place.outside("list")
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines == [
        f"user scope: {place.home}/.lionplug (from HOME)",
        "No plugins. A plugin is a directory with a plugin.yaml; put it into one of:",
        f"  {place.home}/.lionplug/plugins",
        "  .lionplug/plugins (in a project)",
    ]
    assert place.json("list") == []


def test_list_shows_states_and_what_to_do(place: Place, greeter: Greeter) -> None:
    greeter()
    greeter(name="broken", manifest="name: broken\nnope: 1\n")
    result = place.run("list")
    assert result.code == 0, result
    assert "greeter" in result.out
    assert "untrusted" in result.out
    assert "lionplug trust greeter" in " ".join(result.out.split())
    assert "invalid" in result.out
    assert result.err.endswith(
        "2 plugins need you: 1 invalid, 1 untrusted. 'lionplug info NAME' says more.\n"
    )
    place.approve()
    assert "Greets people" in place.run("list").out
    assert not place.marker.exists()


def test_s6_a_moved_scope_is_the_first_line(place: Place) -> None:
    result = place.outside("list", LIONPLUG_HOME=str(place.home / "other"))
    assert result.out.startswith(f"user scope: {place.home}/other/.lionplug (from LIONPLUG_HOME)\n")


def test_list_json_is_a_list_of_objects(place: Place, greeter: Greeter) -> None:
    root = greeter()
    (row,) = place.json("list")
    assert list(row)[:6] == ["name", "version", "state", "reason", "scope", "location"]
    assert row["name"] == "greeter"
    assert row["version"] == "1.0"
    assert row["state"] == "untrusted"
    assert row["scope"] == "user"
    assert row["location"] == str(root)
    assert row["next_command"] == "lionplug trust greeter"


def test_list_drops_approvals_of_bundles_that_are_gone(place: Place, greeter: Greeter) -> None:
    root = greeter()
    place.approve()
    shutil.rmtree(root)
    result = place.run("list")
    assert result.code == 0
    assert result.err == (
        f"Dropped the approval of greeter: nothing is left at {root}. If it comes back, it has "
        "to be approved again.\n"
    )
    greeter()
    (row,) = place.json("list")
    assert row["state"] == "untrusted"


def test_list_notices_any_changed_file(place: Place, greeter: Greeter) -> None:
    root = greeter()
    place.approve()
    (root / "notes.txt").write_text("new")
    (row,) = place.json("list")
    assert row["state"] == "changed"


def test_a_long_name_wraps_in_80_columns(place: Place) -> None:
    directory = "long-" * 30
    place.bundle(place.user_plugins, directory=directory, manifest="name: 1 2\n")
    result = place.run("list")
    assert max(map(len, result.out.splitlines()[1:])) <= 80
    shown = "".join(line[:32].strip() for line in result.out.splitlines()[2:])
    assert directory in shown


def test_info_shows_everything(place: Place, greeter: Greeter) -> None:
    root = greeter()
    digest = place.json("info", "greeter")["digest"]
    result = place.run("info", "greeter")
    assert result.code == 0, result
    lines = result.out.splitlines()
    assert lines[:3] == ["greeter 1.0", "  Greets people", ""]
    assert "  state     untrusted" in lines
    assert "  next      lionplug trust greeter" in lines
    assert f"  location  {root}" in lines
    assert digest in "".join(result.out.split())
    assert "Tools (1)" in lines
    assert "  greet(who: str, times: int = 1)" in lines
    assert "      Greet somebody." in lines
    assert "      code     tools/greet.py:greet" in lines
    assert not place.marker.exists()


def test_info_json_adds_the_digest_of_the_live_copy(place: Place, greeter: Greeter) -> None:
    root = greeter()
    first = place.json("info", "greeter")
    assert first["digest"] == place.json("digest", str(root))["digest"]
    assert first["approved"] is None
    place.approve()
    with (root / "tools" / "greet.py").open("a") as file:
        file.write("\n")
    second = place.json("info", "greeter")
    assert second["state"] == "changed"
    assert second["digest"] != first["digest"]
    assert second["approved"]["digest"] == first["digest"]


def test_info_reports_every_problem_with_its_place(place: Place, greeter: Greeter) -> None:
    greeter(manifest=MANIFEST.format(name="greeter") + "nope: 1\nalso: 2\n")
    result = place.run("info", "greeter")
    assert result.code == 0
    assert "Problems (2)" in result.out
    assert "plugin.yaml:9:1:" in result.out
    assert "plugin.yaml:10:1:" in result.out
    document = place.json("info", "greeter")
    assert [problem["line"] for problem in document["problems"]] == [9, 10]
    assert document["digest"] is None


def test_info_says_why_there_is_no_digest(place: Place, greeter: Greeter) -> None:
    root = greeter()
    os.link(root / "plugin.yaml", root / "hard.yaml")
    document = place.json("info", "greeter")
    assert document["digest"] is None
    assert "link" in document["digest_problem"]
    assert place.run("info", "greeter").code == 0


@pytest.mark.parametrize("verb", ["info", "trust", "revoke", "enable", "disable", "diff"])
def test_an_unknown_name_is_refused_with_the_known_ones(
    place: Place, greeter: Greeter, verb: str
) -> None:
    greeter()
    result = place.run(verb, "nobody")
    assert result.code == 1, result
    assert "greeter" in result.err
    assert result.out == ""


VERBS = [
    ["info"],
    ["trust", "--expect", "lp1:sha256:" + 64 * "0"],
    ["revoke"],
    ["enable"],
    ["disable"],
    ["diff"],
    ["show", "plugin.yaml"],
]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
@pytest.mark.parametrize("copies", [2, 3])
def test_s22_a_name_of_several_copies_is_a_usage_error(
    place: Place, greeter: Greeter, verb: list[str], copies: int
) -> None:
    greeter()
    place.bundle(place.project_plugins)
    choices = ["user:greeter", "project:greeter"]
    if copies == 3:
        other = place.bundle(place.user_plugins, directory="second")
        choices = [str(place.user_plugins / "greeter"), str(other), "project:greeter"]
    arguments = [verb[0], "greeter", *verb[1:]]
    result = place.run(*arguments)
    assert result.code == 2, result
    for choice in choices:
        assert choice in result.err
    document = place.json(*arguments, code=2)
    assert sorted(document["error"]["choices"]) == sorted(choices)
    assert result.out == ""


def test_s22_addresses_and_paths_name_one_copy(place: Place, greeter: Greeter) -> None:
    root = greeter()
    other = place.bundle(place.project_plugins)
    for name, location in [
        ("user:greeter", root),
        ("project:greeter", other),
        (str(root), root),
        ("./.lionplug/plugins/greeter", other),
    ]:
        assert place.json("info", name)["location"] == str(location)
    (copy,) = place.json("info", "user:greeter")["copies"]
    assert copy == {"address": "project:greeter", "state": "untrusted", "location": str(other)}
    assert "project:greeter" in place.run("info", "user:greeter").out


def test_info_lists_the_files(place: Place, greeter: Greeter) -> None:
    root = greeter()
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("run.sh")
    size = (root / "plugin.yaml").stat().st_size
    lines = place.run("info", "greeter").out.splitlines()
    start = lines.index("Files (4)")
    assert lines[start + 1 : start + 4] == [
        "  link            -> run.sh",
        f"  plugin.yaml     {size} B",
        "  run.sh          10 B  run bit",
    ]
    files = place.json("info", "greeter")["files"]
    assert [row["path"] for row in files] == [
        "link",
        "plugin.yaml",
        "run.sh",
        "tools",
        "tools/greet.py",
    ]
    assert [row["runs"] for row in files] == [False, False, True, False, False]
    assert files[1]["size"] == size


def test_info_lists_forty_files_and_counts_the_rest(place: Place, greeter: Greeter) -> None:
    root = greeter()
    for number in range(50):
        (root / f"n{number:02}").write_text("")
    result = place.run("info", "greeter")
    assert result.out.endswith(
        "  n39  0 B\n  ... and 12 more; 'lionplug info greeter --json' lists them all\n"
    )
    assert len(place.json("info", "greeter")["files"]) == 53


def test_info_of_an_invalid_plugin_does_not_suggest_itself(place: Place, greeter: Greeter) -> None:
    greeter(manifest="name: greeter\nnope: 1\n")
    assert "  next " not in place.run("info", "greeter").out
    assert place.json("info", "greeter")["next_command"].startswith("lionplug info ")


def test_info_says_that_hooks_are_not_checked(place: Place, greeter: Greeter) -> None:
    hooks = "  hookimpls:\n    - {hook: note_svaed, target: tools/greet.py:greet}\n"
    greeter(manifest=MANIFEST.format(name="greeter") + hooks)
    assert "The hooks are not checked by this command" in place.run("info", "greeter").out
    assert place.json("info", "greeter")["hooks_checked"] is False


def test_list_names_what_is_refused(place: Place, greeter: Greeter) -> None:
    greeter()
    greeter(name="dup")
    place.approve()
    place.approve("dup")
    shown = " ".join(place.run("list").out.split())
    assert "refused: tool greet (also declared by dup)" in shown
    assert "refused: tool greet (also declared by greeter)" in shown


def narrow(place: Place, monkeypatch: pytest.MonkeyPatch, columns: int) -> list[str]:
    monkeypatch.setattr("lionplug.cli.output.PIPE_COLUMNS", columns)
    return place.run("list").out.splitlines()


def test_on_a_narrow_terminal_the_last_column_stands_below(
    place: Place, greeter: Greeter, monkeypatch: pytest.MonkeyPatch
) -> None:
    greeter()
    assert narrow(place, monkeypatch, 40)[-5:] == [
        "greeter  1.0  untrusted  user",
        "  Greets people",
        "  not approved yet; review what it",
        "  brings, then approve it",
        "  -> lionplug trust greeter",
    ]
    assert any(line.startswith("NAME ") for line in narrow(place, monkeypatch, 60))


def test_one_cause_is_told_once(place: Place, greeter: Greeter) -> None:
    greeter()
    scope = place.home / ".lionplug"
    scope.chmod(0o757)
    result = place.run("list")
    scope.chmod(0o755)
    assert result.code == 0
    assert (result.out + result.err).count("can be written by everybody") == 1
    assert result.err.startswith("nothing is trusted: ")


def test_a_reason_that_is_a_notice_is_not_repeated_for_each_plugin(
    place: Place, greeter: Greeter
) -> None:
    greeter()
    greeter(name="other")
    place.approve()
    (place.home / ".lionplug" / "trust.json").chmod(0o666)
    result = place.run("list")
    assert (result.out + result.err).count("can be written by everybody") == 1
    assert " ".join(result.out.split()).count("nothing is trusted, see above") == 2
