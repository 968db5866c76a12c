"""Every example in README.md and docs/ does what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frame.examples import Block, blocks, commands, matches, run_page

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    if not path.is_relative_to(ROOT / "docs/examples")
    and not path.is_relative_to(ROOT / "docs/_build")
    and any(block.runs for block in blocks(path.read_text(encoding="utf-8")))
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_of_page(page: Path, tmp_path: Path) -> None:
    assert run_page(page, tmp_path / "home") > 0


def write(folder: Path, text: str) -> Path:
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    return page


def test_page_runs_from_top_to_bottom_in_one_directory(tmp_path: Path) -> None:
    page = write(
        tmp_path,
        "<!-- file: data/name.txt -->\n```text\nlion\n```\n\n"
        "```python\nname = open('data/name.txt').read()\nopen('copy.txt', 'w').write(name)\n```\n\n"
        "```console\n$ cat copy.txt\nlion\n$ ls nowhere  # exit status 2\n...nowhere...\n"
        '$ echo "$HOME" \\\n  | wc -l\n1\n```\n\n'
        "<!-- skip: needs a terminal -->\n```console\n$ false\n```\n\n"
        "```yaml\nonly: shown\n```\n",
    )
    assert run_page(page, tmp_path / "home") == 3
    assert (tmp_path / "home/project/copy.txt").read_text() == "lion\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```console\n$ echo one\ntwo\n```\n", "--- the page shows\ntwo\n--- it printed\none\n"),
        ("```console\n$ false\n```\n", "page.md, line 2: false\nexpected exit status 0, got 1\n"),
        ("```console\n$ true  # exit status 3\n```\n", "expected exit status 3, got 0"),
        ("\n```python\nraise SystemExit(7)\n```\n", "page.md, line 2: exit status 7"),
    ],
)
def test_page_that_is_wrong_fails(tmp_path: Path, text: str, message: str) -> None:
    page = write(tmp_path, text)
    with pytest.raises(AssertionError) as caught:
        run_page(page, tmp_path / "home")
    assert message in str(caught.value)


def test_examples_do_not_see_the_environment_of_the_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIONPLUG_HOME", "/elsewhere")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    page = write(
        tmp_path,
        "```console\n$ env | grep -c elsewhere  # exit status 1\n0\n$ pwd\n.../home/project\n```\n",
    )
    assert run_page(page, tmp_path / "home") == 1


def test_directive_counts_only_right_before_its_block() -> None:
    text = "<!-- skip: why -->\nwords\n```python\n1\n```\n<!-- skip: why -->\n\n```python\n2\n```\n"
    assert blocks(text) == [Block("python", "1\n", 3), Block("python", "2\n", 8, skip="why")]


def test_longer_fence_holds_a_shorter_one() -> None:
    (block,) = blocks("````markdown\n```python\nraise\n```\n````\n")
    assert (block.language, block.text) == ("markdown", "```python\nraise\n```\n")


def test_block_that_is_never_closed_is_an_error() -> None:
    with pytest.raises(ValueError, match="^line 2: this block is never closed$"):
        blocks("\n```python\nx\n")


def test_console_block_begins_with_a_command() -> None:
    with pytest.raises(ValueError, match=r"^line 2: a console block begins with a '\$ command'"):
        list(commands(Block("console", "output\n", 1)))


@pytest.mark.parametrize(
    ("shown", "actual", "same"),
    [
        (("a", "b"), "a\nb\n", True),
        (("a", "b"), "a\nb", True),
        (("a",), "a\nb\n", False),
        (("a", "..."), "a\nb\nc\n", True),
        (("a", "..."), "a\n", True),
        (("...", "c"), "a\nb\nc\n", True),
        (("in ... ms",), "in 12.5 ms\n", True),
        (("in ... ms",), "in 12.5\nms\n", False),
        (("a.c",), "abc\n", False),
        (("a   ",), "a\n", True),
    ],
)
def test_output_matches(shown: tuple[str, ...], actual: str, same: bool) -> None:
    assert matches(shown, actual) is same
