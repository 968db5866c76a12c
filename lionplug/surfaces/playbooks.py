"""The surface ``playbooks``: YAML files that drive a session."""

from __future__ import annotations

import lionplug_hookspecs.playbooks
from lionplug.surfaces.content import read_data, read_text
from lionplug.surfaces.files import file_surface
from lionplug.surfaces.user_files import FileKind
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

#: The user's own, in the user scope.
USER_FILES = FileKind(
    folder="playbooks", suffixes=(".playbook.yaml",), declaration=PlaybookDeclaration, parse=parse
)
