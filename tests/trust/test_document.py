"""The text of the file of approvals: strict as a whole, patient with single records."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionplug.trust import document as document_module
from lionplug.trust.document import (
    DocumentError,
    dump_document,
    new_document,
    parse_document,
    read_disabled,
    read_records,
)
from lionplug.trust.record import Record

EMPTY = '{"format": 1, "records": [], "disabled": []}'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b'{"plugins": {"a"', "is not JSON: Expecting ':' delimiter at line 1, column 17"),
        (b"\xff", "is not UTF-8 at byte 0"),
        (EMPTY.encode("utf-16"), "is not UTF-8 at byte 0"),
        (b"[]", "is not one JSON object"),
        (b"null", "is not one JSON object"),
        (b"{}", "has no number of a format: 'format' must be 1"),
        (b'{"format": true}', "has no number of a format: 'format' must be 1"),
        (b'{"format": 0}', "has no number of a format: 'format' must be 1"),
        (b'{"format": "1"}', "has no number of a format: 'format' must be 1"),
        (
            b'{"format": 2, "records": {}}',
            "has format 2, and this lionplug reads 1: a newer lionplug wrote it",
        ),
        (b'{"format": 1}', "has no list 'records'"),
        (b'{"format": 1, "records": {}}', "has no list 'records'"),
        (b'{"format": 1, "records": []}', "has no list 'disabled'"),
        (b'{"format": 1, "format": 1}', "has an object with the same key twice"),
        (
            EMPTY.replace("[]", '[{"a": 1, "a": 2}]', 1).encode(),
            "has an object with the same key twice",
        ),
        (b'{"format": NaN}', "has NaN, which is no JSON"),
        (b'{"format": -Infinity}', "has -Infinity, which is no JSON"),
        (b'{"format": 1e999}', "has a number beyond all bounds"),
        (b"[" * 100_000, "is nested too deeply"),
        (b'{"a":' * 100_000, "is nested too deeply"),
    ],
)
def test_s31_a_file_that_is_not_sound_as_a_whole_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_document(data)

    assert str(caught.value) == message


def test_s31_a_number_of_thousands_of_digits_is_refused() -> None:
    with pytest.raises(DocumentError, match="is not JSON that can be read: "):
        parse_document(b'{"format": ' + b"1" * 10_000 + b"}")


@pytest.mark.parametrize(
    "entry", [1, "hello", ["hello", "/a"], {}, {"name": "hello"}, {"name": 1, "location": "/a"}]
)
def test_s31_a_malformed_entry_of_disabled_refuses_the_file(entry: object) -> None:
    """Passing over it would switch a plugin on that somebody switched off."""
    data = json.dumps({**new_document(), "disabled": [entry]}).encode()

    with pytest.raises(DocumentError) as caught:
        parse_document(data)

    assert str(caught.value) == "has no 'name' and 'location' in disabled[0]"


def test_counts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_module, "MAX_ENTRIES", 2)
    sound = {**new_document(), "records": [1, 2]}
    assert parse_document(json.dumps(sound).encode()) == sound

    with pytest.raises(DocumentError, match="^has more than 2 entries in 'records'$"):
        parse_document(json.dumps({**sound, "records": [1, 2, 3]}).encode())


def test_s31_one_malformed_record_loses_only_its_own_approval(
    make_record: Callable[..., Record],
) -> None:
    sound = make_record("sound")
    records: list[Any] = [
        {**make_record("bad").to_dict(), "tree": "lp1"},
        sound.to_dict(),
        5,
        {"location": 5},
    ]
    document = parse_document(json.dumps({**new_document(), "records": records}).encode())

    found, unreadable = read_records(document)

    assert found == {sound.location: sound}
    assert unreadable == {
        "/home/me/.lionplug/plugins/bad": (
            "the record has a 'tree' that is not a tree digest, 'lp1:sha256:' and 64 hex digits"
        ),
        "records[2]": "the record is not an object",
        "records[3]": "the record has record version None, and this lionplug reads 1",
    }
    assert document["records"] == records


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("copies", [2, 3])
def test_s30_two_records_of_one_location_approve_nothing(
    make_record: Callable[..., Record], order: int, copies: int
) -> None:
    record = make_record()
    rows = [record.to_dict(), *[{**record.to_dict(), "tree": 1}] * (copies - 1)][::order]

    found, unreadable = read_records({**new_document(), "records": rows})

    assert found == {}
    assert unreadable == {record.location: "two records name this location"}


def test_dump_refuses_what_could_not_be_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    document = new_document()
    for value, message in [
        (float("nan"), "^would not be JSON: "),
        (object(), "^would not be JSON: "),
    ]:
        with pytest.raises(DocumentError, match=message):
            dump_document({**document, "x-note": value})
    with pytest.raises(DocumentError, match="^has no list 'records'$"):
        dump_document({**document, "records": None})
    monkeypatch.setattr(document_module, "MAX_BYTES", 10)
    with pytest.raises(DocumentError, match="^would be larger than 10 bytes$"):
        dump_document(document)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
DOCUMENTS = st.fixed_dictionaries(
    {"format": st.just(1) | JSON, "records": st.lists(JSON) | JSON, "disabled": st.lists(JSON)},
    optional={"x-note": JSON},
)


@given(data=st.binary() | DOCUMENTS.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_a_document_or_a_document_error(data: bytes) -> None:
    try:
        document = parse_document(data)
    except DocumentError:
        return
    records, _ = read_records(document)
    assert records == {}
    assert parse_document(dump_document(document)) == document
    assert read_disabled(document) == read_disabled(parse_document(data))
