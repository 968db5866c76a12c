"""The text of the file of approvals: JSON read strictly, kept whole, written back.

The document stays the plain data that was read, so that a key or a record that this
version does not know survives every rewriting (security rule S31). Whole files that are
malformed, and files of a newer format, are refused: nothing of them is believed. One
malformed record only loses its own approval.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from lionplug.trust.digest import is_digest
from lionplug.trust.record import Record

#: Number of the file's format; a greater one was written by a newer lionplug.
FORMAT = 1
MAX_BYTES = 16 * 2**20
MAX_ENTRIES = 10_000

Document = dict[str, Any]


class DocumentError(ValueError):
    """The bytes are no file of approvals; the message continues "FILE …"."""


def new_document() -> Document:
    """Return the document of a user who approved nothing yet."""
    return {"format": FORMAT, "records": [], "disabled": []}


def parse_document(data: bytes) -> Document:
    """Read the bytes of a file of approvals.

    :param data: The whole file.
    :returns: The document, of a known format and sound as a whole; single records may
        still be malformed, see :func:`read_records`.
    :raises DocumentError: It is not sound as a whole.
    """
    document = _parse_json(data)
    if not isinstance(document, dict):
        raise DocumentError("is not one JSON object")
    number = document.get("format")
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise DocumentError(f"has no number of a format: 'format' must be {FORMAT}")
    if number > FORMAT:
        raise DocumentError(
            f"has format {number}, and this lionplug reads {FORMAT}: a newer lionplug wrote it"
        )
    for key in ("records", "disabled"):
        entries = document.get(key)
        if not isinstance(entries, list):
            raise DocumentError(f"has no list {key!r}")
        if len(entries) > MAX_ENTRIES:
            raise DocumentError(f"has more than {MAX_ENTRIES} entries in {key!r}")
    read_disabled(document)
    return document


def _parse_json(data: bytes) -> object:
    if not data:
        raise DocumentError("is empty")
    try:
        return json.loads(
            data.decode(),
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
    except UnicodeDecodeError as error:
        raise DocumentError(f"is not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise DocumentError(
            f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from None
    except RecursionError:
        raise DocumentError("is nested too deeply") from None
    except DocumentError:
        raise
    except ValueError as error:  # a whole number of thousands of digits
        raise DocumentError(f"is not JSON that can be read: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        # Readers differ on which of two equal keys counts, so neither does.
        raise DocumentError("has an object with the same key twice")
    return result


def _refuse_constant(name: str) -> NoReturn:
    raise DocumentError(f"has {name}, which is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise DocumentError("has a number beyond all bounds")
    return number


def read_records(document: Document) -> tuple[dict[str, Record], dict[str, str]]:
    """Return the sound records by location, and why the others approve nothing.

    :param document: As :func:`parse_document` returns it.
    :returns: Records by location; reasons by location, or by place in the file
        (``records[3]``) where a malformed record names none. Two records of one location
        contradict each other, so neither counts.
    """
    records: dict[str, Record] = {}
    unreadable: dict[str, str] = {}
    seen: set[str] = set()
    for index, data in enumerate(document["records"]):
        location = location_of(data)
        place = f"records[{index}]" if location is None else location
        if place in seen:
            records.pop(place, None)
            unreadable[place] = "two records name this location"
            continue
        seen.add(place)
        try:
            records[place] = Record.from_dict(data)
        except ValueError as error:
            unreadable[place] = f"the record {error}"
    return records, unreadable


def location_of(data: object) -> str | None:
    """Return the location that a record names, sound or not; ``None`` where it names none."""
    location = data.get("location") if isinstance(data, dict) else None
    return location if isinstance(location, str) else None


def named_trees(document: Document) -> frozenset[str]:
    """Return the tree digest of every record that names one, sound or not."""
    trees = (data.get("tree") for data in document["records"] if isinstance(data, dict))
    return frozenset(tree for tree in trees if isinstance(tree, str) and is_digest(tree))


def read_disabled(document: Document) -> frozenset[tuple[str, str]]:
    """Return name and location of the plugins that the user switched off.

    :raises DocumentError: An entry is malformed. The whole file is refused then: to pass
        over the entry would switch a plugin on again.
    """
    found = set()
    for index, entry in enumerate(document["disabled"]):
        name, location = disabled_entry(entry)
        if name is None or location is None:
            raise DocumentError(f"has no 'name' and 'location' in disabled[{index}]")
        found.add((name, location))
    return frozenset(found)


def disabled_entry(entry: object) -> tuple[str | None, str | None]:
    """Return name and location of one entry of ``disabled``; ``None`` where it has none."""
    if not isinstance(entry, dict):
        return None, None
    name, location = entry.get("name"), entry.get("location")
    return (
        name if isinstance(name, str) else None,
        location if isinstance(location, str) else None,
    )


def dump_document(document: Document) -> bytes:
    """Return the bytes of a document.

    :raises DocumentError: It would be a file that :func:`parse_document` refuses.
    """
    try:
        text = json.dumps(document, indent=1, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise DocumentError(f"would not be JSON: {error}") from None
    data = text.encode() + b"\n"
    if len(data) > MAX_BYTES:
        raise DocumentError(f"would be larger than {MAX_BYTES} bytes")
    parse_document(data)
    return data
