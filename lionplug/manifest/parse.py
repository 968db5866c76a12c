"""Reading ``plugin.yaml``: one manifest, or all that is wrong with it.

Nothing is imported and nothing is run: references and commands are texts here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lionplug.documents.declare import decode, table_of
from lionplug.documents.fieldtype import INVALID
from lionplug.documents.nodes import Mapping as MappingNode
from lionplug.documents.nodes import Node, Scalar, Sequence, describe, shown
from lionplug.documents.problems import Problems
from lionplug.documents.suggest import did_you_mean, either
from lionplug.documents.yaml import read_yaml
from lionplug.errors import ManifestError
from lionplug.files.exclude import always_left_out, matches
from lionplug.manifest.capability import Capability, label
from lionplug.manifest.head import Head, HostKeys
from lionplug.manifest.model import Manifest
from lionplug.manifest.names import is_plugin_name
from lionplug.manifest.section import Entry, Section
from lionplug.manifest.sections import SECTIONS

#: Name of the file that makes a directory a bundle.
MANIFEST_FILE = "plugin.yaml"


def parse_manifest(
    data: bytes,
    *,
    host: str,
    sections: Mapping[str, Section] = SECTIONS,
    file: str = MANIFEST_FILE,
) -> Manifest:
    """Read a manifest.

    :param data: The bytes of the file.
    :param host: The host that reads it: the key of this name is its range of versions.
    :param sections: What may stand below ``capabilities``.
    :param file: Path for messages.
    :returns: The manifest. That it names no range for ``host`` is no fault of it, see
        :mod:`lionplug.manifest.compatibility`.
    :raises ManifestError: With all problems, each with line and column.
    """
    document = read_yaml(data, file)
    problems = Problems(file)
    hosts = HostKeys(host)
    head = decode(Head, document, problems, hosts.take)
    entries = list(_entries(document.get("capabilities"), sections, problems))
    if isinstance(head, Head):
        ranges = hosts.merged(head, document, problems)
        _check_exclude(head.exclude, document.get("exclude"), entries, problems)
        if not problems.count:
            return Manifest(
                name=head.name,
                version=head.version,
                description=head.description,
                hosts=ranges,
                requires=head.requires,
                python_packages=head.python_packages,
                exclude=head.exclude,
                capabilities=tuple(capability for _, capability in entries),
                annotations=head.annotations,
            )
    problems.fail(ManifestError, plugin=_plugin_name(document))


def _plugin_name(document: MappingNode) -> str | None:
    name = document.get("name")
    return name.text if isinstance(name, Scalar) and is_plugin_name(name.text) else None


def _entries(
    node: Node | None, sections: Mapping[str, Section], problems: Problems
) -> Iterator[tuple[Node, Capability]]:
    """Yield every capability with the node that declares it, in the order of the file."""
    if node is None:
        return
    problems.path.append("capabilities")
    if isinstance(node, MappingNode):
        for key, value in node.items:
            problems.path.append(key.text)
            if key.text in sections:
                yield from _section(sections[key.text], value, problems)
            elif not key.text.startswith("x-"):
                _note_unknown(key, sections, problems)
            problems.path.pop()
    else:
        problems.at(node, "type", f"expected a mapping of surfaces, found {describe(node)}.")
    problems.path.pop()


def _note_unknown(key: Scalar, sections: Mapping[str, Section], problems: Problems) -> None:
    hint = did_you_mean(key.text, sections) or f"; there are {either(sections)}"
    problems.at(key, "unknown-key", f"the surface {shown(key.text)} is not known{hint}.")


def _section(section: Section, node: Node, problems: Problems) -> Iterator[tuple[Node, Capability]]:
    claimed: dict[str, Node] = {}
    for key, place, entry in _read_section(section, node, problems):
        capabilities = entry.capabilities(section, key)
        for name in (*[one.name for one in capabilities], *entry.claims()):
            first = claimed.setdefault(name, place)
            if first is not place:
                problems.at(
                    place,
                    "duplicate-name",
                    f"{label(section.key, name)} is declared twice, at line {first.line}, column "
                    f"{first.column} and at line {place.line}, column {place.column}; keep one.",
                )
        for capability in capabilities:
            yield place, capability


def _read_section(
    section: Section, node: Node, problems: Problems
) -> Iterator[tuple[str, Node, Entry]]:
    """Yield key, node and entry of all entries that can be read."""
    if section.layout == "list" and isinstance(node, Sequence):
        items: list[tuple[str | int, Node]] = list(enumerate(node.items))
    elif section.layout == "mapping" and isinstance(node, MappingNode):
        items = [(key.text, item) for key, item in node.items if _is_key(section, key, problems)]
    else:
        problems.at(node, "type", f"expected a {section.layout}, found {describe(node)}.")
        return
    for step, item in items:
        problems.path.append(step)
        entry = _read_entry(section, item, problems)
        problems.path.pop()
        if entry is not INVALID:
            yield (step if isinstance(step, str) else ""), item, entry


def _is_key(section: Section, key: Scalar, problems: Problems) -> bool:
    return section.keys is None or section.keys.read(key, problems) is not INVALID


def _read_entry(section: Section, node: Node, problems: Problems) -> Any:
    if not section.bare:
        return decode(section.entry, node, problems)
    field = table_of(section.entry).keys[section.bare]
    value = field.type.read(node, problems)
    return INVALID if value is INVALID else section.entry(**{field.attribute: value})


def _check_exclude(
    patterns: tuple[str, ...],
    node: Node | None,
    entries: list[tuple[Node, Capability]],
    problems: Problems,
) -> None:
    """Note patterns that leave out what the manifest needs, and commands that name such (S13)."""
    places = node.items if isinstance(node, Sequence) else ()
    for index, (pattern, place) in enumerate(zip(patterns, places, strict=True)):
        for path, who in _needed(entries):
            if matches(pattern, path):
                problems.path[:] = ["exclude", index]
                problems.at(
                    place,
                    "excludes-declared",
                    f"the pattern {shown(pattern)} leaves out {shown(path)}, which {who}; "
                    "make it narrower.",
                )
                break
    problems.path.clear()
    for place, capability in entries:
        for argument in capability.argv[1:]:
            if "/" in argument and _is_left_out(argument, patterns):
                problems.path[:] = ["capabilities", capability.surface]
                problems.at(
                    place,
                    "path",
                    f"the argument {shown(argument)} is a path that is no part of the plugin; "
                    "name a file that is.",
                )
    problems.path.clear()


def _needed(entries: list[tuple[Node, Capability]]) -> Iterator[tuple[str, str]]:
    yield MANIFEST_FILE, "is the manifest"
    for _, capability in entries:
        for path in capability.files:
            yield path, f"{label(capability.surface, capability.name)} needs"


def _is_left_out(path: str, patterns: tuple[str, ...]) -> bool:
    if always_left_out(path, is_dir=False):
        return True
    return any(matches(pattern, path) for pattern in patterns)
