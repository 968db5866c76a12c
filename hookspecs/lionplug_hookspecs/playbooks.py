"""Playbooks: files that drive a session step by step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pluggy

__all__ = ["Playbook", "PlaybookDeclaration", "list_playbooks", "provide_playbooks"]

hookspec = pluggy.HookspecMarker("lionplug")


@dataclass(frozen=True, slots=True)
class PlaybookDeclaration:
    """What is known of a playbook without reading its file.

    :ivar name: Its name: the file's, without the ending.
    :ivar plugin: Name of the plugin that brings it, or of the host.
    :ivar file: Path of its file, relative to the plugin.
    """

    name: str
    plugin: str
    file: str


@dataclass(frozen=True, slots=True)
class Playbook:
    """A playbook, as it was approved.

    :ivar name: Its name.
    :ivar plugin: Name of the plugin that brings it, or of the host.
    :ivar file: Path of its file, relative to the plugin.
    :ivar text: The whole file.
    :ivar data: What it says, as JSON data.
    """

    name: str
    plugin: str
    file: str
    text: str
    data: Mapping[str, Any]


@hookspec
def list_playbooks() -> Iterable[PlaybookDeclaration]:  # type: ignore[empty-body]
    """Tell which playbooks there are, as data; no file of a plugin is read for it.

    Most plugins never write this function: what a bundle declares in ``plugin.yaml`` is
    listed by lionplug itself. A whole plugin, a directory ``deep-research/``:

    .. code-block:: yaml

        # deep-research/plugin.yaml
        name: deep-research
        version: "1.0"
        lionplug: ">=0.1"
        capabilities:
          playbooks: [playbooks/survey.playbook.yaml]

    .. code-block:: yaml

        # deep-research/playbooks/survey.playbook.yaml
        steps:
          - ask: What is known?
          - ask: What is missing?

    The same as an object that a host registers with ``host.register(Own())``:

    .. code-block:: python

        from lionplug import hookimpl
        from lionplug_hookspecs.playbooks import Playbook, PlaybookDeclaration

        class Own:
            @hookimpl
            def list_playbooks(self):
                yield PlaybookDeclaration(name="survey", plugin="my-host", file="")

            @hookimpl
            def provide_playbooks(self, name, plugin):
                if name == "survey" and plugin in (None, "my-host"):
                    return Playbook(
                        name="survey",
                        plugin="my-host",
                        file="",
                        text="steps: []",
                        data={"steps": []},
                    )

    **Who calls it, and when.** The host, whenever it shows its playbooks to a person or
    looks one up: ``list(host.playbooks)``. An answer is kept for one generation of the
    inventory. It is not called for plugins that are untrusted, changed or disabled.

    **Order and threads.** All implementations are asked, in pluggy's order: the one that
    was registered last comes first. Plugins follow the host's own objects. It is called on
    the thread of whoever asked, possibly on several at once.

    **What to return.** An iterable of :class:`PlaybookDeclaration`, empty if there are none;
    ``None`` counts as empty. Several plugins may have one name: it is then looked up as
    ``plugin/name``. A bare name that the host has stays with the host.

    **What an exception does.** It passes to whoever asked, with a note that names the
    plugin.
    """


@hookspec(firstresult=True)
def provide_playbooks(name: str, plugin: str | None) -> Playbook | None:
    """Hand out one playbook, read from the approved copy of its plugin.

    Most plugins never write this function: for a bundle lionplug reads the file that
    ``plugin.yaml`` names. The example of :func:`list_playbooks` shows a whole plugin and an
    object that implements both.

    **Who calls it, and when.** The host, for every look-up:
    ``host.playbooks["deep-research/survey"]``. So a plugin revoked a moment ago is not read any
    more. It is not called while playbooks are listed, described or approved.

    **Arguments.** Both are always passed. ``name`` is the bare name; ``plugin`` is the
    name of the plugin that is asked for, or ``None`` for whoever has the name alone.

    **Order and threads.** Implementations are asked in pluggy's order until one returns
    something other than ``None``: the host's own objects before plugins. It is called on
    the thread of whoever asked, possibly on several at once.

    **What to return.** The :class:`Playbook`; ``None`` if the name is not yours.

    **What an exception does.** It passes to whoever asked. A file that can't be read as
    a YAML mapping raises ``lionplug.errors.ContentError``, with line and column.
    """
