"""``check`` and ``schema``, from outside."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lionplug.cli.checking import annotation, escape_data, escape_property, line_of
from lionplug.errors import Problem
from lionplug.manifest.schema import manifest_schema
from tests.authoring.bundles import CASES, HEAD, TOOL, tidy
from tests.cli.place import Place
from tests.cli.test_hostile import bad_characters, write


@pytest.fixture
def root(place: Place) -> Path:
    """A bundle with which nothing is wrong, in the directory where the command runs."""
    return tidy(place.project / "tidy")


def break_rules(root: Path, *codes: str) -> None:
    for code in codes:
        CASES[code][0](root)


def test_a_tidy_bundle_is_told_so(place: Place, root: Path) -> None:
    result = place.outside("check", "tidy")
    assert (result.code, result.out, result.err) == (0, "tidy 1: nothing to mend.\n", "")


def test_problems_are_lines_that_an_editor_understands(place: Place, root: Path) -> None:
    break_rules(root, "unknown-key", "text-bidi")
    result = place.outside("check", "./tidy")
    assert result.code == 1
    assert result.err == ""
    assert result.out == (
        "./tidy/plugin.yaml:7:1: error[unknown-key] nope: the key 'nope' is not known; "
        "the keys here are name, version, description, hosts, requires, python_packages, exclude "
        "or capabilities. Keys of your own must begin with 'x-'.\n"
        "./tidy/a.md:2:2: warning[text-bidi] 1 character that steers the direction of text "
        "(at 2:2); remove it, or write it as an escape.\n"
        "./tidy: 1 error and 1 warning.\n"
    )


def test_warnings_alone_are_no_failure(place: Place, root: Path) -> None:
    break_rules(root, "stdlib-name", "undeclared-executable")
    result = place.run("check", "tidy")
    assert result.code == 0
    assert result.out.endswith("tidy 1: 2 warnings.\n")


@pytest.mark.parametrize("asked", [["--json"], ["--format", "json"], ["--json", "--format=json"]])
def test_json_has_all_of_it(place: Place, root: Path, asked: list[str]) -> None:
    break_rules(root, "target-missing")
    result = place.run("check", "tidy", *asked)
    assert result.code == 1
    assert result.json == {
        "path": "tidy",
        "name": "tidy",
        "version": "1",
        "errors": 1,
        "warnings": 0,
        "problems": [
            {
                "severity": "error",
                "code": "target-missing",
                "message": "tool \"add\": 'tools.py:add': no top-level function 'add'; correct the "
                "target, or define the function.",
                "file": "plugin.yaml",
                "line": 6,
                "column": 27,
                "field": "capabilities.tools[0].target",
            }
        ],
    }


def test_github_gets_annotations(place: Place, root: Path) -> None:
    break_rules(root, "target-missing")
    (root / "stdlib").mkdir()
    (root / "json.py").write_text("")
    result = place.run("check", "./tidy", "--format", "github")
    assert result.code == 1
    assert result.out == (
        "::error file=tidy/plugin.yaml,line=6,col=27,title=target-missing::"
        "capabilities.tools[0].target: tool \"add\": 'tools.py:add': no top-level function 'add'; "
        "correct the target, or define the function.\n"
        "::warning file=tidy/json.py,title=stdlib-name::'import json' always gives the standard "
        "library, never this file; rename it.\n"
    )
    assert result.err == "tidy 1: 1 error and 1 warning.\n"


def test_formats_exclude_each_other(place: Place, root: Path) -> None:
    result = place.run("check", "tidy", "--json", "--format", "github")
    assert result.code == 2
    assert result.json["error"]["message"] == "--json and --format github exclude each other"
    assert place.run("check", "tidy", "--format", "xml").code == 2
    assert place.run("check").code == 2


@pytest.mark.parametrize("path", ["nowhere", "tidy/tools.py"])
def test_what_is_no_directory_is_refused(place: Place, root: Path, path: str) -> None:
    result = place.run("check", path)
    assert result.code == 1
    assert result.out == ""
    assert result.err.startswith("Error: ")
    assert "name the directory of a bundle" in result.err
    assert place.json("check", path, code=1)["error"]["type"] == "TreeError"


def test_no_scope_is_needed_and_nothing_is_written(place: Place, root: Path) -> None:
    place.home.chmod(0o500)
    before = sorted(place.project.rglob("*"))
    assert place.outside("check", "tidy", HOME="/nonexistent").code == 0
    assert place.outside("check", "tidy").code == 0
    assert sorted(place.project.rglob("*")) == before
    assert list(place.home.iterdir()) == []


def test_the_host_that_is_named_counts(place: Place, root: Path) -> None:
    result = place.run("--host", "click", "check", "tidy")
    assert result.code == 0
    assert "is for 'lionplug' and not for 'click'" in result.out


def test_a_closed_pipe_ends_it(place: Place, root: Path) -> None:
    break_rules(root, "unknown-key")
    script = 'sleep 0.1; "$0" -m lionplug check tidy; echo "exit code $?" >&2'
    command = f"({script}) | :"
    result = place.outside(program=["/bin/sh", "-c", command, sys.executable])
    assert result.err == "exit code 141\n"
    assert "Traceback" not in result.err


@pytest.mark.parametrize("form", ["text", "github", "json"])
def test_s37_names_of_files_are_no_commands(place: Place, root: Path, form: str) -> None:
    """A name that holds a workflow command is shown, and begins no line."""
    (root / "::error file=x,line=1::gotcha").write_text("a")
    (root / "a%0A::error::b,c\n::set-output name=d::e").write_text("\u202e")
    result = place.outside("check", ".", "--format", form, cwd=root)
    assert result.code == 1
    for line in (result.out + result.err).splitlines():
        assert "gotcha" not in line or not line.startswith("::error file=x")
        assert not line.startswith(("::set-output", "::error::"))
    if form == "github":
        assert all(
            line.startswith(("::error file=", "::warning ")) for line in result.out.splitlines()
        )
        assert "file=%3A%3Aerror file=x%2Cline=1%3A%3Agotcha" in result.out
        assert "file=a%250A%3A%3Aerror%3A%3Ab%2Cc\\u{a}%3A%3Aset-output" in result.out


@pytest.mark.parametrize("form", ["text", "github", "json"])
def test_s24_a_hostile_bundle_writes_nothing_to_the_terminal(place: Place, form: str) -> None:
    hostile = write(place)
    result = place.run("check", str(hostile), "--format", form)
    assert not bad_characters(result.out + result.err), result
    assert not place.marker.exists()
    assert "text-" in result.out


@given(st.text())
def test_s37_what_is_escaped_for_github_ends_nothing(text: str) -> None:
    data, value = escape_data(text), escape_property(text)
    assert not set("\r\n") & set(data)
    assert not set("\r\n:,") & set(value)
    back = value.replace("%2C", ",").replace("%3A", ":")
    for escaped in (data, back):
        plain = escaped.replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%")
        assert plain == text


@given(st.text(min_size=1), st.integers(0, 5))
def test_s37_a_problem_is_one_line(message: str, line: int) -> None:
    problem = Problem("syntax", message, file="a:b,c", line=line, column=line)
    assert "\n" not in line_of(".", problem)
    shown = annotation(".", problem)
    assert "\n" not in shown
    assert shown.startswith("::error file=a%3Ab%2Cc,")


def test_paths_complete_as_files(place: Place, root: Path) -> None:
    result = place.outside(
        _LIONPLUG_COMPLETE="bash_complete", COMP_WORDS="lionplug check t", COMP_CWORD="2"
    )
    assert result.out == "file,t\n"
    result = place.outside(
        _LIONPLUG_COMPLETE="bash_complete",
        COMP_WORDS="lionplug check --format g",
        COMP_CWORD="3",
    )
    assert result.out == "plain,github\n"


def test_schema_is_that_of_the_host(place: Place) -> None:
    result = place.outside("schema")
    assert result.code == 0
    assert json.loads(result.out) == manifest_schema("lionplug")
    assert place.json("schema") == manifest_schema("lionplug")
    of_other = json.loads(place.run("--host", "click", "schema").out)
    assert of_other == manifest_schema("click")
    jsonschema.validate(yaml.safe_load(HEAD + TOOL), json.loads(result.out))


def test_the_group_of_an_application_has_them(
    place: Place, root: Path, application_of: Callable[..., str]
) -> None:
    assert "is for 'lionplug' and not for 'app'" in application_of("check", str(root))
    assert json.loads(application_of("schema")) == manifest_schema("app")
    assert "li plugin check ./web-research --json" in application_of("check", "--help")
