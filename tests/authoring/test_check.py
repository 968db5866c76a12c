"""Every rule of ``check``: broken once, told once, at its place."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lionplug.authoring.bundle import read_bundle
from lionplug.authoring.check import check_bundle
from lionplug.authoring.report import MOST_PROBLEMS, Report, in_order
from lionplug.authoring.rules import ERROR, GROUPS, RULES, severity_of
from lionplug.errors import Problem, TreeError
from lionplug.files.limits import Limits
from lionplug.manifest.parse import parse_manifest
from lionplug.manifest.sections import SECTIONS
from lionplug.manifest.sections.hookimpls import HOOKIMPLS
from tests.authoring.bundles import (
    CASES,
    CODE,
    ELSEWHERE,
    HEAD,
    TOOL,
    Break,
    code,
    entry,
    file,
    head,
    manifest,
    several,
    tidy,
)


def check(root: Path) -> Report:
    return check_bundle(str(root), host="lionplug")


def codes(root: Path) -> list[str]:
    return [problem.code for problem in check(root).problems]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tidy(tmp_path / "tidy")


def test_a_tidy_bundle_has_no_problem(root: Path) -> None:
    assert check(root) == Report(name="tidy", version="1", problems=())


@pytest.mark.parametrize("rule", CASES)
def test_a_broken_rule_is_told_at_its_place(root: Path, rule: str) -> None:
    change, place = CASES[rule]
    change(root)
    report = check(root)
    found = [problem for problem in report.problems if problem.code == rule]
    assert found, report.problems
    where, _, _ = str(found[0]).partition(": ")
    assert place in where, found
    assert found[0].message.isascii()
    assert {problem.code for problem in report.problems} <= set(RULES)
    assert (severity_of(rule) == ERROR) <= (report.errors > 0)


def test_every_rule_has_a_case() -> None:
    assert set(CASES) | ELSEWHERE == set(RULES)
    assert not set(CASES) & ELSEWHERE


def test_every_rule_stands_in_one_group() -> None:
    listed = [rule.code for rules in GROUPS.values() for rule in rules]
    assert len(listed) == len(set(listed)) == len(RULES)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(code("async " + CODE), id="async"),
        pytest.param(code("import json\nimport httpx\n" + CODE), id="imports"),
        pytest.param(several(file("lib/__init__.py"), code("import lib\n" + CODE)), id="root"),
        pytest.param(
            several(file("lib/a.py", "from . import json\n"), file("lib/json.py")), id="relative"
        ),
        pytest.param(
            several(
                file(
                    "lib/a.py",
                    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import helper\n",
                ),
                file("lib/helper.py"),
            ),
            id="type checking",
        ),
        pytest.param(
            several(
                head("python_packages: ['helper>=1']\n"),
                file("lib/a.py", "import helper\n"),
                file("lib/helper.py"),
            ),
            id="declared package",
        ),
        pytest.param(
            entry("parameters: {type: object}", CODE.replace("a: int, b: int = 1", "**all")),
            id="takes all",
        ),
        pytest.param(
            entry("parameters: {type: object}", "from functools import cache\n@cache\n" + CODE),
            id="decorated",
        ),
        pytest.param(
            entry("parameters: {type: object, allOf: [{required: [a]}]}"), id="required elsewhere"
        ),
        pytest.param(entry("description: Adds", "def add(a: int): pass\n"), id="described"),
        pytest.param(file("logo.png", b"\x89PNG\0"), id="image"),
        pytest.param(several(head("exclude: ['old/**']\n"), file("old/b.py", "(")), id="excluded"),
        pytest.param(several(file(".git/a:b", "x"), file("__pycache__/b.py", "(")), id="left out"),
        pytest.param(
            several(head("  hookimpls:\n    - {hook: saved, target: hook.py:saved}\n"),
                    file("hook.py", "def saved(note): pass\n")),
            id="hook",
        ),
    ],
)  # fmt: skip
def test_what_is_right_is_not_told(root: Path, change: Break) -> None:
    change(root)
    assert check(root).problems == ()


def test_hooks_need_their_functions_too(root: Path) -> None:
    head("  hookimpls:\n    - hook: saved\n      target: tools.py:saved\n")(root)
    (problem,) = check(root).problems
    assert problem.to_dict() == {
        "code": "target-missing",
        "file": "plugin.yaml",
        "line": 9,
        "column": 15,
        "field": "capabilities.hookimpls[0].target",
        "message": "hookimpl \"saved\": 'tools.py:saved': no top-level function 'saved'; correct "
        "the target, or define the function.",
    }


def test_surfaces_of_a_hosts_own_are_known_and_checked(root: Path) -> None:
    head("  watchers:\n    - {hook: saved, target: tools.py:saved}\n")(root)
    assert codes(root) == ["unknown-key"]
    sections = {**SECTIONS, "watchers": evolve(HOOKIMPLS, key="watchers")}
    (problem,) = check_bundle(str(root), host="lionplug", sections=sections).problems
    assert (problem.code, problem.line) == ("target-missing", 8)
    assert problem.field == "capabilities.watchers[0].target"


def test_a_schema_makes_up_for_a_function_that_is_defined_elsewhere(root: Path) -> None:
    entry("description: Adds, parameters: {type: object}", "from math import fsum as add\n")(root)
    assert codes(root) == []
    code("from math import fsum as add\n")(root)
    tool = TOOL.replace("add}", "add, description: Adds}")
    manifest(HEAD + tool)(root)
    assert codes(root) == ["target-unread"]


def test_all_problems_are_told_at_once(root: Path) -> None:
    several(
        manifest(HEAD + "nope: {a: b}\nexclude: [old]\n"),
        file("old/a:b"),
        file("a:b"),
        file("nul"),
        file("notes.md", "a\u202eb"),
        file("b.py", "("),
        file("run.sh", "#!/bin/sh\n"),
    )(root)
    assert codes(root) == [
        "unknown-key",
        "name-character",
        "source-syntax",
        "text-bidi",
        "name-reserved",
        "script-without-run-bit",
    ]


def test_a_schema_that_disagrees_is_told_where_it_stands(root: Path) -> None:
    manifest(
        HEAD
        + "capabilities:\n  tools:\n    - name: add\n      target: tools.py:add\n"
        + "      parameters:\n        type: object\n        properties:\n          a: {}\n"
        + "          c: {}\n        required: [b]\n"
    )(root)
    found = [(one.code, one.line, one.field) for one in check(root).problems]
    assert found == [
        ("schema-unknown-argument", 12, "capabilities.tools[0].parameters.properties.c"),
        ("schema-missing-argument", 13, "capabilities.tools[0].parameters.required"),
    ]


def test_a_directory_without_a_manifest_is_not_searched(root: Path) -> None:
    (root / "plugin.yaml").unlink()
    file("a:b")(root)
    assert codes(root) == ["manifest-unreadable"]


def test_what_is_no_directory_is_refused(root: Path) -> None:
    for path in (root / "nowhere", root / "tools.py"):
        with pytest.raises(TreeError, match="name the directory of a bundle"):
            check(path)


def test_limits_are_those_of_every_user(root: Path) -> None:
    report = check_bundle(str(root), host="lionplug", limits=Limits(entries=1))
    assert [problem.code for problem in report.problems] == ["too-many"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every file")
def test_an_unreadable_file_is_told_and_the_rest_is_checked(root: Path) -> None:
    several(file("a.md", "x", 0), file("b.py", "("))(root)
    assert codes(root) == ["unreadable", "source-syntax"]


def test_a_tree_that_changes_meanwhile_is_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_and_change(*arguments: object) -> object:
        bundle = read_bundle(*arguments)  # type: ignore[arg-type]
        (root / "tools.py").write_text("x = 2\n")
        return bundle

    monkeypatch.setattr("lionplug.authoring.check.read_bundle", read_and_change)
    (problem,) = check(root).problems
    assert (problem.code, problem.file) == ("changed", "tools.py")


def test_nothing_of_the_bundle_is_imported_or_run(root: Path, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    leave = f"open({str(marker)!r}, 'w')\n"
    code(leave + CODE)(root)
    for name in ("conftest.py", "sitecustomize.py", "json.py", "yaml.py"):
        file(name, leave)(root)
    before = set(sys.modules)
    check(root)
    assert not marker.exists()
    assert not {name for name in set(sys.modules) - before if "tidy" in name}
    assert not list(root.rglob("__pycache__"))


def test_s36_endless_sources_end(root: Path) -> None:
    """Source that costs a parser all its memory or time is told, and the rest is checked."""
    file("deep.py", "x = " + "(" * 60_000)(root)
    file("broken.py", "(")(root)
    found = {(problem.file, problem.code) for problem in check(root).problems}
    assert ("broken.py", "source-syntax") in found
    assert found & {("deep.py", "source-syntax"), ("deep.py", "imports-unread")}


def test_a_report_is_bounded() -> None:
    many = [Problem("text-bidi", str(number), file="a") for number in range(MOST_PROBLEMS * 2)]
    kept = in_order([*many, Problem("syntax", "x", file="z")])
    assert len(kept) == MOST_PROBLEMS + 1
    assert kept[-1].code == "more"
    assert "syntax" in {problem.code for problem in kept}


FRAGMENTS = st.sampled_from(
    ["name: tidy\n", 'version: "1"\n', 'lionplug: ">=0"\n', TOOL, "exclude: [", "'*.py'", "]\n",
     "  hookimpls:\n", "    - {hook: a, target: tools.py:add}\n", "x-a: \u202e\n", "- ", "{", ": ",
     "parameters: {type: object, properties: {z: {}}}", "\0", "&a ", "\t", "requires: [b]\n"],
)  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    manifest=st.lists(FRAGMENTS, max_size=8).map("".join),
    source=st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)),
)
def test_whatever_stands_in_the_files_is_told_by_known_codes(
    tmp_path_factory: pytest.TempPathFactory, manifest: str, source: bytes
) -> None:
    root = tidy(tmp_path_factory.mktemp("any") / "b")
    (root / "plugin.yaml").write_text(manifest)
    (root / "tools.py").write_bytes(source)
    report = check(root)
    assert report == check(root)
    assert report.errors + report.warnings == len(report.problems)
    for problem in report.problems:
        assert problem.code in RULES
        assert str(problem).isprintable()
        assert str(problem).isascii()
    try:
        parse_manifest(manifest.encode(), host="lionplug")
    except ValueError:
        assert report.errors
