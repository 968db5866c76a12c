"""Whether a plugin fits the host and the environment; every reason says what to do."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError

import pytest

from lionplug.manifest.compatibility import host_reason, package_reasons, requirement_reason
from lionplug.manifest.model import Manifest
from lionplug.manifest.specifiers import Requirement, contains


def fits(specifier: str, version: str) -> bool:
    manifest = Manifest(name="demo", version="1", hosts={"lionagi": specifier})
    return host_reason(manifest, "lionagi", version) is None


@pytest.mark.parametrize(
    ("specifier", "version", "expected"),
    [
        (">=0.30,<1.0", "0.31.0", True),
        (">=0.30,<1.0", "1.0", False),
        (">=0.30,<1.0", "0.29.9", False),
        # Pre-releases count as releases in the range …
        (">=0.30", "0.31.0rc1", True),
        (">=0.30", "0.31.0.dev5", True),
        (">=0.30", "0.31.0+local.1", True),
        # … and the bounds are those of PEP 440.
        ("<1.0", "1.0rc1", False),
        (">=1.0", "1.0.dev1", False),
        (">=1.0.dev0", "1.0.dev1", True),
        ("==0.30.*", "0.30.5", True),
        ("~=0.30", "0.99", True),
        ("!=0.31", "0.31", False),
    ],
)
def test_ranges(specifier, version, expected):
    assert fits(specifier, version) is expected


def test_reasons_of_the_host():
    manifest = Manifest(name="demo", version="1", hosts={"lionagi": ">=2", "llm": ">=1"})
    assert host_reason(manifest, "lionagi", "0.31.0") == (
        "needs lionagi >=2, and this is lionagi 0.31.0; install a version of the plugin made for "
        "it, or update lionagi"
    )
    assert host_reason(manifest, "studio", "2.0") == (
        "is made for lionagi, llm; if it works with studio 2.0, add the line "
        "'studio: \">=2.0\"' to its manifest"
    )
    assert host_reason(Manifest(name="demo", version="1"), "studio", "2.0") == (
        "does not say which hosts it fits; if it works with studio 2.0, add the line "
        "'studio: \">=2.0\"' to its manifest"
    )
    assert host_reason(manifest, "lionagi", "unknown") == (
        "needs lionagi >=2, and 'unknown' is no PEP 440 version; give the host one"
    )


@pytest.mark.parametrize("version", ["2.0", "2.0rc1", "2.0.dev1+local.3", "1!2.0"])
def test_the_suggested_line_is_met_by_the_version(version):
    reason = host_reason(Manifest(name="demo", version="1"), "studio", version)
    assert reason is not None
    specifier = reason.split('"')[1]
    assert contains(specifier, version)


def test_required_plugins():
    search = Requirement("search", ">=1.2")
    assert requirement_reason(search, ["1.0", "1.3"]) is None
    assert requirement_reason(Requirement("search"), ["any text"]) is None
    assert requirement_reason(search, []) == (
        "needs the plugin search>=1.2, which is not here; add it"
    )
    assert requirement_reason(search, ["1.0", "0.9", "odd"]) == (
        "needs the plugin search>=1.2, and here is 0.9, 1.0, odd; update search"
    )


def packages(*texts: str) -> list[str]:
    installed = {"httpx": "0.27.0", "rich": "13.0", "odd": "not a version"}

    def version_of(name: str) -> str:
        if name not in installed:
            raise PackageNotFoundError(name)
        return installed[name]

    manifest = Manifest(name="demo", version="1", python_packages=texts)
    return list(package_reasons(manifest, version_of))


def test_python_packages():
    assert packages("httpx>=0.27", "rich", "absent; python_version < '3'") == []
    assert packages("httpx @ https://example.org/x.whl", "rich[jupyter]>=1") == []
    assert packages("httpx>=1", "absent>=2", "odd>=1") == [
        "needs the Python package 'httpx>=1', and 0.27.0 is installed; "
        f"update it for {sys.executable}",
        f"needs the Python package 'absent>=2', which is not installed; "
        f"install it for {sys.executable}",
        "needs the Python package 'odd>=1', and not a version is installed; "
        f"update it for {sys.executable}",
    ]


def test_packages_are_looked_up_in_this_environment():
    manifest = Manifest(
        name="demo", version="1", python_packages=("pluggy>=1", "no-such-package-here")
    )
    [reason] = package_reasons(manifest)
    assert "'no-such-package-here', which is not installed" in reason


def test_s37_addresses_and_markers_are_shown_as_text():
    hostile = "x @ https://evil/x.whl?$(touch${IFS}pwned)"
    marker = "x; python_version >= '3' and platform_machine != '`id`'"
    first, second = packages(hostile, marker)
    assert first.startswith(f"needs the Python package '{hostile}', which is not installed; ")
    assert second.startswith(f"needs the Python package '{marker}', which is not installed; ")
    for reason in (first, second):  # the only thing to do is told in words, not as a command
        assert reason.endswith(f"install it for {sys.executable}")


def test_a_marker_that_cannot_be_evaluated_is_told():
    [reason] = packages("x; os_name ~= 'posix'")
    assert reason.startswith(
        "needs the Python package 'x; os_name ~= 'posix'', whose marker can't be evaluated: "
    )


def test_what_is_no_requirement_is_told():
    [reason] = packages("a b")
    assert reason == (
        "needs the Python package 'a b', which is no PEP 508 requirement; correct the manifest"
    )
