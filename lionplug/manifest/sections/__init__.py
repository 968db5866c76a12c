"""The surfaces that a manifest can declare capabilities for, one module for each kind."""

from __future__ import annotations

from collections.abc import Mapping

from lionplug.manifest.section import Section
from lionplug.manifest.sections.files import AGENTS, PACKS, PLAYBOOKS, PROMPTS, SKILLS
from lionplug.manifest.sections.hookimpls import HOOKIMPLS
from lionplug.manifest.sections.hooks_external import HOOKS_EXTERNAL
from lionplug.manifest.sections.mcp_servers import MCP_SERVERS
from lionplug.manifest.sections.providers import PROVIDERS
from lionplug.manifest.sections.tools import TOOLS

#: The built-in table: key below ``capabilities`` to section.
SECTIONS: Mapping[str, Section] = {
    section.key: section
    for section in (
        TOOLS,
        HOOKS_EXTERNAL,
        AGENTS,
        PLAYBOOKS,
        PROVIDERS,
        PACKS,
        SKILLS,
        PROMPTS,
        MCP_SERVERS,
        HOOKIMPLS,
    )
}
