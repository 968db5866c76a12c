"""Every code that the readers of a bundle give is in the table of rules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import lionplug
from lionplug.authoring.rules import RULES

ROOT = Path(lionplug.__file__).parent
FOLDERS = ("documents", "manifest", "files", "authoring")

#: Calls that note a problem, with the position of the code among their arguments.
CALLS = {"at": 1, "add": 0, "Problem": 0, "_note": 1, "_stop": 1, "_LinkError": 0, "_add": 1}
CALLS |= {"problem_of": 1, "place": 0}


def codes_of(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            position = CALLS.get(name)
            if position is not None and len(node.args) > position + 1:
                yield from _texts(node.args[position])
            for keyword in node.keywords:
                if keyword.arg == "code" and name == "Text":
                    yield from _texts(keyword.value)
        if isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple):
            yield from _pair(node.value.elts[1:])
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
            yield from _pair(node.value.elts)


def _texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.IfExp):
        yield from _texts(node.body)
        yield from _texts(node.orelse)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def _pair(elements: list[ast.expr]) -> Iterator[str]:
    """Yield the code of ``return "code", "a sentence ..."``."""
    if len(elements) == 2 and isinstance(elements[0], ast.Constant):
        first, second = elements
        if isinstance(second, ast.JoinedStr) or (
            isinstance(second, ast.Constant) and " " in str(second.value)
        ):
            yield from _texts(first)


def all_codes() -> dict[str, str]:
    found: dict[str, str] = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for code in codes_of(ast.parse(path.read_text(encoding="utf-8"))):
                found.setdefault(code, path.relative_to(ROOT).as_posix())
    return found


@pytest.mark.parametrize(("code", "file"), all_codes().items())
def test_code_is_in_the_table(code: str, file: str) -> None:
    assert code in RULES, f"{file} gives {code}; add it to lionplug/authoring/rules.py"


def test_the_search_finds_the_codes() -> None:
    found = set(all_codes())
    assert {"unknown-key", "link-dangling", "name-reserved", "too-many", "hard-link"} <= found
    assert len(found) > 50
