"""One record: strict to read, whole to write; and the machine that it was made on."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionplug.trust import machine
from lionplug.trust.machine import machine_id, user_id
from lionplug.trust.record import Record


def as_json(record: Record) -> dict[str, Any]:
    return json.loads(json.dumps(record.to_dict()))


def test_record_survives_json(make_record: Callable[..., Record]) -> None:
    record = make_record(signatures={"a.py:greet": {"parameters": []}, "b": None}, device=7)

    assert Record.from_dict(as_json(record)) == record


def test_record_says_where_it_is_from(make_record: Callable[..., Record]) -> None:
    assert make_record().is_from_here
    assert not make_record(machine="0" * 64).is_from_here
    assert not make_record(uid=user_id() + 1).is_from_here


def test_s31_unknown_keys_of_a_record_are_left_alone(make_record: Callable[..., Record]) -> None:
    data = as_json(make_record())
    data["x-note"] = ["kept by the document, not by the record"]

    assert Record.from_dict(data) == make_record()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("record", 2, "has record version 2, and this lionplug reads 1"),
        ("record", True, "has record version True, and this lionplug reads 1"),
        ("record", None, "has record version None, and this lionplug reads 1"),
        ("name", "", "has a 'name' that is not a text of 1 to 256 characters"),
        ("name", ["hello"], "has a 'name' that is not a text of 1 to 256 characters"),
        ("version", 1.1, "has a 'version' that is not a text of 1 to 256 characters"),
        ("location", "plugins/hello", "has a 'location' that is not an absolute, normal path"),
        ("location", "/a/../b", "has a 'location' that is not an absolute, normal path"),
        ("location", "/a\0b", "has a 'location' that is not an absolute, normal path"),
        ("location", 5, "has a 'location' that is not an absolute, normal path"),
        ("scope_kind", "root", "has a 'scope_kind' that is not 'user', 'project' or 'installed'"),
        ("scope_kind", [], "has a 'scope_kind' that is not 'user', 'project' or 'installed'"),
        (
            "tree",
            "lp1:sha256:" + "A" * 64,
            "has a 'tree' that is not a tree digest, 'lp1:sha256:' and 64 hex digits",
        ),
        (
            "tree",
            float("1e300"),
            "has a 'tree' that is not a tree digest, 'lp1:sha256:' and 64 hex digits",
        ),
        ("manifest", "1" * 64, "has a 'manifest' that is not 'sha256:' and 64 hex digits"),
        ("manifest_sha256", "1", "has a 'manifest_sha256' that is not 64 hex digits"),
        ("live_signature", 3, "has a 'live_signature' that is not 64 hex digits"),
        ("machine", "", "has a 'machine' that is not 64 hex digits"),
        ("format", "mystery", "has a 'format' that is not a known format"),
        ("format", {}, "has a 'format' that is not a known format"),
        ("approved_at", "yesterday", "has a 'approved_at' that is not a time in UTC, ISO 8601"),
        ("approved_at", 0, "has a 'approved_at' that is not a time in UTC, ISO 8601"),
        (
            "approved_at",
            "2026-11-30T18:50:49",
            "has a 'approved_at' that is not a time in UTC, ISO 8601",
        ),
        ("uid", -1, "has a 'uid' that is not a number of an account"),
        ("uid", True, "has a 'uid' that is not a number of an account"),
        ("device", "8:1", "has a 'device' that is not a device number"),
        ("signatures", [], "has a 'signatures' that is not an object of objects"),
        ("signatures", {"a": 1}, "has a 'signatures' that is not an object of objects"),
    ],
)
def test_s30_a_malformed_value_makes_the_record_malformed(
    make_record: Callable[..., Record], key: str, value: object, message: str
) -> None:
    data = {**as_json(make_record()), key: value}

    with pytest.raises(ValueError) as caught:
        Record.from_dict(data)

    assert str(caught.value) == message


@pytest.mark.parametrize(
    "capabilities",
    [
        {},
        "tools",
        [1],
        [{"surface": "tools"}],
        [{"surface": "", "name": "a"}],
        [{"surface": [], "name": "a"}],
        [{"surface": "tools", "name": "a"}, {"surface": "tools", "name": "a"}],
    ],
)
def test_s12_a_malformed_capability_set_makes_the_record_malformed(
    make_record: Callable[..., Record], capabilities: object
) -> None:
    data = {**as_json(make_record()), "capabilities": capabilities}

    with pytest.raises(ValueError, match="has a 'capabilities' that is not a list of objects"):
        Record.from_dict(data)


def test_every_key_is_needed_but_the_device(make_record: Callable[..., Record]) -> None:
    data = as_json(make_record())
    for key in data:
        less = {name: value for name, value in data.items() if name != key}
        if key == "device":
            assert Record.from_dict(less) == make_record()
            continue
        with pytest.raises(ValueError, match="has"):
            Record.from_dict(less)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(data=JSON)
def test_anything_but_a_record_is_refused(data: object) -> None:
    with pytest.raises(ValueError, match=r"is not an object|has record version"):
        Record.from_dict(data)


@given(key=st.sampled_from(Record.__attrs_attrs__).map(lambda a: a.name), value=JSON)
def test_a_changed_value_is_refused_or_read_as_it_is(key: str, value: object) -> None:
    data = {**as_json(_SOUND), key: value}
    try:
        record = Record.from_dict(data)
    except ValueError:
        return
    assert as_json(record) == data


_SOUND = Record(
    name="hello",
    version="1",
    location="/a",
    scope_kind="user",
    tree="lp1:sha256:" + "0" * 64,
    manifest="sha256:" + "0" * 64,
    manifest_sha256="0" * 64,
    capabilities=(),
    approved_at="2026-11-30T18:50:49+00:00",
    live_signature="0" * 64,
)


def test_s12_record_of_a_staged_tree_pins_what_was_shown() -> None:
    shown = {"surface": "tools", "name": "greet"}
    manifest = SimpleNamespace(
        name="hello",
        version="1.10",
        digest="sha256:" + "1" * 64,
        capabilities=(SimpleNamespace(to_dict=lambda: shown),),
    )
    staged: Any = SimpleNamespace(
        manifest=manifest,
        manifest_sha256="2" * 64,
        digest="lp1:sha256:" + "4" * 64,
        location="/plugins/hello",
        live_signature="3" * 64,
        device=5,
    )
    noon = datetime(2026, 11, 30, 13, tzinfo=timezone(timedelta(hours=1)))

    record = Record.of(staged, scope_kind="project", signatures={"a": None}, now=noon)

    assert record.to_dict() == {
        "record": 1,
        "name": "hello",
        "version": "1.10",
        "location": "/plugins/hello",
        "scope_kind": "project",
        "tree": "lp1:sha256:" + "4" * 64,
        "manifest": "sha256:" + "1" * 64,
        "manifest_sha256": "2" * 64,
        "capabilities": [shown],
        "format": "native",
        "approved_at": "2026-11-30T12:00:00+00:00",
        "live_signature": "3" * 64,
        "signatures": {"a": None},
        "machine": machine_id(),
        "uid": user_id(),
        "device": 5,
    }
    assert Record.of(staged, scope_kind="user").approved_at.endswith("+00:00")


@pytest.fixture
def machine_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "machine-id"
    monkeypatch.setattr(machine, "_MACHINE_ID_FILES", (str(path),))
    return path


def test_machine_id_is_a_hash_of_the_systems(machine_file: Path) -> None:
    machine_file.write_text("0123456789abcdef" * 2 + "\n")
    first = machine_id.__wrapped__()
    machine_file.write_text("fedcba9876543210" * 2 + "\n")

    assert len(first) == 64
    assert "0123456789abcdef" not in first
    assert machine_id.__wrapped__() != first


@pytest.mark.parametrize("content", [None, b"", b"uninitialized\n", b"\xff" * 32, b"0" * 64])
def test_machine_id_falls_back_to_the_host_name(
    machine_file: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    if content is not None:
        machine_file.write_bytes(content)
    monkeypatch.setattr("os.uname", lambda: SimpleNamespace(nodename="one"))
    first = machine_id.__wrapped__()
    monkeypatch.setattr("os.uname", lambda: SimpleNamespace(nodename="other"))

    assert len(first) == 64
    assert machine_id.__wrapped__() != first
