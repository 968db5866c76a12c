"""Reading ``settings.yaml``; a file that a person writes is never written (S30)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from attrs import evolve

from lionplug.documents.characters import MAX_BYTES
from lionplug.documents.declare import EXTENSION, decode_fields
from lionplug.documents.nodes import Mapping, Node, Scalar, Sequence, shown
from lionplug.documents.problems import Problems
from lionplug.documents.yaml import read_yaml
from lionplug.errors import LionplugError, Problem, SettingsError
from lionplug.files.limits import Limits
from lionplug.files.opening import Directory, read_trusted
from lionplug.settings.fields import PROJECT_KEYS, USER_KEYS, SettingsFile, SettingsLimits
from lionplug.settings.model import Everything, ExternalHook, Settings


def read_settings(path: str, kind: str) -> Settings:
    """Read a settings file.

    :param path: Absolute path of the file; there may be none.
    :param kind: ``user``: nobody else may be able to write it (S31). ``project``: the
        caller has checked the owners of the directories (S11); it must be a regular file.
    :returns: Its settings; never an exception for what the file is or says.
    """
    try:
        document = read_yaml(_read(path, kind), path, SettingsError)
    except (FileNotFoundError, NotADirectoryError):
        return Settings(path=path, kind=kind)
    except SettingsError as error:
        if [problem.code for problem in error.problems] == ["empty"]:
            return Settings(path=path, kind=kind)
        return _unreadable(path, kind, error.problems)
    except (OSError, LionplugError) as error:
        text = error.message if isinstance(error, LionplugError) else str(error.strerror)
        return _unreadable(path, kind, (Problem("unreadable", text, file=path),))
    return _settings(document, path, kind)


def _read(path: str, kind: str) -> bytes:
    if kind == "user":
        return read_trusted(path, MAX_BYTES)[0]
    folder, name = os.path.split(path)
    with Directory.open(folder) as directory:
        return directory.read(name, MAX_BYTES)[0]


def _unreadable(path: str, kind: str, problems: tuple[Problem, ...]) -> Settings:
    keys = USER_KEYS if kind == "user" else PROJECT_KEYS
    settings = Settings(path=path, kind=kind, problems=problems)
    return _strictest(settings, frozenset(keys))


def _strictest(settings: Settings, unreadable: frozenset[str]) -> Settings:
    """Let the strictest reading hold for the keys that can't be read."""
    changes: dict[str, Any] = {"unreadable": unreadable}
    if "disabled" in unreadable:
        changes["disabled"] = Everything()
    if "pin_interpreters" in unreadable:
        changes["pin_interpreters"] = True
    if "max_hook_processes" in unreadable:
        changes["max_hook_processes"] = 1
    return evolve(settings, **changes)


def _settings(document: Mapping, path: str, kind: str) -> Settings:
    problems = Problems(path)
    if kind == "project":
        document = _closed(document, problems)
    values = decode_fields(SettingsFile, document, problems)
    read = SettingsFile(**values)
    hooks = tuple(_hooks(read, document.get("hooks_external")))
    settings = Settings(
        path=path,
        kind=kind,
        disabled=read.disabled,
        hooks_external=hooks,
        safe_scopes=read.safe_scopes,
        hook_env=read.hook_env,
        on_failure=read.on_failure,
        pin_interpreters=read.pin_interpreters,
        max_hook_processes=read.max_hook_processes,
        limits=_limits(read.limits),
        problems=problems.found,
        lines={
            **dict(_lines(document)),
            **{("hooks_external", hook.place): hook.line for hook in hooks},
        },
    )
    present = {key.text for key, _ in document.items}
    return _strictest(settings, frozenset(USER_KEYS) & present - values.keys())


def _closed(document: Mapping, problems: Problems) -> Mapping:
    """Return the keys that a project may have; note each other one (S26)."""
    kept = []
    for key, node in document.items:
        if key.text in PROJECT_KEYS:
            kept.append((key, node))
        elif not key.text.startswith(EXTENSION):
            problems.path.append(key.text)
            problems.at(
                key,
                "ignored-key",
                f"{shown(key.text)} has no effect in the settings of a project; "
                "if you want it, write it in your own settings.",
            )
            problems.path.pop()
    return Mapping(tuple(kept), document.line, document.column)


def _limits(read: SettingsLimits) -> Limits:
    given = {"entries": read.files, "bytes": read.bytes, "depth": read.depth}
    return evolve(Limits(), **{key: value for key, value in given.items() if value is not None})


def _hooks(read: SettingsFile, node: Node | None) -> Iterator[ExternalHook]:
    for event, groups in read.hooks_external.items():
        for number, group in enumerate(groups):
            for index, hook in enumerate(group.hooks):
                place = _below(node, event, number, "hooks", index)
                yield ExternalHook(
                    event=event,
                    place=f"{event}[{number}][{index}]",
                    matcher=group.matcher,
                    argv=hook.command,
                    timeout=hook.timeout,
                    line=place.line if place else 0,
                )


def _below(node: Node | None, *steps: str | int) -> Node | None:
    for step in steps:
        if isinstance(node, Mapping):
            node = node.get(str(step))
        elif isinstance(node, Sequence):
            node = node.items[int(step)]
    return node


def _lines(document: Mapping) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield key and name of what a line says: elements of lists, keys of mappings."""
    for key, node in document.items:
        if isinstance(node, Sequence):
            for item in node.items:
                if isinstance(item, Scalar):
                    yield (key.text, item.text), item.line
        elif isinstance(node, Mapping):
            for name, _ in node.items:
                yield (key.text, name.text), name.line
