"""The surface ``agents``: profiles of agents, Markdown with front matter."""

from __future__ import annotations

import lionplug_hookspecs.agents
from lionplug.surfaces.content import read_text, split_front_matter
from lionplug.surfaces.files import file_surface
from lionplug.surfaces.user_files import FileKind
from lionplug_hookspecs.agents import Agent, AgentDeclaration


def parse(name: str, plugin: str, file: str, data: bytes) -> Agent:
    """Read a profile."""
    text = read_text(data, file)
    metadata, body = split_front_matter(text, file)
    return Agent(name=name, plugin=plugin, file=file, text=text, metadata=metadata, body=body)


SURFACE = file_surface("agents", lionplug_hookspecs.agents, AgentDeclaration, parse)

#: The user's own, in the user scope.
USER_FILES = FileKind(folder="agents", suffixes=(".md",), declaration=AgentDeclaration, parse=parse)
