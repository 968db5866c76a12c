"""Parts of the documentation that follow from the code are up to date."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from lionplug.manifest.schema import manifest_schema
from tests.docs.support import DOCS, generate

AGAIN = "run: .venv/bin/python docs/generate.py"


@pytest.mark.parametrize("page", generate().pages(), ids=lambda page: str(page.relative_to(DOCS)))
def test_page_is_up_to_date(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text == generate().render(text), AGAIN


def test_published_json_schema_is_that_of_the_model() -> None:
    text = (DOCS / "reference/plugin.schema.json").read_text(encoding="utf-8")
    assert text == generate().schema_text(), AGAIN
    schema = json.loads(text)
    assert schema == manifest_schema()
    jsonschema.Draft202012Validator.check_schema(schema)


def test_an_unknown_part_is_an_error() -> None:
    with pytest.raises(KeyError):
        generate().render("<!-- generated: nonsense -->\n<!-- end of generated part -->")


def test_a_part_is_replaced_and_nothing_else() -> None:
    page = "a\n<!-- generated: vectors -->\nold\n<!-- end of generated part -->\nb\n"
    text = generate().render(page)
    assert text.startswith("a\n<!-- generated: vectors -->\n**empty tree**\n")
    assert text.endswith("\n<!-- end of generated part -->\nb\n")
    assert "old" not in text
    assert generate().render(text) == text
