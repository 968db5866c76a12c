"""Every manifest and settings file that the documentation shows is one."""

from __future__ import annotations

import textwrap
from pathlib import Path

import jsonschema
import pytest
import yaml

from lionplug.errors import ManifestError
from lionplug.manifest.parse import parse_manifest
from lionplug.manifest.schema import manifest_schema
from lionplug.manifest.sections import SECTIONS
from lionplug.settings import read_settings
from tests.docs.support import DOCS, ROOT
from tests.frame.examples import Block, blocks

PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
HEAD = "name: example\nversion: 1.0.0\n"


def examples() -> list[tuple[Path, Block]]:
    return [
        (page, block)
        for page in PAGES
        if "_build" not in page.parts
        for block in blocks(page.read_text(encoding="utf-8"))
        if block.language == "yaml"
    ]


def is_settings(page: Path, block: Block) -> bool:
    return page.name == "settings.md" and "name:" not in block.text


def is_broken(block: Block) -> bool:
    return "name: Broken" in block.text


def whole(text: str) -> str:
    """Complete an example that shows a part of a manifest."""
    keys = set(yaml.safe_load(text))
    if "name" in keys:
        return text
    if keys <= set(SECTIONS):
        return f"{HEAD}capabilities:\n{textwrap.indent(text, '  ')}"
    return HEAD + text


def named(found: list[tuple[Path, Block]]) -> list[object]:
    return [
        pytest.param(block.text, id=f"{page.relative_to(ROOT)}:{block.line}")
        for page, block in found
    ]


@pytest.mark.parametrize(
    "text", named([one for one in examples() if not is_settings(*one) and not is_broken(one[1])])
)
def test_manifest_is_read_and_fits_the_json_schema(text: str) -> None:
    text = whole(text)
    manifest = parse_manifest(text.encode(), host="lionplug")
    assert manifest.capabilities or manifest.hosts
    jsonschema.validate(yaml.safe_load(text), manifest_schema())


@pytest.mark.parametrize("text", named([one for one in examples() if is_broken(one[1])]))
def test_broken_manifest_is_refused_by_both(text: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parse_manifest(text.encode(), host="lionplug")
    assert len(caught.value.problems) == 5
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(text), manifest_schema())


@pytest.mark.parametrize("text", named([one for one in examples() if is_settings(*one)]))
def test_settings_are_read(text: str, tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(text, encoding="utf-8")
    settings = read_settings(str(file), "user")
    assert settings.problems == ()


@pytest.mark.parametrize(
    "file", sorted((DOCS / "examples").rglob("plugin.yaml")), ids=lambda file: file.parent.name
)
def test_bundle_of_the_examples_fits_the_json_schema(file: Path) -> None:
    parse_manifest(file.read_bytes(), host="lionplug")
    jsonschema.validate(yaml.safe_load(file.read_bytes()), manifest_schema())
