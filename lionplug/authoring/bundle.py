"""Reading a bundle in full, with everything that is wrong with it on the way.

Unlike an approval, which ends at the first thing that can't be approved, this goes on
with what is left. The live directory is read, by descriptors and within the limits that
every user has; nothing is written, so no user scope is needed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from attrs import evolve, frozen

from lionplug.documents.nodes import Mapping, Scalar
from lionplug.documents.nodes import Sequence as SequenceNode
from lionplug.documents.yaml import read_yaml
from lionplug.errors import LionplugError, ManifestError, Problem, TreeError, UnsafePathError
from lionplug.files.entry import Entry
from lionplug.files.exclude import Exclusion, check_pattern
from lionplug.files.limits import Limits
from lionplug.files.links import check_links
from lionplug.files.opening import Directory
from lionplug.files.trees import Tree, check_hard_links
from lionplug.files.walking import walk
from lionplug.manifest.model import Manifest
from lionplug.manifest.parse import MANIFEST_FILE
from lionplug.text import exact
from lionplug.trust.copying import hash_entries
from lionplug.trust.digest import tree_digest
from lionplug.trust.staging import MANIFEST_BYTES

#: How often a tree is walked anew without what was at fault.
_ATTEMPTS = 3
# Behind these, there is no end in sight.
_LIMIT_CODES = frozenset(("too-many", "too-large", "too-deep"))

ReadManifest = Callable[[bytes], Manifest]


class BundleTree(Tree):
    """The files of a live directory as they were read.

    :ivar digest: Tree digest.
    """

    def __init__(self, root: str, entries: Sequence[Entry]) -> None:
        super().__init__(root, entries)
        self.digest = tree_digest(entries)


@frozen(kw_only=True)
class Bundle:
    """What could be read of a bundle.

    :param data: Bytes of the manifest.
    :param document: Its YAML, ``None`` if it is none.
    :param manifest: The manifest, ``None`` if it has problems.
    :param tree: The files that are part of the plugin, ``None`` if they can't be listed.
    :param problems: What was wrong so far.
    """

    data: bytes
    document: Mapping | None
    manifest: Manifest | None
    tree: BundleTree | None
    problems: tuple[Problem, ...]


def read_bundle(path: str, read_manifest: ReadManifest, limits: Limits) -> Bundle:
    """Read a bundle directory.

    :param path: The directory; the path may lead through links.
    :param read_manifest: Parses the manifest's bytes.
    :param limits: How large the tree may be.
    :raises TreeError: It is no directory that can be read.
    """
    problems: list[Problem] = []
    with _opened(os.path.realpath(path)) as source:
        data = _manifest_bytes(source, problems)
        if data is None:
            # A directory without one may be anything, such as a home: it is not searched.
            return Bundle(data=b"", document=None, manifest=None, tree=None, problems=(*problems,))
        document, manifest = _parse(data, read_manifest, problems)
        tree = _read_tree(source, limits, _patterns(document), problems)
    return Bundle(data=data, document=document, manifest=manifest, tree=tree, problems=(*problems,))


@contextmanager
def _opened(path: str) -> Iterator[Directory]:
    try:
        directory = Directory.open(path)
    except OSError as error:
        message = f"can't be opened: {_reason(error)}; name the directory of a bundle"
        raise TreeError([Problem("unreadable", message, file=exact(path))]) from error
    with directory:
        yield directory


def _manifest_bytes(source: Directory, problems: list[Problem]) -> bytes | None:
    try:
        return source.read(MANIFEST_FILE, MANIFEST_BYTES)[0]
    except OSError as error:
        message = f"can't be read: {_reason(error)}; expected a regular file of at most 1 MiB."
        problems.append(Problem("manifest-unreadable", message, file=MANIFEST_FILE))
        return None


def _reason(error: OSError) -> str:
    return str(error) if isinstance(error, LionplugError) else error.strerror or str(error)


def _parse(
    data: bytes, read_manifest: ReadManifest, problems: list[Problem]
) -> tuple[Mapping | None, Manifest | None]:
    try:
        document = read_yaml(data, MANIFEST_FILE)
        return document, read_manifest(data)
    except ManifestError as error:
        problems += error.problems
    try:
        return read_yaml(data, MANIFEST_FILE), None
    except ManifestError:
        return None, None


def _patterns(document: Mapping | None) -> list[str]:
    """Return the patterns of ``exclude`` that can be used, also of a faulty manifest."""
    node = document.get("exclude") if document else None
    items = node.items if isinstance(node, SequenceNode) else ()
    texts = [item.text for item in items if isinstance(item, Scalar)]
    return [text for text in texts[:100] if check_pattern(text) is None]


def _read_tree(
    source: Directory, limits: Limits, patterns: list[str], problems: list[Problem]
) -> BundleTree | None:
    bad: set[str] = set()
    for _ in range(_ATTEMPTS):
        exclusion = Exclusion(patterns)

        def left_out(path: str, is_dir: bool, exclusion: Exclusion = exclusion) -> bool:
            return exclusion(path, is_dir) or exact(path) in bad

        try:
            entries = walk(source, limits, left_out)
            hashes = hash_entries(source, entries)
        except TreeError as error:
            problems += error.problems
            if not _LIMIT_CODES.isdisjoint(problem.code for problem in error.problems):
                return None
            bad.update(problem.file for problem in error.problems)
            continue
        except UnsafePathError as error:
            problems.append(Problem("changed", str(error), file=exact(error.file or ".")))
            return None
        problems += check_hard_links(entries)
        # A link to what is at fault itself is not told of twice.
        problems += check_links(entries, exclusion.found) if not bad else []
        return BundleTree(source.path, [_hashed(entry, hashes) for entry in entries])
    return None


def _hashed(entry: Entry, hashes: dict[str, str]) -> Entry:
    return evolve(entry, sha256=hashes[entry.path]) if entry.path in hashes else entry
