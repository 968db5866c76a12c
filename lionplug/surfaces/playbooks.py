"""The surface ``playbooks``: YAML files that drive a session."""

from __future__ import annotations

import lionplug_hookspecs.playbooks
from lionplug.surfaces.content import read_data, read_text
from lionplug.surfaces.files import file_surface
from lionplug_hookspecs.playbooks import Playbook, PlaybookDeclaration


def parse(name: str, plugin: str, file: str, data: bytes) -> Playbook:
    """Read a playbook."""
    return Playbook(
        name=name,
        plugin=plugin,
        file=file,
        text=read_text(data, file),
        data=read_data(data, file),
    )


SURFACE = file_surface("playbooks", lionplug_hookspecs.playbooks, PlaybookDeclaration, parse)
