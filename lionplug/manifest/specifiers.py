"""PEP 440 version ranges and PEP 508 requirements, as they stand in manifests."""

from __future__ import annotations

import re
from functools import lru_cache

from attrs import frozen
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from lionplug.imports import safe_imports
from lionplug.manifest.names import PLUGIN_NAME, why_not_plugin_name

#: Longest range or requirement, in characters.
MAX_LENGTH = 500

_REQUIREMENT = re.compile(rf"({PLUGIN_NAME})[ \t]*(.*)")


@frozen
class Requirement:
    """Another plugin that this one needs.

    :param name: Its name.
    :param specifier: The versions that will do (PEP 440); empty for any.
    """

    name: str
    specifier: str = ""

    def __str__(self) -> str:
        return f"{self.name}{self.specifier}"


@lru_cache(maxsize=1024)
def why_not_specifier(text: str) -> str | None:
    """Return why a text is no non-empty PEP 440 version range, or ``None``."""
    if len(text) <= MAX_LENGTH and text.isascii():
        try:
            if len(SpecifierSet(text)):
                return None
        except InvalidSpecifier:
            pass
    return "expected a version range such as '>=1.2,<2' (PEP 440)"


def contains(specifier: str, version: str) -> bool | None:
    """Tell whether a version lies in a range; pre-releases count like any other version.

    :param specifier: A range without fault; an empty one holds every version.
    :param version: The version.
    :returns: ``None`` if ``version`` is no PEP 440 version and the range is not empty.
    """
    if not specifier:
        return True
    try:
        return SpecifierSet(specifier).contains(Version(version), prereleases=True)
    except InvalidVersion:
        return None


def why_not_requirement(text: str) -> str | None:
    """Return why a text is no ``NAME`` or ``NAME>=1.2`` of another plugin, or ``None``."""
    match = _REQUIREMENT.fullmatch(text)
    if match is None:
        return "expected the name of a plugin, with a version range or without"
    return why_not_plugin_name(match[1]) or (why_not_specifier(match[2]) if match[2] else None)


def parse_requirement(text: str) -> Requirement:
    """Read a requirement for which :func:`why_not_requirement` has no objection."""
    match = _REQUIREMENT.fullmatch(text)
    if match is None:
        raise ValueError("not a requirement")
    return Requirement(match[1], match[2])


def why_not_package(text: str) -> str | None:
    """Return why a text is no requirement of a Python package (PEP 508), or ``None``."""
    if len(text) > MAX_LENGTH:
        return f"expected at most {MAX_LENGTH} characters"
    with safe_imports():
        from packaging.requirements import InvalidRequirement
        from packaging.requirements import Requirement as PackageRequirement
    try:
        PackageRequirement(text)
    except InvalidRequirement:
        return "expected a Python package such as 'httpx>=0.27' (PEP 508)"
    return None
