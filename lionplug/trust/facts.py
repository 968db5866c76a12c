"""The summary of a disclosure: counts, the most dangerous facts, and reasons to refuse.

It stands directly above the question, so that a long list of files can't push it out of
sight (security rule S24).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from lionplug.text import exact
from lionplug.trust.layout import plural

if TYPE_CHECKING:
    from lionplug.trust.disclosure import Disclosed
    from lionplug.trust.file_table import FileRow

#: An element of a command above this many bytes can't be reviewed,
LONGEST_ELEMENT = 4 * 2**10
#: nor can more capabilities than these that execute.
MOST_EXECUTABLES = 200
#: How many facts are repeated above the question, and how many names each of them gives.
FACTS = 3
NAMES = 3

_HIDING = ("bidi", "invisible", "control", "lone-cr", "separator", "encoding")

_SURFACES = {
    "tools": "tool",
    "hookimpls": "hook implementation",
    "hooks_external": "hook command",
    "agents": "agent",
    "playbooks": "playbook",
    "providers": "provider",
    "packs": "pack",
    "skills": "skill",
    "prompts": "prompt",
    "mcp_servers": "MCP server",
}


def counts(capabilities: Sequence[Disclosed], files: Sequence[FileRow]) -> dict[str, int]:
    """Return how much there is of what, surfaces by their own names."""
    found = Counter(item.capability.surface for item in capabilities)
    kinds = Counter(row.kind for row in files)
    return {
        **found,
        "entries": len(files),
        "files": len(files) - kinds["directory"] - kinds["link"],
        "directories": kinds["directory"],
        "links": kinds["link"],
        "bytes": sum(row.size for row in files),
        "run_bits": sum(row.runs for row in files),
        "undeclared_code": sum(row.is_undeclared_code for row in files),
        "flagged": sum(bool(row.flags) for row in files),
    }


def refusals(capabilities: Sequence[Disclosed], files: Sequence[FileRow]) -> tuple[str, ...]:
    """Return why a plugin can't be approved: nobody could review it, or it deceives."""
    found = []
    executables = sum(item.group == "executes" for item in capabilities)
    if executables > MOST_EXECUTABLES:
        found.append(
            f"{executables:,} capabilities execute something; "
            f"more than {MOST_EXECUTABLES} can't be reviewed"
        )
    for item in capabilities:
        for index, element in enumerate(item.capability.argv):
            size = len(element.encode("utf-8", "surrogatepass"))
            if size > LONGEST_ELEMENT:
                found.append(
                    f"{exact(item.label)}: element {index} of the command has {size:,} bytes; "
                    f"more than {LONGEST_ELEMENT:,} can't be reviewed"
                )
    for row in files:
        for flag in row.flags:
            if flag.severity == "refuse":
                found.append(f"{exact(row.path)}: {flag}")
    return tuple(found)


def dangerous_facts(capabilities: Sequence[Disclosed], files: Sequence[FileRow]) -> tuple[str, ...]:
    """Return the most dangerous facts, at most three sentences in printable ASCII.

    What executes is always among them; the others are chosen by how much they would
    surprise a reader of the declarations.
    """
    facts = [
        *_execution(capabilities),
        *_hidden(files),
        *_unpinned(capabilities),
        *_secrets(capabilities),
        *_undeclared(files),
        *_missing(capabilities),
        *_connections(capabilities),
        *_instructions(capabilities),
    ]
    return tuple(facts[:FACTS])


def surface_counts(capabilities: Iterable[Disclosed]) -> str:
    """Return text such as ``"2 tools, 1 agent"``."""
    found = Counter(item.capability.surface for item in capabilities)
    return ", ".join(
        plural(count, _SURFACES.get(surface, f"{exact(surface)} entry"))
        for surface, count in found.items()
    )


def _execution(capabilities: Sequence[Disclosed]) -> Iterator[str]:
    executing = [item for item in capabilities if item.group == "executes"]
    if executing:
        yield f"Runs with all your rights: {surface_counts(executing)}"


def _hidden(files: Sequence[FileRow]) -> Iterator[str]:
    hiding = [row for row in files if any(flag.code in _HIDING for flag in row.flags)]
    if hiding:
        paths = _names(row.path for row in hiding)
        yield f"What you see is not all there is in {plural(len(hiding), 'file')}: {paths}"


def _unpinned(capabilities: Sequence[Disclosed]) -> Iterator[str]:
    fetching = [item for item in capabilities if item.fetches]
    if fetching:
        names = _names(f"{item.fetches} ({item.label})" for item in fetching)
        yield f"Runs code that is not pinned, fetched by {names}"


def _secrets(capabilities: Sequence[Disclosed]) -> Iterator[str]:
    uses = [use for item in capabilities for use in item.environment]
    if uses:
        names = _names(f"{use.name} for {use.destination}" for use in uses)
        yield f"Reads from your environment: {names}"


def _undeclared(files: Sequence[FileRow]) -> Iterator[str]:
    undeclared = [row for row in files if row.is_undeclared_code]
    if undeclared:
        yield (
            f"Holds {plural(len(undeclared), 'file')} of code that no capability names: "
            + _names(row.path for row in undeclared)
        )


def _missing(capabilities: Sequence[Disclosed]) -> Iterator[str]:
    missing = [item for item in capabilities if item.unread and item.unread.missing]
    if missing:
        names = _names(item.capability.target for item in missing)
        yield f"Declares {plural(len(missing), 'function')} that its source does not have: {names}"


def _connections(capabilities: Sequence[Disclosed]) -> Iterator[str]:
    connecting = [item for item in capabilities if item.group == "connects"]
    if connecting:
        places = _names(item.capability.url or item.label for item in connecting)
        yield f"Connects to {places}"


def _instructions(capabilities: Sequence[Disclosed]) -> Iterator[str]:
    instructing = [item for item in capabilities if item.group == "instructs"]
    if instructing:
        yield f"Puts text in front of a model: {surface_counts(instructing)}"


def _names(names: Iterable[str]) -> str:
    """Return the first few different names; the rest is in the full list above."""
    distinct = list(dict.fromkeys(names))
    text = ", ".join(exact(name) for name in distinct[:NAMES])
    return text + (f" and {len(distinct) - NAMES:,} more" if len(distinct) > NAMES else "")
