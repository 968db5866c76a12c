"""The file of approvals against a model: any order of changes, any bytes in between."""

from __future__ import annotations

import json
import os
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from lionplug.scopes import UserScope
from lionplug.trust.record import Record
from lionplug.trust.trust_file import TrustFile

NAMES = st.sampled_from(["on", "no", "null", "123", "0x1f"])


def make_scope(home: str) -> UserScope:
    path = os.path.join(home, ".lionplug")
    os.mkdir(path, 0o700)
    return UserScope(path=path, source="argument", home=home, moved=False, problem=None)


def make_record(name: str, version: str) -> Record:
    return Record(
        name=name,
        version=version,
        location=f"/plugins/{name}",
        scope_kind="user",
        tree="lp1:sha256:" + sha256(version.encode()).hexdigest(),
        manifest="sha256:" + "1" * 64,
        manifest_sha256="2" * 64,
        capabilities=(),
        approved_at="2026-11-30T18:50:49+00:00",
        live_signature="3" * 64,
    )


class TrustFileMachine(RuleBasedStateMachine):
    """Names that YAML would read as something else, and a dictionary that must agree."""

    def __init__(self) -> None:
        super().__init__()
        self._home = tempfile.TemporaryDirectory()
        self.scope = make_scope(self._home.name)
        self.file = TrustFile(self.scope)
        self.records: dict[str, Record] = {}
        self.disabled: set[tuple[str, str]] = set()
        self.extra: dict[str, Any] = {}

    def teardown(self) -> None:
        self._home.cleanup()

    @rule(name=NAMES, version=st.sampled_from(["1.10", "1.1", "12:30"]))
    def approve(self, name: str, version: str) -> None:
        record = make_record(name, version)
        self.file.approve(record)
        self.records[record.location] = record

    @rule(name=NAMES)
    def revoke(self, name: str) -> None:
        location = f"/plugins/{name}"
        assert self.file.revoke(location=location) == self.records.pop(location, None)

    @rule(name=NAMES, value=st.booleans())
    def set_disabled(self, name: str, value: bool) -> None:
        self.file.set_disabled(name, f"/plugins/{name}", value)
        entry = (name, f"/plugins/{name}")
        (self.disabled.add if value else self.disabled.discard)(entry)

    @rule(names=st.sets(NAMES))
    def prune(self, names: set[str]) -> None:
        pruned = self.file.prune(lambda record: record.name in names)
        assert {record.name for record in pruned} == {
            record.name for record in self.records.values() if record.name in names
        }
        for record in pruned:
            del self.records[record.location]

    @rule(key=st.sampled_from(["x-a", "x-b"]), value=st.integers())
    def add_unknown_key(self, key: str, value: int) -> None:
        path = Path(self.scope.trust_file)
        if path.exists():
            path.write_text(json.dumps({**json.loads(path.read_bytes()), key: value}))
            self.extra[key] = value

    @invariant()
    def agrees_with_the_model(self) -> None:
        state = self.file.read()
        assert state.problem is None
        assert dict(state.records) == self.records
        assert state.disabled == self.disabled
        assert state.unreadable == {}
        assert state.stamp == self.file.stamp()
        path = Path(self.scope.trust_file)
        document = json.loads(path.read_bytes()) if path.exists() else {}
        assert {key: document[key] for key in document if key.startswith("x-")} == self.extra


TrustFileMachine.TestCase.settings = settings(
    max_examples=15, stateful_step_count=15, deadline=None
)
TestTrustFile = TrustFileMachine.TestCase


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
DOCUMENTS = st.fixed_dictionaries(
    {"format": st.just(1) | JSON, "records": st.lists(JSON) | JSON, "disabled": st.lists(JSON)}
)


@settings(deadline=None, max_examples=60)
@given(data=st.binary() | JSON.map(json.dumps) | DOCUMENTS.map(json.dumps))
def test_s31_no_content_crashes_the_reading_or_approves_anything(data: bytes | str) -> None:
    with tempfile.TemporaryDirectory() as home:
        scope = make_scope(home)
        path = Path(scope.trust_file)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        path.chmod(0o600)

        state = TrustFile(scope).read()

        assert state.records == {}
        assert state.problem is None or str(path) in state.problem
