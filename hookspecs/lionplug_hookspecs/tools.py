"""Tools: named functions that an agent or a program calls with JSON arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pluggy

__all__ = ["ToolDeclaration", "list_tools", "provide_tools"]

hookspec = pluggy.HookspecMarker("lionplug")


@dataclass(frozen=True, slots=True)
class ToolDeclaration:
    """What is known of a tool without importing it.

    :ivar name: Name by which it is called: 1 to 64 letters, digits, ``_`` or ``-``.
    :ivar plugin: Name of the plugin that brings it, or of the host.
    :ivar description: What it does, for a model or a person.
    :ivar parameters: JSON Schema (2020-12) of its arguments, an object by parameter name;
        ``None`` if not known.
    :ivar is_async: Whether it must be awaited; ``None`` if not known before its first call.
    :ivar needs: What is missing before it can be called, such as ``an executor``; else empty.
        Such a tool is listed for people; leave it out of what a model is offered.
    """

    name: str
    plugin: str
    description: str
    parameters: Mapping[str, Any] | None
    is_async: bool | None
    needs: str = ""


@hookspec
def list_tools() -> Iterable[ToolDeclaration]:  # type: ignore[empty-body]
    """Tell which tools there are, as data; nothing is imported for it.

    Most plugins never write this function: what a bundle declares in ``plugin.yaml`` is
    listed by lionplug itself. A whole plugin, a directory ``word-count/``:

    .. code-block:: yaml

        # word-count/plugin.yaml
        name: word-count
        version: "1.0"
        lionplug: ">=0.1"
        capabilities:
          tools:
            - name: count_words
              target: words.py:count_words

    .. code-block:: python

        # word-count/words.py
        def count_words(text: str) -> int:
            '''Count the words of a text.'''
            return len(text.split())

    The same as an object that a host registers with ``host.register(WordCount())``:

    .. code-block:: python

        from lionplug import hookimpl
        from lionplug_hookspecs.tools import ToolDeclaration

        class WordCount:
            @hookimpl
            def list_tools(self):
                text = {"type": "string", "description": "The text."}
                yield ToolDeclaration(
                    name="count_words",
                    plugin="my-host",
                    description="Count the words of a text.",
                    parameters={"type": "object", "properties": {"text": text}},
                    is_async=False,
                )

            @hookimpl
            def provide_tools(self, name, plugin):
                if name == "count_words":
                    return lambda text: len(text.split())

    **Who calls it, and when.** The host, whenever it shows its tools to a model or a person
    or looks one up: ``list(host.tools)``, ``host.tools["count_words"]``. An answer is kept
    for one generation of the inventory. It is not called when a tool is called, and not
    for plugins that are untrusted, changed or disabled.

    **Order and threads.** All implementations are asked, in pluggy's order: the one that
    was registered last comes first. Plugins follow the host's own objects. It is called on
    the thread of whoever asked, possibly on several at once.

    **What to return.** An iterable of :class:`ToolDeclaration`, empty if there are none;
    ``None`` counts as empty. If two plugins declare one name, neither gets it; a name that
    the host has or reserved stays with the host.

    **What an exception does.** It passes to whoever asked, with a note that names the
    plugin. A plugin that can't be imported contributes nothing, with one warning in the
    log ``lionplug``.
    """


@hookspec(firstresult=True)
def provide_tools(name: str, plugin: str | None) -> Callable[..., Any] | None:
    """Hand out the function behind one tool; this is where a plugin is imported.

    Most plugins never write this function: for a bundle lionplug imports the ``target``
    that ``plugin.yaml`` names. A whole plugin, with an asynchronous tool:

    .. code-block:: yaml

        # page-title/plugin.yaml
        name: page-title
        version: "1.0"
        lionplug: ">=0.1"
        capabilities:
          tools:
            - name: page_title
              target: pages.py:page_title

    .. code-block:: python

        # page-title/pages.py
        import asyncio
        import re
        import urllib.request

        def fetch(url):
            with urllib.request.urlopen(url) as page:
                return page.read(100_000).decode("utf-8", "replace")

        async def page_title(url: str) -> str:
            '''Return the title of a web page.'''
            found = re.search("<title>(.*?)</title>", await asyncio.to_thread(fetch, url))
            return found[1] if found else ""

    The same as an object that a host registers with ``host.register(PageTitle())``; its
    ``list_tools`` declares the tool as shown for :func:`list_tools`:

    .. code-block:: python

        from lionplug import hookimpl

        class PageTitle:
            @hookimpl
            def provide_tools(self, name, plugin):
                if name != "page_title" or plugin not in (None, "my-host"):
                    return None
                from my_host.pages import page_title  # imported on the first call only
                return page_title

    **Who calls it, and when.** The host, before every single call of a tool, so that a
    plugin revoked a moment ago is not called any more; ``acall`` asks again before the
    tool's own code runs. Don't keep what it returns: ask again. It is not called while
    tools are listed, described or approved.

    **Arguments.** Both are always passed. ``name`` is the tool's name; ``plugin`` is the
    name of the plugin that is asked for, or ``None`` for whoever offers the name.

    **Order and threads.** Implementations are asked in pluggy's order until one returns
    something other than ``None``: the host's own objects before plugins. It is called on
    the thread of whoever calls the tool, possibly on several at once; a plugin is
    imported once all the same.

    **What to return.** The callable, which takes the tool's arguments by keyword and
    returns a JSON value or an awaitable of one; ``None`` if the name is not yours.

    **What an exception does.** It passes to the caller of the tool. A plugin that can't be
    imported raises ``lionplug.errors.ActivationError``, the same each time, without being
    tried again until it changes. What the tool itself raises passes through, with a note
    that names the plugin.
    """
