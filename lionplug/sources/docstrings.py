"""The summary and the argument descriptions of a docstring, in Google or Sphinx style."""

from __future__ import annotations

import re

_SECTION = re.compile(r"(?:Args|Arguments|Parameters|Keyword Args|Keyword Arguments):\s*\Z")
# ``name: text`` or ``name (type, optional): text``
_ITEM = re.compile(r"\*{0,2}(\w+)\s*(?:\((?:[^()]|\([^()]*\))*\)\s*)?:(.*)", re.DOTALL)
# ``:param name: text`` or ``:param type name: text``
_FIELD = re.compile(r":(?:param|parameter|arg|argument|key|keyword)\s+([^:]*):(.*)", re.DOTALL)


def first_paragraph(doc: str) -> str:
    """Return the text before the first blank line, on one line."""
    lines: list[str] = []
    for line in doc.strip().splitlines():
        if not line.strip():
            break
        lines.append(line.strip())
    return " ".join(lines)


def argument_descriptions(doc: str) -> dict[str, str]:
    """Return what a docstring says about each argument.

    :param doc: A docstring without its indentation.
    :returns: Argument name to one line of text; arguments without a text are missing.
    """
    lines = doc.expandtabs().splitlines()
    items = [*_google_items(lines), *_sphinx_items(lines)]
    joined = {name: " ".join(" ".join(parts).split()) for name, parts in items}
    return {name: text for name, text in joined.items() if text}


def _google_items(lines: list[str]) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    section = item = -1  # indentation of the section's head and of its items
    for line in lines:
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        if _SECTION.match(line.strip()):
            section, item = indent, -1
        elif section >= 0 and indent <= section:
            section = -1
        elif section >= 0:
            item = indent if item < 0 else item
            match = _ITEM.match(line.strip()) if indent <= item else None
            if match:
                found.append((match[1], [match[2]]))
            elif found and indent > item:
                found[-1][1].append(line)
    return found


def _sphinx_items(lines: list[str]) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    open_at = -1  # indentation of the field that further lines may belong to
    for line in lines:
        indent = len(line) - len(line.lstrip())
        match = _FIELD.match(line.strip())
        if match and match[1].split():
            found.append((match[1].split()[-1].lstrip("*"), [match[2]]))
            open_at = indent
        elif open_at >= 0 and line.strip() and indent > open_at:
            found[-1][1].append(line)
        else:
            open_at = -1
    return found
