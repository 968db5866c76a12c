"""What distinguishes one surface from another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import frozen

from lionplug.activation.active import ActivePlugin
from lionplug.inventory.plugin import Plugin
from lionplug.manifest.capability import Capability
from lionplug.manifest.section import Section


@frozen(kw_only=True)
class Surface:
    """One kind of capability.

    :param name: Such as ``tools``; its hooks are ``list_<name>`` and ``provide_<name>``.
    :param hookspecs: The module that specifies these hooks.
    :param exclusive: Whether a name can belong to one plugin only.
    :param declare: Turns a declared capability into what ``list_<name>`` yields; data only.
    :param provide: Turns it into what ``provide_<name>`` returns; may import the plugin's code.
    :param section: What a manifest may say under this name; ``None`` for the surfaces that
        every manifest knows.
    """

    name: str
    hookspecs: Any
    exclusive: bool
    declare: Callable[[Plugin, Capability], Any]
    provide: Callable[[ActivePlugin, Capability], Any]
    section: Section | None = None
