"""What the tests of the documentation share."""

from __future__ import annotations

import importlib.util
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def read(page: str) -> str:
    """Return the text of a page of ``docs/``."""
    return (DOCS / page).read_text(encoding="utf-8")


@cache
def generate() -> ModuleType:
    """Return the module ``docs/generate.py``, which lies on no import path."""
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def first_cells(page: str) -> set[str]:
    """Return what stands in backticks in the first column of the tables of a page."""
    return set(re.findall(r"^\| `([^`]+)`", read(page), re.MULTILINE))


def section(page: str, heading: str) -> str:
    """Return the text below a heading, up to the next one of its own or a higher level."""
    text = _COMMENT.sub("", read(page))
    level = heading.split(" ")[0]
    _, found, rest = f"\n{text}".partition(f"\n{heading}\n")
    assert found, f"{page} has no heading {heading!r}"
    return re.split(rf"^#{{1,{len(level)}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]
