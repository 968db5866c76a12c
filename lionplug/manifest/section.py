"""One key below ``capabilities``: what stands under it and what it becomes.

A section is plain data, so a host that adds a surface adds a section and gets parsing,
messages with line and column, and JSON Schema without writing any.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from attrs import frozen

from lionplug.documents.declare import extensions
from lionplug.documents.fieldtype import FieldType
from lionplug.manifest.capability import Capability


@frozen(kw_only=True)
class Entry:
    """Base of what stands in a section: a declared class that becomes capabilities."""

    annotations: Mapping[str, Any] = extensions()

    def capability(self, section: Section, key: str) -> Capability:
        """Return the capability.

        :param section: The section in which the entry stands.
        :param key: Its key there, where the section is a mapping; else empty.
        """
        raise NotImplementedError

    def capabilities(self, section: Section, key: str) -> Sequence[Capability]:
        """Return all capabilities of the entry, for entries that are several."""
        return (self.capability(section, key),)

    def claims(self) -> Iterable[str]:
        """Return names, beside those of the capabilities, that no other entry may have."""
        return ()


@frozen(kw_only=True)
class Section:
    """One key below ``capabilities``.

    :param key: The key, which is also the name of the surface.
    :param entry: Class of the entries.
    :param layout: Whether the entries are a list, or a mapping with keys of their own.
    :param danger: What its entries do unless they say otherwise.
    :param doc: What the section is for, one sentence.
    :param bare: The one attribute of ``entry`` that an entry consists of, for entries that
        are no mappings themselves.
    :param keys: What the keys of a mapping may be.
    """

    key: str
    entry: type[Entry]
    layout: Literal["list", "mapping"] = "list"
    danger: str
    doc: str
    bare: str = ""
    keys: FieldType | None = None
