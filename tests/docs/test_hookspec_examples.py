"""The plugins that the docstrings of hook specifications show work in a host."""

from __future__ import annotations

import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

from lionplug_hookspecs import agents, packs, playbooks, tools
from tests.support import World

BLOCK = re.compile(r"^\.\. code-block:: (\w+)\n\n((?:    .*\n|\n)+)", re.MULTILINE)
FILE = re.compile(r"# ([\w-]+)/([\w./-]+)\n")


def blocks(hook: Any) -> list[str]:
    text = (inspect.getdoc(hook) or "") + "\n"
    return [textwrap.dedent(body).strip("\n") + "\n" for _, body in BLOCK.findall(text)]


def write_bundles(folder: Path, hook: Any) -> list[str]:
    """Write the blocks that begin with a path, and return the names of the bundles."""
    names: dict[str, None] = {}
    for block in blocks(hook):
        match = FILE.match(block)
        if match:
            path = folder / match[1] / match[2]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block)
            names[match[1]] = None
    return list(names)


def object_shown(hook: Any, name: str) -> Any:
    """Return the class of a host's own object that a docstring shows."""
    (source,) = [block for block in blocks(hook) if f"class {name}" in block]
    space: dict[str, Any] = {}
    exec(source, space)
    return space[name]


def test_bundles_of_both_hooks_are_listed_and_approved(world: World) -> None:
    names = write_bundles(world.plugins(), tools.list_tools)
    names += write_bundles(world.plugins(), tools.provide_tools)
    assert names == ["word-count", "page-title"]
    host = world.host()
    for name in names:
        assert world.approve(host, name).state == "active"
    assert {tool.name: tool.description for tool in host.tools} == {
        "count_words": "Count the words of a text.",
        "page_title": "Return the title of a web page.",
    }
    assert host.tools["page_title"].is_async
    assert host.tools.call("count_words", {"text": "one two three"}) == 3


def test_object_of_a_host_lists_and_provides(world: World) -> None:
    host = world.host()
    host.register(object_shown(tools.list_tools, "WordCount")())
    assert host.tools["count_words"].plugin == "my-host"
    assert host.tools.call("count_words", {"text": "one two three"}) == 3


def test_bundles_of_files_are_served(world: World) -> None:
    assert write_bundles(world.plugins(), agents.list_agents) == ["research"]
    (profile,) = [block for block in blocks(agents.list_agents) if block.startswith("---")]
    (world.plugins() / "research" / "agents").mkdir()
    (world.plugins() / "research" / "agents" / "researcher.md").write_text(profile)
    assert write_bundles(world.plugins(), playbooks.list_playbooks) == ["deep-research"]
    assert write_bundles(world.plugins(), packs.list_packs) == ["house-style"]
    host = world.host()
    for name in ("research", "deep-research", "house-style"):
        assert world.approve(host, name).state == "active"
    agent = host.agents["research/researcher"]
    assert agent.metadata["tools"] == ["web_search"]
    assert agent.body == "You look for sources before you answer.\n"
    assert len(host.playbooks["deep-research/survey"].data["steps"]) == 2
    assert host.packs["style"].data == {"tone": "friendly"}


def test_objects_of_a_host_that_offer_files_work(world: World) -> None:
    host = world.host()
    for hook in (agents.list_agents, playbooks.list_playbooks, packs.list_packs):
        host.register(object_shown(hook, "Own")())
    assert host.agents["researcher"].text == "Be brief."
    assert host.playbooks["my-host/survey"].data == {"steps": []}
    assert host.packs["style"].data == {"tone": "dry"}
    assert [one.plugin for one in host.agents] == ["my-host"]
