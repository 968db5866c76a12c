"""Which names plugins, tools and hosts may have."""

from __future__ import annotations

import re

#: A plugin's name, which is also its namespace. As a regular expression for a whole text.
PLUGIN_NAME = "[a-z0-9][a-z0-9-]{0,31}"
PLUGIN_NAME_HINT = "1 to 32 of a-z, 0-9 and '-', not '-' first"

#: Tools, servers, and the stems of files that become names: they reach prompts and terminals.
TOOL_NAME = "[A-Za-z0-9_-]{1,64}"
TOOL_NAME_HINT = "1 to 64 of A-Z, a-z, 0-9, '_' and '-'"

#: A host's name: its manifest key, its directory ``.NAME`` and its entry-point groups.
HOST_NAME = "[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
HOST_NAME_HINT = "1 to 64 of A-Z, a-z, 0-9, '_' and '-', a letter or digit first"

#: Words that address a copy of a plugin (``user:NAME``) and so can't be names.
RESERVED_PLUGIN_NAMES = frozenset({"installed", "user", "project"})

_plugin_name = re.compile(PLUGIN_NAME).fullmatch
_tool_name = re.compile(TOOL_NAME).fullmatch
_host_name = re.compile(HOST_NAME).fullmatch


def why_not_plugin_name(name: str) -> str | None:
    """Return why a text can't be the name of a plugin, or ``None``."""
    if not _plugin_name(name):
        return f"expected {PLUGIN_NAME_HINT}"
    if name in RESERVED_PLUGIN_NAMES:
        return f"expected a name other than {', '.join(sorted(RESERVED_PLUGIN_NAMES))}"
    return None


def is_plugin_name(name: str) -> bool:
    """Tell whether a text can be the name of a plugin."""
    return why_not_plugin_name(name) is None


def is_tool_name(name: str) -> bool:
    """Tell whether a text can be the name of a tool, or a stem that becomes a name."""
    return _tool_name(name) is not None


def is_host_name(name: str) -> bool:
    """Tell whether a text can be the name of a host."""
    return _host_name(name) is not None
