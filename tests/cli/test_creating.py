"""``new``, from outside: what it writes works."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.place import Place


def files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


WRITTEN = ["README.md", "plugin.yaml", "test_word_count_plugin.py", "word_count_plugin/tools.py"]


def test_a_new_bundle_is_accepted_and_its_own_tests_pass(place: Place) -> None:
    result = place.outside("new", "word-count")
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "Wrote word-count:\n"
        "  plugin.yaml\n"
        "  word_count_plugin/tools.py\n"
        "  test_word_count_plugin.py\n"
        "  README.md\n"
        "Next: lionplug check word-count\n"
    )
    root = place.project / "word-count"
    assert files(root) == WRITTEN
    checked = place.outside("check", "word-count")
    assert (checked.code, checked.out) == (0, "word-count 0.1.0: nothing to mend.\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=root,
        env=place.environment(PYTHONDONTWRITEBYTECODE="1"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_testing_it_changes_nothing_that_was_approved(place: Place) -> None:
    place.run("new", "word-count")
    digest = place.run("digest", "word-count").out
    for path in (".pytest_cache/v", "word_count_plugin/__pycache__/tools.pyc", ".venv/a.py"):
        target = place.project / "word-count" / path
        target.parent.mkdir(parents=True)
        target.write_text("x")
    assert place.run("digest", "word-count").out == digest


def test_it_can_be_approved_and_called(place: Place) -> None:
    place.user_plugins.mkdir(parents=True)
    for folder in (place.user_plugins, place.user_plugins.parent):
        folder.chmod(0o700)
    place.run("new", "word-count", str(place.user_plugins / "word-count"))
    place.approve("word-count")
    result = place.run("call", "word_count_count_words", "text=to be or not to be", "unique=true")
    assert (result.code, result.out) == (0, "4\n")


def test_json_names_what_was_written(place: Place) -> None:
    document = place.json("new", "word-count", "elsewhere")
    assert document == {
        "name": "word-count",
        "template": "bundle",
        "path": str(place.project / "elsewhere"),
        "files": [
            "plugin.yaml",
            "word_count_plugin/tools.py",
            "test_word_count_plugin.py",
            "README.md",
        ],
    }
    assert files(place.project / "elsewhere") == WRITTEN


def test_what_is_there_is_refused(place: Place) -> None:
    (place.project / "word-count").mkdir()
    result = place.run("new", "word-count")
    assert result.code == 2
    assert "word-count is there already, and nothing was written; name a new" in result.err
    assert files(place.project / "word-count") == []
    assert place.json("new", "word-count", code=2)["error"]["type"] == "UsageError"


@pytest.mark.parametrize("name", ["../a", "A", "user", "a" * 33, "a b", "\u202e"])
def test_the_name_is_checked_before_anything_is_written(place: Place, name: str) -> None:
    before = sorted(place.project.rglob("*"))
    result = place.run("new", name, "elsewhere")
    assert result.code == 2
    assert "can't be the name of a plugin: expected" in result.err
    assert sorted(place.project.rglob("*")) == before


def test_s37_the_next_command_is_quoted(place: Place) -> None:
    assert "check 'my tools; ls'\n" in place.run("new", "a", "my tools; ls").out
    assert "check ./-x\n" in place.run("new", "a", "--", "-x").out


def test_templates_complete(place: Place) -> None:
    result = place.outside(
        _LIONPLUG_COMPLETE="bash_complete", COMP_WORDS="lionplug new --template b", COMP_CWORD="3"
    )
    assert result.out == "plain,bundle\n"


def test_the_group_of_an_application_has_it(
    place: Place, application_of: Callable[..., str]
) -> None:
    shown = application_of("new", "word-count", str(place.project / "w"))
    assert f"Next: li plugin check {place.project / 'w'}" in shown
    assert 'app: ">=1.0"' in (place.project / "w" / "plugin.yaml").read_text()
    assert "nothing to mend" in application_of("check", str(place.project / "w"))
