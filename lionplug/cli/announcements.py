"""Applications that announce themselves, read as data: none of them is imported.

An installed distribution names a file in the entry-point group ``lionplug.hosts``,
``NAME = "package:host.json"``. The file is found by what the distribution says of its own
files. What is wrong with an announcement is reported and never stops the command.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import Distribution, distributions
from typing import Any
from urllib.parse import unquote, urlsplit

from attrs import evolve, field, frozen

from lionplug.documents.suggest import did_you_mean
from lionplug.errors import LionplugError
from lionplug.files.opening import Directory
from lionplug.imports import safe_path
from lionplug.manifest.names import is_plugin_name, is_tool_name
from lionplug.manifest.sections.hookimpls import HOOK_NAME
from lionplug.text import exact

GROUP = "lionplug.hosts"

#: Greatest size of a file, in bytes.
MAX_BYTES = 256 * 1024

#: Most names in one of its lists.
MAX_NAMES = 5_000

# The command stands in commands that are printed to be run (security rule S37).
_COMMAND = re.compile(r"[A-Za-z0-9._+][A-Za-z0-9._+-]*(?: [A-Za-z0-9._:=+/-]+){0,7}")
_GROUP_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_PLACE = re.compile(
    r"(?P<package>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*:\s*(?P<file>[\w-]+\.json)", re.A
)
_is_hook = re.compile(HOOK_NAME).fullmatch


@frozen(kw_only=True)
class Announcement:
    """What one installed application says about itself.

    :param name: Name of the host.
    :param version: Version of its distribution.
    :param distribution: Name of the distribution.
    :param file: Path of the file; ``None`` if it was not found.
    :param command: What a person types to manage plugins; ``None`` if it does not say.
    :param groups: Entry-point groups from which plugins come.
    :param classic_groups: Those whose entry points are pluggy plugins.
    :param hooks: Its hooks; ``None`` if they are not known.
    :param reserved_tools: Names of tools that it keeps for itself.
    """

    name: str
    version: str
    distribution: str
    file: str | None = None
    command: str | None = None
    groups: tuple[str, ...] = ()
    classic_groups: tuple[str, ...] = ()
    hooks: tuple[str, ...] | None = None
    reserved_tools: tuple[str, ...] = ()


@frozen(kw_only=True)
class Announced:
    """All announcements of this environment.

    :param hosts: By name of the host.
    :param ambiguous: Names that several distributions announce, with these.
    :param problems: What is wrong with announcements: name of the host, and a sentence.
    """

    hosts: Mapping[str, Announcement] = field(factory=dict)
    ambiguous: Mapping[str, tuple[str, ...]] = field(factory=dict)
    problems: tuple[tuple[str, str], ...] = ()


class _WrongError(Exception):
    """Something is wrong with an announcement; carries the end of a sentence."""


def announced_hosts(path: Sequence[str] | None = None) -> Announced:
    """Read the announcements of the installed distributions.

    :param path: Where distributions are looked for; by default ``sys.path`` without the
        working directory and its project (security rules S19, S20).
    """
    problems: list[tuple[str, str]] = []
    found: dict[str, list[Announcement]] = {}
    for distribution in _distributions(safe_path() if path is None else path):
        for name, value in _entries(distribution):
            announcement = _read(distribution, name, value, problems)
            if announcement is not None:
                found.setdefault(name, []).append(announcement)
    ambiguous = {
        name: tuple(sorted(one.distribution for one in several))
        for name, several in found.items()
        if len(several) > 1
    }
    problems += [
        (
            name,
            f"the host {name} is announced by {len(several)} distributions: "
            f"{', '.join(map(exact, several))}; uninstall all but one",
        )
        for name, several in ambiguous.items()
    ]
    hosts = {name: several[0] for name, several in found.items() if len(several) == 1}
    return Announced(hosts=hosts, ambiguous=ambiguous, problems=tuple(problems))


def _distributions(path: Sequence[str]) -> Iterator[Distribution]:
    """Yield each distribution once: the first on the path hides others of its name."""
    seen = set()
    for distribution in distributions(path=list(path)):
        try:
            name = re.sub(r"[-_.]+", "-", distribution.metadata["Name"] or "").lower()
        except Exception:  # noqa: BLE001 - a broken installation is not this command's matter
            continue
        if name and name not in seen:
            seen.add(name)
            yield distribution


def _entries(distribution: Distribution) -> list[tuple[str, str]]:
    try:
        points = distribution.entry_points
        return [(point.name, point.value) for point in points if point.group == GROUP]
    except Exception:  # noqa: BLE001 - as above
        return []


def _read(
    distribution: Distribution, name: str, value: str, problems: list[tuple[str, str]]
) -> Announcement | None:
    """Return one announcement; what is wrong with it is added to the problems."""
    own_name = str(distribution.metadata["Name"])
    told = f"the announcement of the host {exact(name)} by {exact(own_name)}"
    if not is_plugin_name(name):
        problems.append((name, f"{told} is ignored: that can't be the name of a host"))
        return None
    known = Announcement(name=name, version=distribution.version, distribution=own_name)
    try:
        file = _locate(distribution, value)
        known = evolve(known, file=file)
        document = _load(file)
    except _WrongError as wrong:
        problems.append((name, f"{told} can't be read, so its hooks are not known: {wrong}"))
        return known
    values: dict[str, Any] = {}
    for key, entry in document.items():
        try:
            values[key] = _value(key, entry)
        except _WrongError as wrong:
            problems.append((name, f"{told}: {exact(file)}: {wrong}"))
    return evolve(known, **values)


# -- the file ------------------------------------------------------------------------------


def _locate(distribution: Distribution, value: str) -> str:
    """Return where the file of an announcement is, without importing its package."""
    match = _PLACE.fullmatch(value)
    if match is None:
        raise _WrongError(f"expected 'package:host.json', found {exact(value[:200])}")
    inside = f"{match['package'].replace('.', '/')}/{match['file']}"
    for path in _places(distribution, inside):
        if os.path.isfile(path):
            return os.path.realpath(path)
    raise _WrongError(f"the distribution has no file {exact(inside)}; install it again")


def _places(distribution: Distribution, inside: str) -> Iterator[str]:
    for file in distribution.files or ():
        if file.as_posix() == inside:
            yield str(distribution.locate_file(file))
    yield str(distribution.locate_file(inside))
    source = _editable_source(distribution)
    if source is not None:
        yield os.path.join(source, inside)
        yield os.path.join(source, "src", inside)


def _editable_source(distribution: Distribution) -> str | None:
    """Return the directory that is installed in editable form (PEP 610)."""
    try:
        direct = json.loads(distribution.read_text("direct_url.json") or "{}")
        url = urlsplit(direct["url"])
        if url.scheme == "file" and direct["dir_info"]["editable"] is True:
            return unquote(url.path)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        pass
    return None


def _load(file: str) -> Mapping[str, Any]:
    folder, name = os.path.split(file)
    try:
        with Directory.open(folder) as directory:
            data, _ = directory.read(name, MAX_BYTES)
        document = json.loads(
            data.decode("utf-8"), object_pairs_hook=_no_duplicates, parse_constant=_no_constant
        )
    except LionplugError as error:
        raise _WrongError(error.message) from None
    except OSError as error:
        raise _WrongError(f"{exact(file)}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        why = "too deeply nested" if isinstance(error, RecursionError) else exact(str(error)[:200])
        raise _WrongError(f"{exact(file)} is no JSON: {why}") from None
    if not isinstance(document, dict):
        raise _WrongError(f"{exact(file)}: expected a JSON object")
    return document


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("a key stands twice")
    return document


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON number")


# -- its keys ------------------------------------------------------------------------------


def _value(key: str, entry: object) -> Any:
    """Return the value of a key; raise unless it is of the form that is asked for."""
    if key == "command":
        if isinstance(entry, str) and len(entry) <= 100 and _COMMAND.fullmatch(entry):
            return entry
        raise _WrongError(f"command: expected words such as 'li plugin', found {_shown(entry)}")
    if key not in _LISTS:
        raise _WrongError(f"{exact(key[:100])} is no key of it{did_you_mean(key, _KEYS)}")
    fits, what = _LISTS[key]
    if not isinstance(entry, list) or len(entry) > MAX_NAMES:
        raise _WrongError(f"{key}: expected a list of at most {MAX_NAMES:,} {what}")
    for name in entry:
        if not isinstance(name, str) or not fits(name):
            raise _WrongError(f"{key}: expected {what}, found {_shown(name)}")
    return tuple(dict.fromkeys(entry))


def _shown(value: object) -> str:
    return exact(repr(value)[:100])


_Test = Callable[[str], object]

_LISTS: Mapping[str, tuple[_Test, str]] = {
    "groups": (_GROUP_NAME.fullmatch, "names of entry-point groups"),
    "classic_groups": (_GROUP_NAME.fullmatch, "names of entry-point groups"),
    "hooks": (_is_hook, "names of hooks"),
    "reserved_tools": (is_tool_name, "names of tools"),
}

_KEYS = ("command", *_LISTS)
