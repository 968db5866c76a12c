"""Helpers that tests import by name: a private world of scopes, bundles and hosts."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

from lionplug import Host
from lionplug.inventory.plugin import Plugin


class World:
    """A user scope, a project and the means to fill them.

    :ivar user: Directory of the user scope of host ``lionplug``.
    :ivar project: Root of a project with a VCS marker; the working directory of the test.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.user = root / "home" / ".lionplug"
        self.project = root / "project"
        for folder in (self.user / "plugins", self.project / ".git"):
            folder.mkdir(parents=True)
        self.user.chmod(0o700)
        self.hosts: list[Host] = []

    def plugins(self, scope: str = "user") -> Path:
        """Return the ``plugins/`` directory of a scope: ``user`` or ``project``."""
        folder = (self.user if scope == "user" else self.project / ".lionplug") / "plugins"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def bundle(
        self,
        name: str,
        files: Mapping[str, str | bytes] | None = None,
        *,
        manifest: str = "",
        scope: str = "user",
        tools: Mapping[str, str] | None = None,
    ) -> Path:
        """Write a bundle and return its directory.

        :param files: Path to content.
        :param manifest: Lines added to a minimal ``plugin.yaml``; one that begins with
            ``name:`` replaces it.
        :param tools: Tool name to ``path:function``, added as ``capabilities``.
        """
        folder = self.plugins(scope) / name
        folder.mkdir()
        text = textwrap.dedent(manifest)
        if not text.lstrip().startswith("name:"):
            text = f"name: {name}\nversion: 1.0.0\nlionplug: '>=0'\n" + text
        if tools:
            text += "capabilities:\n  tools:\n"
            text += "".join(
                f"    - name: {tool}\n      target: {target}\n" for tool, target in tools.items()
            )
        write(folder / "plugin.yaml", text)
        for path, content in (files or {}).items():
            write(folder / path, content)
        return folder

    def host(self, name: str = "lionplug", version: str = "1.0.0") -> Host:
        """Return a new host whose user scope is this world's."""
        host = Host(name, version=version, user_dir=str(self.user))
        self.hosts.append(host)
        return host

    def approve(self, host: Host, name: str) -> Plugin:
        """Approve a plugin as a person who says yes to everything."""
        return host.trust(name, approve=lambda disclosure: True)


def write(path: Path, content: str | bytes) -> Path:
    """Write a file, creating its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else textwrap.dedent(content).encode())
    return path


def marker_module(marker: Path, code: str) -> str:
    """Return module source that leaves a file behind when it is imported, then ``code``."""
    return f"open({str(marker)!r}, 'w').close()\n\n\n{code}"


def counter_code(path: Path) -> str:
    """Return a line of source that adds one character to a file each time it runs."""
    return f"with open({str(path)!r}, 'a') as _file: _file.write('x')\n"
