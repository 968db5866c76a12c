"""What the code has, the documentation names; what the documentation names, the code has."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import click
import pytest

import lionplug
import lionplug.errors
import lionplug_hookspecs
from lionplug.cli.app import make_lionplug
from lionplug.documents.declare import table_of
from lionplug.inventory.states import STATES
from lionplug.manifest.head import Head
from lionplug.manifest.sections import SECTIONS
from lionplug.settings.fields import PROJECT_KEYS, USER_KEYS, SettingsFile, SettingsLimits
from tests.docs.support import DOCS, ROOT, first_cells, generate, read, section

LINK = re.compile(r"\]\(([^)\s]+)\)")


def hooks() -> Iterator[tuple[str, Any]]:
    for module in pkgutil.iter_modules(lionplug_hookspecs.__path__, "lionplug_hookspecs."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if inspect.isfunction(value) and hasattr(value, "lionplug_spec"):
                yield f"{module.name}.{name}", value


@pytest.mark.parametrize(("name", "hook"), [pytest.param(*one, id=one[0]) for one in hooks()])
def test_every_hook_is_documented_with_its_arguments(name: str, hook: Any) -> None:
    assert f".. autofunction:: {name}\n" in read("reference/hookspecs.md")
    text = inspect.getdoc(hook) or ""
    for argument in inspect.signature(hook).parameters:
        assert f"``{argument}``" in text, f"{name} does not explain {argument}"


def test_there_are_hooks_to_document() -> None:
    assert len(list(hooks())) >= 2


@pytest.mark.parametrize("name", list(make_lionplug().commands))
def test_every_command_and_option_is_documented(name: str) -> None:
    text = section("reference/cli.md", f"## {name}")
    command = make_lionplug().commands[name]
    assert f"Usage: lionplug {name}" in text
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            for option in parameter.opts + parameter.secondary_opts:
                assert option in text
        else:
            assert (parameter.metavar or str(parameter.name).upper()) in text


def test_only_commands_that_exist_are_documented() -> None:
    headings = re.findall(r"^## ([a-z-]+)$", read("reference/cli.md"), re.MULTILINE)
    assert headings == list(make_lionplug().commands)


def test_every_error_is_documented() -> None:
    names = [cls.__name__ for cls in generate().error_classes()]
    assert "LionplugError" in names
    assert len(names) > 15
    assert set(names) <= first_cells("reference/errors.md")


def test_every_attribute_of_the_base_error_is_documented() -> None:
    parameters = inspect.signature(lionplug.errors.LionplugError).parameters
    assert set(parameters) <= first_cells("reference/errors.md")


def test_every_state_is_documented_in_its_order() -> None:
    found = re.findall(r"^\| `([a-z]+)` \|", section("reference/states.md", "# States"), re.M)
    assert tuple(found) == STATES


def test_every_key_of_a_manifest_is_documented() -> None:
    assert set(table_of(Head).keys) <= first_cells("reference/manifest.md")
    for key, known in SECTIONS.items():
        text = section("reference/manifest.md", f"### `{key}`")
        for cls in [known.entry, *generate().nested_classes(known.entry)]:
            if cls is not known.entry or not known.bare:
                for name in table_of(cls).keys:
                    assert f"| `{name}` |" in text, f"{key}: {name}"


@pytest.mark.parametrize(
    ("keys", "heading"),
    [(USER_KEYS, "## Your settings"), (PROJECT_KEYS, "## A project's settings")],
)
def test_every_key_of_settings_is_documented(keys: tuple[str, ...], heading: str) -> None:
    found = re.findall(r"^\| `(\w+)` \|", section("reference/settings.md", heading), re.MULTILINE)
    inner = list(table_of(SettingsLimits).keys) if "limits" in keys else []
    assert found == [*keys_in_order(keys), *inner]


def keys_in_order(keys: tuple[str, ...]) -> list[str]:
    return [key for key in table_of(SettingsFile).keys if key in keys]


def test_public_names_of_the_package_are_documented() -> None:
    text = read("reference/api.md")
    for name in lionplug.__all__:
        assert f"`{name}`" in text or f"lionplug.{name}" in text


@pytest.mark.parametrize("target", LINK.findall((ROOT / "README.md").read_text(encoding="utf-8")))
def test_links_of_the_readme_lead_somewhere(target: str) -> None:
    path, _, anchor = target.partition("#")
    assert (ROOT / path).is_file()
    assert not anchor


def test_every_page_is_in_the_contents() -> None:
    named = set(re.findall(r"^[a-z/-]+$", read("index.md"), re.MULTILINE))
    pages = {
        str(path.relative_to(DOCS).with_suffix(""))
        for path in DOCS.rglob("*.md")
        if path.relative_to(DOCS).parts[0] not in ("examples", "_build")
    }
    assert pages - {"index"} == named


@pytest.mark.parametrize(
    "word",
    [
        "gate", "proxy", "generation", "seal", "lease", "staging", "record", "pin", "grant",
        "surface", "scope",
    ],
)  # fmt: skip
def test_words_are_explained(word: str) -> None:
    assert len(section("reference/glossary.md", f"## {word.title()}")) > 80
