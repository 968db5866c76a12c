"""Sections whose entries are just paths: agents, playbooks, packs, prompts and skills."""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen

from lionplug.documents.declare import declared
from lionplug.manifest.capability import Capability
from lionplug.manifest.references import stem_of
from lionplug.manifest.section import Entry, Section
from lionplug.manifest.sections.common import DIRECTORY, file_field

_PROFILE = (".md",)
_PLAYBOOK = (".playbook.yaml",)
_PACK = (".yaml", ".yml")


@frozen(kw_only=True)
class FileEntry(Entry):
    """One path; the stem of the file is the name."""

    SUFFIXES: ClassVar[tuple[str, ...]] = ()
    path: str

    def capability(self, section: Section, key: str) -> Capability:
        """Return the capability."""
        return Capability(
            surface=section.key,
            name=stem_of(self.path, self.SUFFIXES),
            danger=section.danger,
            files=(self.path,),
        )


@frozen(kw_only=True)
class Agent(FileEntry):
    """The profile of an agent."""

    SUFFIXES = _PROFILE
    path: str = declared(file_field(*_PROFILE), doc="A Markdown file.")


@frozen(kw_only=True)
class Playbook(FileEntry):
    """A playbook."""

    SUFFIXES = _PLAYBOOK
    path: str = declared(file_field(*_PLAYBOOK), doc="A playbook file.")


@frozen(kw_only=True)
class Pack(FileEntry):
    """A pack of overlays for roles."""

    SUFFIXES = _PACK
    path: str = declared(file_field(*_PACK), doc="A YAML file.")


@frozen(kw_only=True)
class Prompt(FileEntry):
    """A prompt."""

    SUFFIXES = _PROFILE
    path: str = declared(file_field(*_PROFILE), doc="A Markdown file.")


@frozen(kw_only=True)
class Skill(FileEntry):
    """A skill: a directory with a ``SKILL.md``; the directory's name is the name."""

    path: str = declared(DIRECTORY, doc="A directory with a SKILL.md.")


AGENTS = Section(
    key="agents", entry=Agent, bare="path", danger="instructs", doc="Profiles of agents."
)
PLAYBOOKS = Section(
    key="playbooks", entry=Playbook, bare="path", danger="instructs", doc="Playbooks."
)
PACKS = Section(
    key="packs", entry=Pack, bare="path", danger="data", doc="Overlays for existing roles."
)
PROMPTS = Section(
    key="prompts", entry=Prompt, bare="path", danger="instructs", doc="Prompts and commands."
)
SKILLS = Section(
    key="skills", entry=Skill, bare="path", danger="instructs", doc="Directories of skills."
)
