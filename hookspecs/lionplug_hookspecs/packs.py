"""Packs: data that overlays what a host already has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pluggy

__all__ = ["Pack", "PackDeclaration", "list_packs", "provide_packs"]

hookspec = pluggy.HookspecMarker("lionplug")


@dataclass(frozen=True, slots=True)
class PackDeclaration:
    """What is known of a pack without reading its file.

    :ivar name: Its name: the file's, without the ending.
    :ivar plugin: Name of the plugin that brings it, or of the host.
    :ivar file: Path of its file, relative to the plugin.
    """

    name: str
    plugin: str
    file: str


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack, as it was approved.

    :ivar name: Its name.
    :ivar plugin: Name of the plugin that brings it, or of the host.
    :ivar file: Path of its file, relative to the plugin.
    :ivar data: What it says, as JSON data.
    """

    name: str
    plugin: str
    file: str
    data: Mapping[str, Any]


@hookspec
def list_packs() -> Iterable[PackDeclaration]:  # type: ignore[empty-body]
    """Tell which packs there are, as data; no file of a plugin is read for it.

    Most plugins never write this function: what a bundle declares in ``plugin.yaml`` is
    listed by lionplug itself. A whole plugin, a directory ``house-style/``:

    .. code-block:: yaml

        # house-style/plugin.yaml
        name: house-style
        version: "1.0"
        lionplug: ">=0.1"
        capabilities:
          packs: [packs/style.yaml]

    .. code-block:: yaml

        # house-style/packs/style.yaml
        tone: friendly

    The same as an object that a host registers with ``host.register(Own())``:

    .. code-block:: python

        from lionplug import hookimpl
        from lionplug_hookspecs.packs import Pack, PackDeclaration

        class Own:
            @hookimpl
            def list_packs(self):
                yield PackDeclaration(name="style", plugin="my-host", file="")

            @hookimpl
            def provide_packs(self, name, plugin):
                if name == "style" and plugin in (None, "my-host"):
                    return Pack(
                        name="style", plugin="my-host", file="", data={"tone": "dry"}
                    )

    **Who calls it, and when.** The host, whenever it shows its packs to a person or
    looks one up: ``list(host.packs)``. An answer is kept for one generation of the
    inventory. It is not called for plugins that are untrusted, changed or disabled.

    **Order and threads.** All implementations are asked, in pluggy's order: the one that
    was registered last comes first. Plugins follow the host's own objects. It is called on
    the thread of whoever asked, possibly on several at once.

    **What to return.** An iterable of :class:`PackDeclaration`, empty if there are none;
    ``None`` counts as empty. Several plugins may have one name: it is then looked up as
    ``plugin/name``. A bare name that the host has stays with the host.

    **What an exception does.** It passes to whoever asked, with a note that names the
    plugin.
    """


@hookspec(firstresult=True)
def provide_packs(name: str, plugin: str | None) -> Pack | None:
    """Hand out one pack, read from the approved copy of its plugin.

    Most plugins never write this function: for a bundle lionplug reads the file that
    ``plugin.yaml`` names. The example of :func:`list_packs` shows a whole plugin and an
    object that implements both.

    **Who calls it, and when.** The host, for every look-up:
    ``host.packs["house-style/style"]``. So a plugin revoked a moment ago is not read any
    more. It is not called while packs are listed, described or approved.

    **Arguments.** Both are always passed. ``name`` is the bare name; ``plugin`` is the
    name of the plugin that is asked for, or ``None`` for whoever has the name alone.

    **Order and threads.** Implementations are asked in pluggy's order until one returns
    something other than ``None``: the host's own objects before plugins. It is called on
    the thread of whoever asked, possibly on several at once.

    **What to return.** The :class:`Pack`; ``None`` if the name is not yours.

    **What an exception does.** It passes to whoever asked. A file that can't be read as
    a YAML mapping raises ``lionplug.errors.ContentError``, with line and column.
    """
