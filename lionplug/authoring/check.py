"""Checking a bundle: every rule, one report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from lionplug.authoring.bundle import Bundle, read_bundle
from lionplug.authoring.calls import call_problems
from lionplug.authoring.content import content_problems
from lionplug.authoring.imports import import_problems
from lionplug.authoring.places import Places
from lionplug.authoring.report import Report, in_order
from lionplug.documents.nodes import shown
from lionplug.errors import Problem, StoreError
from lionplug.files.limits import Limits
from lionplug.manifest.files_check import check_files
from lionplug.manifest.model import Manifest
from lionplug.manifest.parse import MANIFEST_FILE, parse_manifest
from lionplug.manifest.section import Section
from lionplug.manifest.sections import SECTIONS
from lionplug.text import exact
from lionplug.trust.file_table import rows_of


def check_bundle(
    path: str,
    *,
    host: str,
    sections: Mapping[str, Section] = SECTIONS,
    limits: Limits | None = None,
) -> Report:
    """Check a bundle directory, importing and running nothing of it.

    :param path: The directory.
    :param host: Name of the host that the bundle is checked for.
    :param sections: What may stand below ``capabilities`` in a manifest for this host.
    :param limits: How large the tree may be; by default what every user accepts, whatever
        the settings of this one.
    :raises TreeError: ``path`` is no directory that can be read.
    """
    read = partial(parse_manifest, host=host, sections=sections)
    bundle = read_bundle(path, read, limits or Limits())
    problems = list(bundle.problems)
    if bundle.manifest is not None:
        problems += _host_problems(bundle.manifest, host)
    try:
        problems += _file_problems(bundle)
    except StoreError as error:
        problems.append(
            Problem(
                "changed",
                "changed while the bundle was checked; try again when it is at rest.",
                file=exact(error.file or "."),
            )
        )
    manifest = bundle.manifest
    return Report(
        name=manifest.name if manifest else "",
        version=manifest.version if manifest else "",
        problems=in_order(problems),
    )


def _host_problems(manifest: Manifest, host: str) -> Iterator[Problem]:
    if host in manifest.hosts:
        return
    place = partial(Problem, file=MANIFEST_FILE, line=1, column=1)
    if not manifest.hosts:
        message = f"names no host, so that it is used by none; add a line '{exact(host)}: \">=1\"'"
        yield place("no-host-key", f"{message} with the versions that it is for.")
        return
    others = ", ".join(shown(name) for name in list(manifest.hosts)[:5])
    message = f"is for {others} and not for {shown(host)}, for which it is checked"
    yield place("other-host", f"{message}; add its key, or name the host that is meant.")


def _file_problems(bundle: Bundle) -> Iterator[Problem]:
    tree, manifest = bundle.tree, bundle.manifest
    if tree is None:
        return
    rows = rows_of(tree, manifest.capabilities if manifest else ())
    yield from content_problems(rows, tree, manifest)
    yield from import_problems(tree, manifest)
    if manifest is not None and bundle.document is not None:
        yield from check_files(manifest, tree, bundle.data)
        yield from call_problems(manifest, tree, Places(bundle.document))
