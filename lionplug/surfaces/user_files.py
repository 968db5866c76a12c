"""The user's own agents, playbooks and packs: files of the user scope.

They need no approval, because whoever can write there could approve anything. They win
over plugins for bare names and never for ``plugin/name``; those of a project are not the
user's own (security rule S2).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import frozen

from lionplug.errors import LionplugError
from lionplug.files.opening import Directory, read_trusted
from lionplug.manifest.names import is_tool_name
from lionplug.markers import hookimpl
from lionplug.scopes import UserScope
from lionplug.surfaces.content import MAX_BYTES
from lionplug.text import exact

#: What stands in place of a plugin's name; no plugin can have it.
OWNER = "user"

#: Entries of one folder that are looked at.
_MOST = 10_000

_logger = logging.getLogger("lionplug")


@frozen(kw_only=True)
class FileKind:
    """How files of one surface are found and read.

    :param folder: Name of the folder in the user scope, and of the surface.
    :param suffixes: Endings that such a file can have.
    :param declaration: Makes a declaration of ``name=``, ``plugin=`` and ``file=``.
    :param parse: Makes the value of name, plugin, file and bytes; raises ``ContentError``.
    """

    folder: str
    suffixes: tuple[str, ...]
    declaration: Callable[..., Any]
    parse: Callable[[str, str, str, bytes], Any]


class UserFiles:
    """Implements the hooks of the surfaces of files for one user scope.

    :param scope: The user scope.
    :param kinds: The surfaces.
    """

    def __init__(self, scope: UserScope, kinds: tuple[FileKind, ...]) -> None:
        for kind in kinds:
            setattr(self, f"list_{kind.folder}", _list_hook(scope, kind))
            setattr(self, f"provide_{kind.folder}", _provide_hook(scope, kind))


def _list_hook(scope: UserScope, kind: FileKind) -> Callable[[], list[Any]]:
    def list_files() -> list[Any]:
        return [
            kind.declaration(name=name, plugin=OWNER, file=file)
            for name, file in sorted(_find(scope, kind).items())
        ]

    return hookimpl(list_files)


def _provide_hook(scope: UserScope, kind: FileKind) -> Callable[..., Any]:
    def provide_file(name: str, plugin: str | None) -> Any:
        if plugin not in (None, OWNER) or not is_tool_name(name):
            return None
        if scope.path is None or scope.problem:
            return None
        for suffix in kind.suffixes:
            file = f"{kind.folder}/{name}{suffix}"
            try:
                data, _ = read_trusted(scope.file(file), MAX_BYTES, scope=scope.path)
            except (FileNotFoundError, NotADirectoryError):
                continue
            return kind.parse(name, OWNER, file, data)
        return None

    return hookimpl(provide_file)


def _find(scope: UserScope, kind: FileKind) -> Mapping[str, str]:
    """Map names to paths relative to the scope; a folder that is not safe holds nothing."""
    if scope.path is None or scope.problem:
        return {}
    try:
        with Directory.open_trusted(scope.file(kind.folder), scope=scope.path) as folder:
            return dict(_named(folder, kind))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (LionplugError, OSError) as error:
        _logger.warning("%s is not looked at: %s", exact(scope.file(kind.folder)), error)
        return {}


def _named(folder: Directory, kind: FileKind) -> Iterator[tuple[str, str]]:
    with os.scandir(folder.fd) as entries:
        for count, entry in enumerate(entries):
            if count >= _MOST:
                return
            for suffix in kind.suffixes:
                stem = entry.name.removesuffix(suffix)
                if stem != entry.name and is_tool_name(stem):
                    yield stem, f"{kind.folder}/{entry.name}"
