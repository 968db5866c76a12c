"""The form in which everything behind the manifest sees a capability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from lionplug.text import exact

#: What a capability can do, the most dangerous first: the order of the disclosure (S24).
DANGERS = ("executes", "connects", "instructs", "data")


def label(surface: str, name: str) -> str:
    """Return how messages call a capability, such as ``tool "web_search"``."""
    return f'{surface.removesuffix("s")} "{exact(name)}"'


@frozen(kw_only=True)
class Capability:
    """One named thing that a plugin offers, whatever surface it is on.

    :param surface: The surface, such as ``tools``.
    :param name: Unique within plugin and surface.
    :param danger: One of :data:`DANGERS`.
    :param target: The function that is called, ``path.py:function``.
    :param argv: The command that is run.
    :param url: The address that is connected to.
    :param files: Files of the bundle that it names, and directories of skills.
    :param detail: Everything else that was declared, as JSON-ready data without defaults.
    """

    surface: str
    name: str
    danger: str
    target: str = ""
    argv: tuple[str, ...] = ()
    url: str = ""
    files: tuple[str, ...] = ()
    detail: Mapping[str, Any] = field(factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the normal form that a record pins (S12): JSON-ready, defaults left out.

        A later version that adds an attribute with a default changes no normal form.
        """
        values = {
            "surface": self.surface,
            "name": self.name,
            "danger": self.danger,
            "target": self.target,
            "argv": list(self.argv),
            "url": self.url,
            "files": list(self.files),
            "detail": dict(self.detail),
        }
        return without_defaults(values)


def without_defaults(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a dictionary without the entries that say nothing.

    :param values: Left out are ``None``, ``False`` and empty texts, lists and mappings.
    """
    return {
        key: value
        for key, value in values.items()
        if value is not None and value is not False and value not in ("", (), [], {})
    }
