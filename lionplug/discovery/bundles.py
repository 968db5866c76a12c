"""Discovery of directory bundles: ``<scope>/plugins/*/plugin.yaml``.

A scan never raises for what lies in a ``plugins/`` directory: what is no bundle is
passed over, what is a bad bundle is found with its problems, and anything beyond the
bounds is left out with one notice.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator

from attrs import evolve, frozen

from lionplug.discovery.found import FoundBundle, ScopeFolder
from lionplug.errors import LionplugError, ManifestError, Problem
from lionplug.files.opening import Directory
from lionplug.files.signature import Signature, signature_of
from lionplug.manifest.model import Manifest
from lionplug.manifest.parse import MANIFEST_FILE
from lionplug.text import exact
from lionplug.workdir import is_inside

#: Largest manifest that is read, in bytes; one more than the reader accepts, so that the
#: reader can say what is wrong.
MANIFEST_BYTES = 2**20 + 1

#: Names looked at in one ``plugins/`` directory, by kind of scope. A project's is smaller:
#: whoever made the repository chose how many there are.
BUNDLES = {"user": 10_000, "project": 1_000}

#: Bytes of manifests read of all projects together: parsing is what takes time, and no
#: repository may keep a host from starting. A thousand ordinary manifests have less.
PROJECT_BYTES = 2 * 2**20

#: Directory entries read to find those names.
ENTRIES = 200_000


@frozen(kw_only=True)
class Scan:
    """Result of one scan.

    :param bundles: In canonical order: by scope, then by name of the directory.
    :param notices: What was left out and why, at most one line for each reason and scope.
    """

    bundles: tuple[FoundBundle, ...]
    notices: tuple[str, ...]


class BundleScanner:
    """Scans scopes; a manifest whose stat identity is unchanged is not read again.

    :param read_manifest: Parses the bytes of a manifest; raises ``ManifestError``.
    """

    def __init__(self, read_manifest: Callable[[bytes], Manifest]) -> None:
        self._read_manifest = read_manifest
        self._known: dict[tuple[str, str], FoundBundle] = {}

    def scan(self, scopes: Iterable[ScopeFolder]) -> Scan:
        """Look through the scopes, which are given in canonical order."""
        bundles: dict[str, FoundBundle] = {}
        notices: list[str] = []
        room = PROJECT_BYTES
        for scope in scopes:
            if room < 0 and scope.kind == "project":
                continue
            for found in self._scan_scope(scope, notices):
                if scope.kind == "project":
                    room -= found.manifest_signature[2] if found.manifest_signature else 0
                    if room < 0:
                        notices.append(_too_much(found))
                        break
                bundles.setdefault(found.location, found)
        self._known = {(one.scope.directory, one.directory): one for one in bundles.values()}
        return Scan(bundles=tuple(bundles.values()), notices=tuple(notices))

    def _scan_scope(self, scope: ScopeFolder, notices: list[str]) -> Iterator[FoundBundle]:
        path = os.path.join(scope.directory, "plugins")
        try:
            folder = self._open_plugins(path, scope)
        except (FileNotFoundError, NotADirectoryError):
            return
        except (OSError, LionplugError) as error:
            notices.append(f"{exact(path)} is not searched: {_reason(error)}")
            return
        misnamed: list[str] = []
        with folder:
            for name, is_link in self._names(folder, scope, notices):
                try:
                    found = self._look_at(folder, scope, name, is_link)
                except (FileNotFoundError, NotADirectoryError):
                    # No manifest, or gone since it was listed.
                    if _has_misnamed_manifest(folder, name):
                        misnamed.append(exact(name))
                    continue
                if found is not None:
                    yield found
        if misnamed:
            more = f" and {len(misnamed) - 3} more" if len(misnamed) > 3 else ""
            notices.append(
                f"{', '.join(misnamed[:3])}{more} in {exact(path)}: the manifest is called "
                f"plugin.yml, and only {MANIFEST_FILE} is read; rename it"
            )

    def _open_plugins(self, path: str, scope: ScopeFolder) -> Directory:
        real = os.path.realpath(path)
        if scope.kind == "project" and not is_inside(real, scope.root):
            raise LionplugError(
                f"it is a link out of the project, to {exact(real)}. "
                "Move the plugins into the project or into your user scope."
            )
        return Directory.open(real)

    def _names(
        self, folder: Directory, scope: ScopeFolder, notices: list[str]
    ) -> list[tuple[str, bool]]:
        names = []
        with os.scandir(folder.fd) as entries:
            for count, entry in enumerate(entries):
                if count >= ENTRIES:
                    notices.append(
                        f"{exact(folder.path)} holds more than {ENTRIES} entries; the rest was "
                        "not looked at. Remove what is no plugin."
                    )
                    break
                if not entry.name.startswith(".") and (
                    entry.is_symlink() or entry.is_dir(follow_symlinks=False)
                ):
                    names.append((entry.name, entry.is_symlink()))
        names.sort()
        most = BUNDLES[scope.kind]
        if len(names) > most:
            notices.append(
                f"{exact(folder.path)} holds {len(names)} directories; only the first {most} in "
                "order of name were looked at. Remove what is no plugin."
            )
        return names[:most]

    def _look_at(
        self, folder: Directory, scope: ScopeFolder, name: str, is_link: bool
    ) -> FoundBundle | None:
        """Return the bundle of one directory entry; ``None`` for a link that leads to none."""
        known = self._known.get((scope.directory, name))
        if known is not None and not is_link and known.manifest_signature is not None:
            # One stat by descriptor: enough to see that the manifest was not touched.
            stat = os.stat(f"{name}/{MANIFEST_FILE}", dir_fd=folder.fd, follow_symlinks=False)
            if signature_of(stat) == known.manifest_signature:
                return known if known.scope == scope else evolve(known, scope=scope)
        location = os.path.join(folder.path, name)
        if is_link:
            location = os.path.realpath(location)
            outside = scope.kind == "project" and not is_inside(location, scope.root)
            if outside or not os.path.isdir(location):
                return None
        try:
            with Directory.open(location) if is_link else folder.child(name) as bundle:
                return self._read(bundle, scope, location, name)
        except (FileNotFoundError, NotADirectoryError):
            raise
        except (OSError, LionplugError) as error:
            problem = Problem("unreadable", _reason(error), file=MANIFEST_FILE)
            return self._bad(scope, location, name, (problem,))

    def _read(self, bundle: Directory, scope: ScopeFolder, location: str, name: str) -> FoundBundle:
        data, stat = bundle.read(MANIFEST_FILE, MANIFEST_BYTES)
        signature = signature_of(stat)
        digest = hashlib.sha256(data).hexdigest()
        try:
            manifest = self._read_manifest(data)
        except ManifestError as error:
            return self._bad(scope, location, name, error.problems, digest, signature)
        return FoundBundle(
            scope=scope,
            location=location,
            directory=name,
            manifest=manifest,
            manifest_sha256=digest,
            manifest_signature=signature,
        )

    def _bad(
        self,
        scope: ScopeFolder,
        location: str,
        name: str,
        problems: tuple[Problem, ...],
        digest: str = "",
        signature: Signature | None = None,
    ) -> FoundBundle:
        return FoundBundle(
            scope=scope,
            location=location,
            directory=name,
            manifest=None,
            problems=problems,
            manifest_sha256=digest,
            manifest_signature=signature,
        )


def _too_much(found: FoundBundle) -> str:
    return (
        f"the manifests of the project have more than {PROJECT_BYTES:,} bytes; those from "
        f"{exact(found.location)} on were not looked at. Remove what is no plugin."
    )


def _reason(error: Exception) -> str:
    if isinstance(error, LionplugError):
        return error.message
    text = getattr(error, "strerror", None) or type(error).__name__
    return f"it can't be read ({text}). Check its owner and mode."


def _has_misnamed_manifest(folder: Directory, name: str) -> bool:
    try:
        os.stat(f"{name}/plugin.yml", dir_fd=folder.fd, follow_symlinks=False)
    except OSError:
        return False
    return True
