"""Changelog fragments are named and written so that the release notes take them up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.frame.conftest import ROOT

FRAGMENTS = sorted(
    path
    for path in (ROOT / "changelog").iterdir()
    if path.name != "README.md" and not path.name.startswith(".")
)


def types() -> set[str]:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    tables = text.split("[[tool.towncrier.type]]")[1:]
    return {re.findall(r'^directory = "(\w+)"', table, re.MULTILINE)[0] for table in tables}


def test_readme_explains_each_type() -> None:
    text = (ROOT / "changelog/README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == types()


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda path: path.name)
def test_fragment(path: Path) -> None:
    name = re.fullmatch(r"\+?[a-z0-9]+(?:-[a-z0-9]+)*\.([a-z]+)\.md", path.name)
    assert name, "expected NAME.TYPE.md, in lower case"
    assert name[1] in types()
    text = path.read_text(encoding="utf-8").strip()
    assert text.endswith("."), "expected whole sentences"
