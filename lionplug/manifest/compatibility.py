"""Whether a plugin fits this host and this environment; each reason says what to do.

Pre-releases count as releases in a range: a host of version ``0.31.0rc1`` meets
``>=0.30``. What PEP 440 itself says about the bounds stays: ``<1.0`` leaves out
``1.0rc1``, and ``1.0.dev1`` does not meet ``>=1.0``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as PackageRequirement

from lionplug.documents.nodes import shown
from lionplug.manifest.model import Manifest
from lionplug.manifest.specifiers import Requirement, contains
from lionplug.text import exact

_PACKAGE_TEXT = 200  # characters of a requirement that a reason shows


def host_reason(manifest: Manifest, host: str, version: str) -> str | None:
    """Return why a plugin does not fit a version of a host, or ``None``.

    :param manifest: The plugin's manifest.
    :param host: Name of the host.
    :param version: Its version (PEP 440).
    """
    specifier = manifest.hosts.get(host)
    if specifier is None:
        others = ", ".join(sorted(manifest.hosts))
        found = f"is made for {exact(others)}" if others else "does not say which hosts it fits"
        return (
            f"{found}; if it works with {host} {version}, add the line "
            f"'{host}: \">={_release(version)}\"' to its manifest"
        )
    fits = contains(specifier, version)
    if fits:
        return None
    if fits is None:
        return (
            f"needs {host} {exact(specifier)}, and {shown(version)} is no PEP 440 version; "
            f"give the host one"
        )
    return (
        f"needs {host} {exact(specifier)}, and this is {host} {version}; "
        f"install a version of the plugin made for it, or update {host}"
    )


def _release(version: str) -> str:
    return version if version.isascii() and version.replace(".", "").isalnum() else "0"


def requirement_reason(requirement: Requirement, versions: Iterable[str]) -> str | None:
    """Return why a required plugin is not there, or ``None``.

    :param requirement: What is required.
    :param versions: The versions of the copies that could meet it.
    """
    versions = list(versions)
    if any(contains(requirement.specifier, version) for version in versions):
        return None
    wanted = exact(str(requirement))
    if not versions:
        return f"needs the plugin {wanted}, which is not here; add it"
    found = ", ".join(sorted({exact(version) for version in versions}))
    return f"needs the plugin {wanted}, and here is {found}; update {requirement.name}"


def package_reasons(
    manifest: Manifest, version_of: Callable[[str], str] = installed_version
) -> Iterator[str]:
    """Yield why Python packages that a plugin needs are not there.

    Requirements are shown as text and never stand in a command (S37). A requirement with
    an address is met by the package of that name in whatever version.

    :param manifest: The plugin's manifest.
    :param version_of: Returns the version of a distribution, or raises
        ``PackageNotFoundError``.
    """
    for text in manifest.python_packages:
        reason = _package_reason(text, version_of)
        if reason:
            yield reason


def _package_reason(text: str, version_of: Callable[[str], str]) -> str | None:
    wanted = f"needs the Python package {shown(text, _PACKAGE_TEXT)}"
    try:
        requirement = PackageRequirement(text)
        if requirement.marker is not None and not requirement.marker.evaluate():
            return None
        found = version_of(requirement.name)
    except InvalidRequirement:
        return f"{wanted}, which is no PEP 508 requirement; correct the manifest"
    except PackageNotFoundError:
        return f"{wanted}, which is not installed; install it for {exact(sys.executable)}"
    except ValueError as error:  # a marker that compares what can't be compared
        return f"{wanted}, whose marker can't be evaluated: {exact(str(error)[:200])}"
    if contains(str(requirement.specifier), found):
        return None
    return f"{wanted}, and {exact(found)} is installed; update it for {exact(sys.executable)}"
