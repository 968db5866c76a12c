"""A disclosure as plain lines: nothing interpreted, nothing invisible, nothing cut.

The order is fixed (security rule S22, S24, S25): where the copy is and how it relates to
what is approved; what executes, connects, instructs, and data; every file; and last, so
that it stands above the question, the summary.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lionplug.text import argv_json, exact, prose
from lionplug.trust.facts import surface_counts
from lionplug.trust.layout import Line, plural, size_text, wrap_all

if TYPE_CHECKING:
    from lionplug.sources import SourceSignature
    from lionplug.trust.disclosure import Disclosed, Disclosure
    from lionplug.trust.file_table import FileRow

_HEADINGS = {
    "executes": "Executes, with all your rights",
    "connects": "Connects to",
    "instructs": "Instructs a model",
    "data": "Data",
}
# Details of a declaration that are prose to a reader; all others are shown as JSON.
_PROSE = ("description", "summary")

_LABEL = 12
# Where the path stands in a row of the table of files.
_PATH = 31


def disclosure_lines(disclosure: Disclosure, width: int) -> list[str]:
    """Return the lines of a disclosure.

    :param disclosure: What to show.
    :param width: Columns of a line.
    """
    return wrap_all(_lines(disclosure), width)


def _lines(disclosure: Disclosure) -> Iterator[str | Line]:
    yield f"Scope {exact(disclosure.scope)}, location {exact(disclosure.location)}"
    yield str(disclosure.relation)
    yield ""
    yield from _head(disclosure)
    for danger, items in disclosure.groups.items():
        if items or danger == "executes":
            yield ""
            yield f"{_HEADINGS[danger]}: {surface_counts(items) or 'nothing'}"
        for item in items:
            yield from _capability(item)
    yield from _needs(disclosure)
    yield ""
    yield f"Files: every entry of the tree ({plural(len(disclosure.files), 'entry')})"
    yield "  'show NAME FILE' prints one, with what does not show made visible"
    for row in disclosure.files:
        yield from _file(row)
    yield ""
    yield from _summary(disclosure)


def _field(label: str, text: str, indent: int = 0) -> Line:
    return Line(f"{' ' * indent}{label:<{_LABEL}} {text}", indent + _LABEL + 1)


def _head(disclosure: Disclosure) -> Iterator[str | Line]:
    yield _field("Name", exact(disclosure.name))
    if disclosure.directory != disclosure.name:
        directory = exact(disclosure.directory)
        yield _field("", f"the directory is named {directory}; the manifest's name counts")
    before = disclosure.previous_version
    changed = before is not None and before != disclosure.version
    note = f" (approved before: {exact(before or '')})" if changed else ""
    yield _field("Version", exact(disclosure.version) + note)
    if disclosure.description:
        yield _field("About", prose(disclosure.description))
    yield _field("Format", exact(disclosure.format))
    for host, versions in disclosure.hosts.items():
        yield _field("For", f"{exact(host)} {exact(versions)}")
    for key, value in disclosure.annotations.items():
        yield _field(exact(key), _json(value))
    yield "Digest"
    yield f"  {disclosure.digest}"


def _capability(item: Disclosed) -> Iterator[str | Line]:
    capability = item.capability
    yield f"  {exact(item.label)}"
    if capability.target:
        yield _field("code", exact(capability.target), 4)
    if item.is_function:
        yield from _signature(item, item.signature)
    if capability.argv:
        yield from _command(capability.argv)
    if item.fetches:
        yield _field("warning", f"runs code that is not pinned, by {exact(item.fetches)}", 4)
    if capability.url:
        yield _field("address", exact(capability.url), 4)
    for use in item.environment:
        where = f"{exact(use.place)}, for {exact(use.destination)}"
        yield _field("environment", f"{exact(use.name)} in {where}", 4)
    for path in capability.files:
        yield _field("file", exact(path), 4)
    yield from _details(capability.detail)


def _command(argv: tuple[str, ...]) -> Iterator[str | Line]:
    yield "    command"
    for line in argv_json(argv):  # at the left, where a line that is not long fits
        yield f"    {line}"


def _signature(item: Disclosed, signature: SourceSignature | None) -> Iterator[str | Line]:
    if signature is None:
        reason = f": {item.unread.reason}" if item.unread else ""
        yield _field("signature", f"not shown{reason}", 4)
        return
    function = item.capability.target.partition(":")[2]
    yield _field("signature", exact(signature.text(function)), 4)
    if signature.uncertain:
        note = "decorated, assigned again or in a branch: may be another"
        yield _field("", note, 4)
    if signature.omitted:
        names = ", ".join(map(exact, signature.omitted))
        yield _field("", f"can't be given by name, so never passed: {names}", 4)
    if signature.doc:
        yield _field("docstring", prose(signature.doc), 4)


def _details(detail: Mapping[str, Any]) -> Iterator[str | Line]:
    for key, value in detail.items():
        if key in _PROSE and isinstance(value, str):
            yield _field(exact(key), prose(value), 4)
        else:
            yield _field(exact(key), _json(value), 4)


def _json(value: object) -> str:
    # DEL is the one control character that JSON lets stand.
    return json.dumps(value).replace("\x7f", "\\u007f")


def _needs(disclosure: Disclosure) -> Iterator[str | Line]:
    groups = {
        "Needs other plugins (checked, not installed)": disclosure.requires,
        "Needs Python packages (checked, not installed)": disclosure.python_packages,
        "Leaves out what fits a pattern": disclosure.exclude,
        "Left out: neither pinned nor copied, so nothing runs it": disclosure.excluded,
    }
    for heading, texts in groups.items():
        if texts:
            yield ""
            yield heading
            for text in texts:
                yield f"  {exact(text)}"


def _file(row: FileRow) -> Iterator[str | Line]:
    size = "" if row.kind in ("directory", "link") else size_text(row.size)
    target = f" -> {exact(row.target)}" if row.kind == "link" else ""
    run = "run" if row.runs else ""
    yield Line(f"  {run:<4}{row.kind:<13}{size:>10}  {exact(row.path)}{target}", _PATH)
    if row.declared_by:
        yield f"      declared by {', '.join(map(exact, row.declared_by))}"
    for flag in row.flags:
        yield f"      {flag.severity}: {flag}"


def _summary(disclosure: Disclosure) -> Iterator[str | Line]:
    count = disclosure.counts
    yield "Summary"
    yield f"  Declares {surface_counts(disclosure.capabilities) or 'nothing'}"
    yield (
        f"  {plural(count['files'], 'file')} ({size_text(count['bytes'])}), "
        f"{plural(count['directories'], 'directory')}, {plural(count['links'], 'link')}"
    )
    yield (
        f"  {count['run_bits']:,} with a run bit, {count['undeclared_code']:,} of undeclared "
        f"code, {count['flagged']:,} flagged"
    )
    if disclosure.data_only:
        yield "  Data only: no code, no run bits, no commands, no servers"
    for fact in disclosure.facts:
        yield f"  ! {fact}"
    for reason in disclosure.refusals:
        yield f"  CAN'T BE APPROVED: {reason}"
