"""The contract of tools: light, marked, documented, and true to its own examples."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import re
import subprocess
import sys
import textwrap
from typing import Any

import pluggy
import pytest

import lionplug_hookspecs.tools as contract
from lionplug.manifest.parse import parse_manifest
from lionplug_hookspecs.tools import ToolDeclaration, list_tools, provide_tools

HOOKS = [list_tools, provide_tools]


def manager() -> Any:
    made = pluggy.PluginManager("lionplug")
    made.add_hookspecs(contract)
    return made


def blocks(hook: Any, language: str) -> list[str]:
    """Return the code blocks of a docstring."""
    text = inspect.getdoc(hook) or ""
    found = re.findall(rf"\.\. code-block:: {language}\n\n((?:    .*\n|\n)+)", text + "\n")
    return [textwrap.dedent(block) for block in found]


def test_importing_it_loads_pluggy_only() -> None:
    code = (
        "import sys, dataclasses, pluggy\nbefore = set(sys.modules)\n"
        "import lionplug_hookspecs.tools\nprint(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['lionplug_hookspecs', 'lionplug_hookspecs.tools']"


def test_a_declaration_is_frozen_and_slotted() -> None:
    declaration = ToolDeclaration("a", "p", "", None, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        declaration.name = "b"  # type: ignore[misc]
    assert not hasattr(declaration, "__dict__")
    assert [field.name for field in dataclasses.fields(declaration)] == [
        "name",
        "plugin",
        "description",
        "parameters",
        "is_async",
        "needs",
    ]


def test_hooks_have_the_arguments_and_kinds_of_the_contract() -> None:
    hook = manager().hook
    assert hook.list_tools.spec.argnames == ()
    # Both arguments are required: pluggy 1.6 never passes one that has a default.
    assert hook.provide_tools.spec.argnames == ("name", "plugin")
    assert hook.provide_tools.spec.kwargnames == ()
    assert not hook.list_tools.spec.opts["firstresult"]
    assert hook.provide_tools.spec.opts["firstresult"]


@pytest.mark.parametrize("hook", HOOKS)
def test_each_hook_says_what_an_author_must_know(hook: Any) -> None:
    text = inspect.getdoc(hook) or ""
    for heading in ("Who calls it, and when.", "Order and threads.", "What to return."):
        assert f"**{heading}**" in text
    assert "**What an exception does.**" in text
    assert "It is not called" in text


@pytest.mark.parametrize("hook", HOOKS)
def test_each_hook_shows_a_whole_bundle(hook: Any) -> None:
    (manifest,) = blocks(hook, "yaml")
    parsed = parse_manifest(manifest.encode(), host="lionplug")
    (tool,) = parsed.capabilities
    source, own = blocks(hook, "python")
    path, _, name = tool.target.partition(":")
    assert source.startswith(f"# {parsed.name}/{path}\n")
    space: dict[str, Any] = {}
    exec(compile(source, path, "exec"), space)
    assert callable(space[name])
    assert inspect.getdoc(space[name])
    assert "@hookimpl" in own


def test_the_example_object_lists_and_provides() -> None:
    space: dict[str, Any] = {}
    exec(compile(blocks(list_tools, "python")[1], "example", "exec"), space)
    made = manager()
    made.register(space["WordCount"]())
    ((declaration,),) = map(list, made.hook.list_tools())
    assert (declaration.name, declaration.is_async) == ("count_words", False)
    function = made.hook.provide_tools(name="count_words", plugin=None)
    assert function(text="two words") == 2
    assert made.hook.provide_tools(name="other", plugin=None) is None


def test_the_asynchronous_example_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    space: dict[str, Any] = {}
    exec(compile(blocks(provide_tools, "python")[0], "example", "exec"), space)
    monkeypatch.setitem(space, "fetch", lambda url: f"<title>{url}</title>")
    assert asyncio.run(space["page_title"](url="x")) == "x"
    monkeypatch.setitem(space, "fetch", lambda url: "nothing")
    assert asyncio.run(space["page_title"](url="x")) == ""
    own: dict[str, Any] = {}
    exec(compile(blocks(provide_tools, "python")[1], "example", "exec"), own)
    made = manager()
    made.register(own["PageTitle"]())
    assert made.hook.provide_tools(name="other", plugin=None) is None
    assert made.hook.provide_tools(name="page_title", plugin="somebody") is None
