"""Agents: profiles that tell a model who it is and what it may use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pluggy

__all__ = ["Agent", "AgentDeclaration", "list_agents", "provide_agents"]

hookspec = pluggy.HookspecMarker("lionplug")


@dataclass(frozen=True, slots=True)
class AgentDeclaration:
    """What is known of the profile of an agent without reading its file.

    :ivar name: Its name: the file's, without the ending.
    :ivar plugin: Name of the plugin that brings it, or of the host.
    :ivar file: Path of its file, relative to the plugin.
    """

    name: str
    plugin: str
    file: str


@dataclass(frozen=True, slots=True)
class Agent:
    """The profile of an agent, as it was approved.

    :ivar name: Its name.
    :ivar plugin: Name of the plugin that brings it, or of the host.
    :ivar file: Path of its file, relative to the plugin.
    :ivar text: The whole file.
    :ivar metadata: Its front matter as JSON data; empty if it has none.
    :ivar body: The text after the front matter.
    """

    name: str
    plugin: str
    file: str
    text: str
    metadata: Mapping[str, Any]
    body: str


@hookspec
def list_agents() -> Iterable[AgentDeclaration]:  # type: ignore[empty-body]
    """Tell which agents there are, as data; no file of a plugin is read for it.

    Most plugins never write this function: what a bundle declares in ``plugin.yaml`` is
    listed by lionplug itself. A whole plugin, a directory ``research/``:

    .. code-block:: yaml

        # research/plugin.yaml
        name: research
        version: "1.0"
        lionplug: ">=0.1"
        capabilities:
          agents: [agents/researcher.md]

    Its ``agents/researcher.md``:

    .. code-block:: text

        ---
        description: Finds sources and weighs them
        tools: [web_search]
        ---
        You look for sources before you answer.

    The same as an object that a host registers with ``host.register(Own())``:

    .. code-block:: python

        from lionplug import hookimpl
        from lionplug_hookspecs.agents import Agent, AgentDeclaration

        class Own:
            @hookimpl
            def list_agents(self):
                yield AgentDeclaration(name="researcher", plugin="my-host", file="")

            @hookimpl
            def provide_agents(self, name, plugin):
                if name == "researcher" and plugin in (None, "my-host"):
                    text = "Be brief."
                    return Agent(
                        name="researcher",
                        plugin="my-host",
                        file="",
                        text=text,
                        metadata={},
                        body=text,
                    )

    **Who calls it, and when.** The host, whenever it shows its agents to a person or
    looks one up: ``list(host.agents)``. An answer is kept for one generation of the
    inventory. It is not called for plugins that are untrusted, changed or disabled.

    **Order and threads.** All implementations are asked, in pluggy's order: the one that
    was registered last comes first. Plugins follow the host's own objects. It is called on
    the thread of whoever asked, possibly on several at once.

    **What to return.** An iterable of :class:`AgentDeclaration`, empty if there are none;
    ``None`` counts as empty. Several plugins may have one name: it is then looked up as
    ``plugin/name``. A bare name that the host has stays with the host.

    **What an exception does.** It passes to whoever asked, with a note that names the
    plugin.
    """


@hookspec(firstresult=True)
def provide_agents(name: str, plugin: str | None) -> Agent | None:
    """Hand out one agent, read from the approved copy of its plugin.

    Most plugins never write this function: for a bundle lionplug reads the file that
    ``plugin.yaml`` names. The example of :func:`list_agents` shows a whole plugin and an
    object that implements both.

    **Who calls it, and when.** The host, for every look-up:
    ``host.agents["research/researcher"]``. So a plugin revoked a moment ago is not read any
    more. It is not called while agents are listed, described or approved.

    **Arguments.** Both are always passed. ``name`` is the bare name; ``plugin`` is the
    name of the plugin that is asked for, or ``None`` for whoever has the name alone.

    **Order and threads.** Implementations are asked in pluggy's order until one returns
    something other than ``None``: the host's own objects before plugins. It is called on
    the thread of whoever asked, possibly on several at once.

    **What to return.** The :class:`Agent`; ``None`` if the name is not yours.

    **What an exception does.** It passes to whoever asked. A file that can't be read as
    UTF-8 text with sound front matter raises ``lionplug.errors.ContentError``, with line
    and column.
    """
