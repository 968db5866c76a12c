"""Rules that hold for the text of every source file."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.frame.conftest import ROOT

MODULES = sorted(
    path
    for folder in ("lionplug", "hookspecs", "contrib")
    for path in (ROOT / folder).rglob("*.py")
)
EXEMPT = {
    "lionplug/__init__.py",  # loads the helper before it can use it
    "lionplug/imports.py",  # the helper
    "lionplug/sources/child.py",  # a program of its own under -I, which hides the directory
}


def unsafe_imports(tree: ast.Module) -> list[int]:
    """Return the lines of imports in functions that don't stand in ``with safe_imports():``."""

    def visit(node: ast.AST, in_function: bool) -> Iterator[int]:
        if isinstance(node, (ast.Import, ast.ImportFrom)) and in_function:
            yield node.lineno
        if isinstance(node, (ast.With, ast.AsyncWith)) and any(map(_is_safe, node.items)):
            return
        children: list[ast.AST]
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            negated = isinstance(node.test, ast.UnaryOp)
            children = list(node.body if negated else node.orelse)
        else:
            children = list(ast.iter_child_nodes(node))
        inside = in_function or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for child in children:
            yield from visit(child, inside)

    return list(visit(tree, False))


def _is_safe(item: ast.withitem) -> bool:
    return ast.unparse(item.context_expr) == "safe_imports()"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_s19_imports_in_functions_are_safe(path: Path) -> None:
    if path.relative_to(ROOT).as_posix() in EXEMPT:
        return
    lines = unsafe_imports(ast.parse(path.read_text(encoding="utf-8")))
    assert lines == [], "these lines need `with safe_imports():` around the import"


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("import yaml", []),
        ("def f():\n import yaml", [2]),
        ("async def f():\n from lionplug import text", [2]),
        ("class C:\n def f(self):\n  if True:\n   import yaml", [4]),
        ("def f():\n with safe_imports():\n  import yaml", []),
        ("def f():\n with other(), safe_imports():\n  import yaml", []),
        ("def f():\n with other():\n  import yaml", [3]),
        ("def f():\n with safe_imports():\n  import yaml\n import json", [4]),
        ("def f():\n if TYPE_CHECKING:\n  import yaml", []),
        ("def f():\n if TYPE_CHECKING:\n  pass\n else:\n  import yaml", [5]),
        ("def f():\n if not TYPE_CHECKING:\n  import yaml", [3]),
    ],
)
def test_unsafe_imports_are_found(code: str, lines: list[int]) -> None:
    assert unsafe_imports(ast.parse(code)) == lines


def project_files() -> list[Path]:
    """Return the files that are, or are about to be, under version control."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout, or no git")
    paths = (ROOT / name for name in listed.stdout.decode().split("\0") if name)
    return [path for path in paths if path.is_file()]


def test_no_file_names_a_place_of_the_machine_it_was_written_on() -> None:
    # Put together here, so that this file doesn't hold them.
    words = ["/" + word + "/" for word in ("root", "work")]
    found = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in project_files()
        for word in words
        if word.encode() in path.read_bytes()
    ]
    assert found == []


def test_every_text_file_ends_lines_as_unix_does() -> None:
    found = [
        str(path.relative_to(ROOT))
        for path in project_files()
        if path.suffix in {".py", ".cfg", ".toml"} and b"\r" in path.read_bytes()
    ]
    assert found == []


def test_continuous_integration_runs_what_a_contributor_runs() -> None:
    script = ROOT / ".ci/run"
    assert script.stat().st_mode & 0o111
    lines = script.read_text(encoding="utf-8").splitlines()
    code = [line for line in lines if line and not line.startswith("#")]
    assert code == ["set -eu", 'cd "$(dirname "$0")/.."', "exec make test"]
