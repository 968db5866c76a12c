"""What a plugin brings, as data: made from the staged copy and from nothing else.

A disclosure is complete in what is declared and in which files exist, and it is the only
thing a person has to decide by. It is made of a private copy that can't change while it
is read (security rule S3, S24, S25); :mod:`lionplug.trust.disclosure_lines` turns it
into text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from attrs import frozen

from lionplug.manifest.capability import DANGERS, Capability
from lionplug.sources import Signatures, SourceSignature, Unread
from lionplug.text import exact
from lionplug.trust.disclosure_lines import disclosure_lines
from lionplug.trust.facts import counts, dangerous_facts, refusals
from lionplug.trust.fetching import fetching_program
from lionplug.trust.file_table import FileRow, file_table

if TYPE_CHECKING:
    from lionplug.trust.record import Record
    from lionplug.trust.staging import StagedTree

_PLACEHOLDER = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)")
# Placeholders that stand for folders of the plugin and not for the user's environment.
_OWN_NAMES = re.compile(r"(?:LIONPLUG_|CLAUDE_)?(?:PLUGIN_ROOT|PLUGIN_DATA|PROJECT_DIR)\Z")


@frozen(kw_only=True)
class Relation:
    """How a copy relates to what is approved already (security rule S22).

    :param approved_at: When a tree at this very location was approved, ``None`` if none was.
    :param others: Locations at which another copy of this name is approved.
    """

    approved_at: str | None = None
    others: tuple[str, ...] = ()

    def __str__(self) -> str:
        places = ", ".join(map(exact, self.others))
        if self.approved_at is not None:
            text = f"Update of the copy approved on {exact(self.approved_at)}"
            more = f"; another copy of this name is approved at {places}" if places else ""
            return text + more
        if places:
            return f"Another copy of this name is approved at {places}; this is not an update of it"
        return "First approval"


@frozen(kw_only=True)
class EnvironmentUse:
    """A name of the environment that a declaration reads (security rule S38).

    :param name: The variable.
    :param place: Where in the declaration it stands, such as ``headers.Authorization``.
    :param destination: Where its value goes: an address, or the command that gets it.
    """

    name: str
    place: str
    destination: str

    def to_dict(self) -> dict[str, str]:
        """Return JSON-ready data."""
        return {"name": self.name, "place": self.place, "destination": self.destination}


@frozen(kw_only=True)
class Disclosed:
    """One capability with all that is known of it.

    :param capability: The declaration.
    :param group: One of :data:`DANGERS`; what has a command executes, whatever its surface.
    :param signature: What the source says about a function; ``None`` for "not shown".
    :param unread: Why there is no signature, where that is known.
    :param fetches: The program by which its command fetches code that is not pinned.
    :param environment: Names of the environment that it reads.
    """

    capability: Capability
    group: str
    signature: SourceSignature | None = None
    unread: Unread | None = None
    fetches: str | None = None
    environment: tuple[EnvironmentUse, ...] = ()

    @property
    def label(self) -> str:
        """Surface and name, to be shown by ``exact()``."""
        return f"{self.capability.surface} {self.capability.name}"

    @property
    def is_function(self) -> bool:
        """Whether its target is a function, which has a signature."""
        return ":" in self.capability.target

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {
            "group": self.group,
            "declaration": self.capability.to_dict(),
            "signature": self.signature.to_dict() if self.signature else None,
            "signature_problem": self.unread.reason if self.unread else None,
            "fetches": self.fetches,
            "environment": [use.to_dict() for use in self.environment],
        }


@frozen(kw_only=True)
class Disclosure:
    """All that a person is shown before the question.

    :param scope: ``"user"``, ``"project"`` or ``"installed"``.
    :param location: The live directory, links resolved.
    :param directory: Its last part.
    :param relation: How this copy relates to what is approved already.
    :param name: The manifest's name, which is the one that counts.
    :param version: The manifest's version.
    :param previous_version: The version that was approved at this location before.
    :param description: The manifest's description.
    :param format: Which reader the capabilities come from.
    :param digest: The tree digest that an answer approves.
    :param hosts: Host to the versions that the plugin is for.
    :param requires: Other plugins that it needs.
    :param python_packages: Python packages that it needs; never installed.
    :param annotations: What the manifest says in ``x-`` keys; lionplug does nothing with it.
    :param capabilities: Everything declared, the most dangerous first.
    :param exclude: Patterns by which the manifest leaves paths out.
    :param excluded: Paths that are neither pinned nor copied, so that nothing runs them.
    :param files: Every entry of the tree, executables and undeclared code first.
    :param refusals: Why it can't be approved at all, if so.
    :param facts: The two or three most dangerous facts.
    :param counts: How much there is of what.
    """

    scope: str
    location: str
    directory: str
    relation: Relation
    name: str
    version: str
    previous_version: str | None
    description: str
    format: str
    digest: str
    hosts: Mapping[str, str]
    requires: tuple[str, ...]
    python_packages: tuple[str, ...]
    annotations: Mapping[str, Any]
    capabilities: tuple[Disclosed, ...]
    exclude: tuple[str, ...]
    excluded: tuple[str, ...]
    files: tuple[FileRow, ...]
    refusals: tuple[str, ...]
    facts: tuple[str, ...]
    counts: Mapping[str, int]

    @property
    def groups(self) -> dict[str, tuple[Disclosed, ...]]:
        """The capabilities by what they do, in the order of :data:`DANGERS`."""
        return {
            danger: tuple(item for item in self.capabilities if item.group == danger)
            for danger in DANGERS
        }

    @property
    def data_only(self) -> bool:
        """Whether nothing in the tree has a run bit, is code, or is started or connected to."""
        return not any(row.runs or row.kind == "code" for row in self.files) and not any(
            item.group in ("executes", "connects") for item in self.capabilities
        )

    @property
    def executes(self) -> bool:
        """Whether approving lets something run, so that the digest is asked for and not ``y``."""
        return not self.data_only

    def lines(self, width: int = 80) -> list[str]:
        """Return the text that is shown, as lines of printable characters without markup.

        :param width: Columns; a line that does not fit goes on below, marked, uncut.
        """
        return disclosure_lines(self, width)

    def to_dict(self) -> dict[str, Any]:
        """Return the whole disclosure as JSON-ready data."""
        return {
            "scope": self.scope,
            "location": self.location,
            "directory": self.directory,
            "relation": {
                "text": str(self.relation),
                "approved_at": self.relation.approved_at,
                "others": list(self.relation.others),
            },
            "name": self.name,
            "version": self.version,
            "previous_version": self.previous_version,
            "description": self.description,
            "format": self.format,
            "digest": self.digest,
            "hosts": dict(self.hosts),
            "requires": list(self.requires),
            "python_packages": list(self.python_packages),
            "annotations": dict(self.annotations),
            "capabilities": [item.to_dict() for item in self.capabilities],
            "exclude": list(self.exclude),
            "excluded": list(self.excluded),
            "files": [row.to_dict() for row in self.files],
            "data_only": self.data_only,
            "executes": self.executes,
            "refusals": list(self.refusals),
            "facts": list(self.facts),
            "counts": dict(self.counts),
        }


def disclose(
    staged: StagedTree,
    *,
    scope: str,
    relation: Relation,
    signatures: Mapping[str, SourceSignature | None],
    previous: Record | None = None,
    format: str = "native",
) -> Disclosure:
    """Return what a staged copy brings.

    :param staged: The private copy. Never a path: what is shown must be what is approved.
    :param scope: Kind of the scope that the live directory was found in.
    :param relation: How this copy relates to what is approved already.
    :param signatures: Signatures of the functions that are named, by ``path:function``.
        Those that :func:`~lionplug.sources.read_signatures` returns say why one is missing.
    :param previous: The record of an earlier approval of this location.
    :param format: Which reader the capabilities come from.
    :raises StoreError: The copy was changed since it was hashed.
    """
    manifest = staged.manifest
    disclosed = [_disclosed(item, signatures) for item in manifest.capabilities]
    capabilities = tuple(sorted(disclosed, key=lambda item: DANGERS.index(item.group)))
    files = file_table(staged)
    return Disclosure(
        scope=scope,
        location=staged.location,
        directory=staged.name_of_directory,
        relation=relation,
        name=manifest.name,
        version=manifest.version,
        previous_version=previous.version if previous else None,
        description=manifest.description,
        format=format,
        digest=staged.digest,
        hosts=dict(manifest.hosts),
        requires=tuple(map(str, manifest.requires)),
        python_packages=tuple(map(str, manifest.python_packages)),
        annotations=dict(manifest.annotations),
        capabilities=capabilities,
        exclude=tuple(manifest.exclude),
        excluded=tuple(staged.excluded),
        files=files,
        refusals=(*map(str, staged.problems), *refusals(capabilities, files)),
        facts=dangerous_facts(capabilities, files),
        counts=counts(capabilities, files),
    )


def _disclosed(
    capability: Capability, signatures: Mapping[str, SourceSignature | None]
) -> Disclosed:
    known = capability.danger in DANGERS and not capability.argv
    unread = signatures.unread if isinstance(signatures, Signatures) else {}
    return Disclosed(
        capability=capability,
        group=capability.danger if known else "executes",
        signature=signatures.get(capability.target),
        unread=unread.get(capability.target),
        fetches=fetching_program(capability.argv),
        environment=tuple(_environment(capability)),
    )


def _environment(capability: Capability) -> Iterator[EnvironmentUse]:
    destination = capability.url or " ".join(capability.argv[:1])
    seen = set()
    read = {key: value for key, value in capability.detail.items() if not key.startswith("x-")}
    read = {"argv": capability.argv, "url": capability.url, **read}
    for place, text in _texts(read, ""):
        for match in _PLACEHOLDER.finditer(text):
            name = match[1]
            if _OWN_NAMES.match(name) or (name, place) in seen:
                continue
            seen.add((name, place))
            yield EnvironmentUse(name=name, place=place, destination=destination)


def _texts(value: object, place: str) -> Iterator[tuple[str, str]]:
    """Yield every text in JSON-ready data with its place."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, f"{place}.{key}" if place else str(key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _texts(item, f"{place}[{index}]")
