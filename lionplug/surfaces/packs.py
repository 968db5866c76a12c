"""The surface ``packs``: data that overlays existing roles."""

from __future__ import annotations

import lionplug_hookspecs.packs
from lionplug.surfaces.content import read_data
from lionplug.surfaces.files import file_surface
from lionplug.surfaces.user_files import FileKind
from lionplug_hookspecs.packs import Pack, PackDeclaration


def parse(name: str, plugin: str, file: str, data: bytes) -> Pack:
    """Read a pack."""
    return Pack(name=name, plugin=plugin, file=file, data=read_data(data, file))


SURFACE = file_surface("packs", lionplug_hookspecs.packs, PackDeclaration, parse)

#: The user's own, in the user scope.
USER_FILES = FileKind(
    folder="packs", suffixes=(".yaml", ".yml"), declaration=PackDeclaration, parse=parse
)
