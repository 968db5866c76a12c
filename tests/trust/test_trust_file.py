"""The file of approvals: believed in full or not at all, and no edit lost."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from lionplug.errors import LockTimeoutError, TrustFileError
from lionplug.files import opening
from lionplug.files.locks import exclusive
from lionplug.scopes import UserScope
from lionplug.text import exact
from lionplug.trust import trust_file as trust_file_module
from lionplug.trust.record import Record
from lionplug.trust.state import UNREADABLE, TrustState
from lionplug.trust.trust_file import TrustFile

MakeRecord = Callable[..., Record]


@pytest.fixture
def file(scope: UserScope) -> TrustFile:
    return TrustFile(scope)


def write(scope: UserScope, data: bytes | dict[str, Any], mode: int = 0o600) -> Path:
    path = Path(scope.trust_file)
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
    path.chmod(mode)
    return path


def test_a_missing_file_approves_nothing(file: TrustFile, scope: UserScope) -> None:
    assert file.read() == TrustState()
    assert file.stamp() is None
    assert file.revoke(location="/a") is None
    assert not os.path.exists(scope.trust_file)


def test_approve_and_revoke(file: TrustFile, scope: UserScope, make_record: MakeRecord) -> None:
    one, other = make_record("one"), make_record("other")
    file.approve(one)
    file.approve(other)

    state = file.read()

    assert state.records == {one.location: one, other.location: other}
    assert (state.problem, state.unreadable, state.disabled) == (None, {}, frozenset())
    assert state.stamp == file.stamp() is not None
    assert os.stat(scope.trust_file).st_mode & 0o777 == 0o600

    assert file.revoke(location=one.location) == one
    assert file.revoke(location=one.location) is None
    assert file.read().records == {other.location: other}


def test_one_digest_per_location(file: TrustFile, make_record: MakeRecord) -> None:
    old = make_record()
    new = make_record(tree="lp1:sha256:" + "9" * 64)
    file.approve(old)
    file.approve(new)

    assert file.read().records == {new.location: new}


def test_disable_and_enable(file: TrustFile, make_record: MakeRecord) -> None:
    record = make_record()
    file.approve(record)
    file.set_disabled("hello", record.location, True)
    file.set_disabled("hello", record.location, True)
    file.set_disabled("hello", "/elsewhere", True)

    assert file.read().disabled == {("hello", record.location), ("hello", "/elsewhere")}

    file.set_disabled("hello", record.location, False)
    file.set_disabled("never", "/a", False)

    assert file.read().disabled == {("hello", "/elsewhere")}
    assert file.read().records == {record.location: record}


def test_every_change_moves_the_stamp_and_nothing_else_does(
    file: TrustFile, make_record: MakeRecord
) -> None:
    stamps = [file.stamp()]
    for change in (
        lambda: file.approve(make_record()),
        lambda: file.set_disabled("hello", "/a", True),
        lambda: file.revoke(location=make_record().location),
    ):
        change()
        stamps.append(file.stamp())

    assert len(set(stamps)) == 4
    file.set_disabled("hello", "/a", True)
    file.revoke(location="/nothing")
    assert file.stamp() == stamps[-1]


def test_stamp_is_exactly_one_stat(
    file: TrustFile, make_record: MakeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.approve(make_record())
    calls: list[object] = []
    real = os.stat
    monkeypatch.setattr(os, "stat", lambda *a, **k: calls.append(a) or real(*a, **k))
    monkeypatch.setattr(os, "lstat", lambda *a, **k: calls.append(a))
    monkeypatch.setattr(os, "open", lambda *a, **k: calls.append(a))

    stamp = file.stamp()

    monkeypatch.undo()
    assert len(calls) == 1
    assert stamp == file.read().stamp


def test_s31_a_file_that_cannot_be_looked_at_has_a_stamp_of_its_own(
    file: TrustFile, scope: UserScope, make_record: MakeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.approve(make_record())
    good = file.read()

    def refuse(path: str, **options: object) -> os.stat_result:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "stat", refuse)

    assert file.stamp() == UNREADABLE != good.stamp


def test_s6_a_scope_with_a_problem_trusts_nothing(
    scope: UserScope, make_record: MakeRecord
) -> None:
    from attrs import evolve

    TrustFile(scope).approve(make_record())
    moved = TrustFile(evolve(scope, problem="the user scope lies in a project; unset it"))
    none = TrustFile(evolve(scope, path=None, problem="there is no home directory; set one"))

    for file, problem in [
        (moved, "the user scope lies in a project; unset it"),
        (none, "there is no home directory; set one"),
    ]:
        assert file.read() == TrustState(problem=problem, stamp=UNREADABLE)
        assert file.stamp() == UNREADABLE
        with pytest.raises(TrustFileError) as caught:
            file.approve(make_record())
        assert str(caught.value) == f"{problem} Nothing was written."


MALFORMED = [
    (b'{"plugins": {"a"', "is not JSON: Expecting ':' delimiter at line 1, column 17"),
    (b"", "is empty"),
    (
        b'{"format": 7, "shape": "new"}',
        "has format 7, and this lionplug reads 1: a newer lionplug wrote it",
    ),
    (b"[" * 100_000, "is nested too deeply"),
]


@pytest.mark.parametrize(("data", "reason"), MALFORMED)
def test_s31_a_malformed_file_trusts_nothing_and_is_never_overwritten(
    file: TrustFile, scope: UserScope, make_record: MakeRecord, data: bytes, reason: str
) -> None:
    path = write(scope, data)
    explanation = (
        f"{exact(str(path))} {reason}. Mend the file, or move it away and approve your plugins "
        "again."
    )

    assert file.read() == TrustState(problem=explanation, stamp=file.stamp())
    assert not os.path.exists(scope.aside)

    kept = os.path.join(scope.aside, f"trust.json-{sha256(data).hexdigest()[:16]}")
    for change in (
        lambda: file.approve(make_record()),
        lambda: file.revoke(location="/a"),
        lambda: file.set_disabled("a", "/a", True),
    ):
        with pytest.raises(TrustFileError) as caught:
            change()
        assert str(caught.value) == (
            f"{explanation} Nothing was written; its bytes are kept in {exact(kept)}."
        )
        assert caught.value.file == str(path)
    assert file.prune(lambda record: True) == []
    assert path.read_bytes() == data
    assert [entry.read_bytes() for entry in Path(scope.aside).iterdir()] == [data]


def test_s31_bytes_that_cannot_be_kept_aside_stay_where_they_are(
    file: TrustFile, scope: UserScope, make_record: MakeRecord
) -> None:
    path = write(scope, b"?")
    Path(scope.aside).write_text("a file where the directory must be")

    with pytest.raises(TrustFileError, match=r"its bytes could not be copied to .*/aside/"):
        file.approve(make_record())

    assert path.read_bytes() == b"?"


@pytest.mark.parametrize("mode", [0o606, 0o666, 0o622])
def test_s31_a_file_that_others_may_write_trusts_nothing(
    file: TrustFile, scope: UserScope, make_record: MakeRecord, mode: int
) -> None:
    file.approve(make_record())
    before = Path(scope.trust_file).read_bytes()
    os.chmod(scope.trust_file, mode)

    state = file.read()

    assert state.records == {}
    assert state.problem is not None
    assert exact(scope.trust_file) in state.problem
    with pytest.raises(TrustFileError):
        file.approve(make_record("other"))
    assert Path(scope.trust_file).read_bytes() == before


def test_s31_a_directory_that_others_may_write_trusts_nothing(
    file: TrustFile, scope: UserScope, make_record: MakeRecord
) -> None:
    file.approve(make_record())
    os.chmod(os.path.dirname(scope.trust_file), 0o777)

    state = file.read()

    assert state.records == {}
    assert state.problem is not None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_s31_a_file_of_somebody_else_trusts_nothing(
    file: TrustFile, scope: UserScope, make_record: MakeRecord
) -> None:
    file.approve(make_record())
    os.chown(scope.trust_file, 12345, 12345)

    state = file.read()

    assert state.records == {}
    assert state.problem is not None


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_s31_what_is_no_file_trusts_nothing(
    file: TrustFile, scope: UserScope, make: Callable[[str], None]
) -> None:
    make(scope.trust_file)

    state = file.read()

    assert state.records == {}
    assert state.problem is not None
    assert exact(scope.trust_file) in state.problem


def test_s31_a_link_is_followed_and_its_target_replaced(
    file: TrustFile, scope: UserScope, make_record: MakeRecord, tmp_path: Path
) -> None:
    """As dotfile managers make it."""
    real = tmp_path / "home" / "dotfiles"
    real.mkdir(mode=0o700)
    os.symlink(real / "trust.json", scope.trust_file)
    file.approve(make_record("one"))
    file.approve(make_record("other"))

    assert os.path.islink(scope.trust_file)
    assert len(json.loads((real / "trust.json").read_bytes())["records"]) == 2
    assert file.read().stamp == file.stamp()


def test_s31_unknown_keys_and_records_survive_every_rewriting(
    file: TrustFile, scope: UserScope, make_record: MakeRecord
) -> None:
    newer = {"record": 2, "location": "/newer", "seals": [1.5, None]}
    broken = {**make_record("broken").to_dict(), "tree": 5}
    sound = {**make_record("sound").to_dict(), "x-note": {"deep": ["kept"]}}
    off = {"name": "off", "location": "/off", "since": "x"}
    write(
        scope,
        {
            "format": 1,
            "x-top": {"a": [1]},
            "records": [newer, broken, sound, "?"],
            "disabled": [off],
        },
    )

    file.approve(make_record("fresh"))
    file.set_disabled("fresh", "/fresh", True)
    file.set_disabled("fresh", "/fresh", False)
    file.revoke(location=make_record("fresh").location)
    assert file.prune(lambda record: record.name == "nothing") == []

    assert json.loads(Path(scope.trust_file).read_bytes()) == {
        "format": 1,
        "x-top": {"a": [1]},
        "records": [newer, broken, sound, "?"],
        "disabled": [off],
    }
    state = file.read()
    assert list(state.records) == [make_record("sound").location]
    assert state.unreadable == {
        "/newer": "the record has record version 2, and this lionplug reads 1",
        make_record("broken").location: (
            "the record has a 'tree' that is not a tree digest, 'lp1:sha256:' and 64 hex digits"
        ),
        "records[3]": "the record is not an object",
    }


def test_s16_trees_of_unreadable_records_are_named_and_of_an_unreadable_file_unknown(
    file: TrustFile, scope: UserScope, make_record: MakeRecord
) -> None:
    assert file.named_trees() == frozenset()
    sound, other = make_record("sound"), make_record("other")
    rows = [sound.to_dict(), {"record": 2, "tree": other.tree}, {"tree": "lp1"}, {"tree": []}, 5]
    write(scope, {"format": 1, "records": rows, "disabled": []})

    assert file.named_trees() == {sound.tree, other.tree}

    write(scope, b"")
    with pytest.raises(TrustFileError) as caught:
        file.named_trees()
    assert str(caught.value).endswith("approve your plugins again. No approved copy was deleted.")


def test_an_unreadable_record_is_replaced_by_an_approval_and_taken_away_by_a_revocation(
    file: TrustFile, scope: UserScope, make_record: MakeRecord
) -> None:
    record = make_record()
    twice = {"format": 1, "records": [record.to_dict()] * 2, "disabled": []}
    write(scope, twice)
    assert file.revoke(location=record.location) is None
    assert file.read().unreadable == {}

    write(scope, twice)
    file.approve(record)
    assert file.read().records == {record.location: record}


def test_a_record_that_could_not_be_read_again_is_not_written(
    file: TrustFile, scope: UserScope, make_record: MakeRecord
) -> None:
    file.approve(make_record())
    before = Path(scope.trust_file).read_bytes()

    for bad in (make_record("bad", tree="lp1:sha256:0"), make_record("bad", uid=float("nan"))):
        with pytest.raises(TrustFileError) as caught:
            file.approve(bad)
        assert "Nothing was written" in str(caught.value)

    assert Path(scope.trust_file).read_bytes() == before


def test_prune_takes_away_what_is_gone_and_says_so(
    file: TrustFile, make_record: MakeRecord
) -> None:
    gone, here = make_record("gone"), make_record("here")
    file.approve(gone)
    file.approve(here)

    assert file.prune(lambda record: record.name == "gone") == [gone]
    assert file.read().records == {here.location: here}
    assert file.prune(lambda record: record.name == "gone") == []


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function after which nothing can be created or written."""

    def start() -> None:
        real = os.open

        def refuse(path: Any, flags: int, *rest: Any, **options: Any) -> int:
            if flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR):
                raise OSError(errno.EROFS, "Read-only file system", path)
            return real(path, flags, *rest, **options)

        def refuse_directory(path: Any, *rest: Any, **options: Any) -> None:
            raise OSError(errno.EROFS, "Read-only file system", path)

        monkeypatch.setattr(os, "open", refuse)
        monkeypatch.setattr(os, "mkdir", refuse_directory)

    return start


def test_s31_a_read_only_scope_can_be_read_and_refuses_changes(
    file: TrustFile, scope: UserScope, make_record: MakeRecord, read_only: Callable[[], None]
) -> None:
    record = make_record()
    file.approve(record)
    read_only()

    assert file.read().records == {record.location: record}
    assert file.prune(lambda record: False) == []
    for change in (
        lambda: file.approve(make_record("other")),
        lambda: file.revoke(location=record.location),
        lambda: file.prune(lambda record: True),
    ):
        with pytest.raises(TrustFileError) as caught:
            change()
        message = str(caught.value)
        assert message.startswith(exact(str(scope.path)))
        assert "Read-only file system" in message
        assert message.endswith("Nothing was written.")


def test_a_full_disk_leaves_the_old_file(
    file: TrustFile, scope: UserScope, make_record: MakeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = make_record()
    file.approve(record)
    before = sorted(os.listdir(str(scope.path)))

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(TrustFileError) as caught:
        file.approve(make_record("other"))
    monkeypatch.undo()

    assert str(caught.value) == (
        f"{exact(scope.trust_file)}: No space left on device. Make room on the disk and try "
        "again. Nothing was written."
    )
    assert file.read().records == {record.location: record}
    assert sorted(os.listdir(str(scope.path))) == before


def test_the_lock_is_waited_for_and_then_named(
    file: TrustFile, scope: UserScope, make_record: MakeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert trust_file_module.LOCK_SECONDS == 10.0
    file.approve(make_record())
    monkeypatch.setattr(trust_file_module, "LOCK_SECONDS", 0.1)

    with holding(scope.lock_file), pytest.raises(LockTimeoutError) as caught:
        file.approve(make_record("other"))

    assert exact(scope.lock_file) in str(caught.value)
    file.approve(make_record("other"))
    assert len(file.read().records) == 2


def test_a_revocation_takes_the_lock_before_it_reads(
    file: TrustFile, scope: UserScope, make_record: MakeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An approval that is being written at the same time is seen and taken away."""
    record = make_record()
    reads: list[float] = []
    real = opening.read_trusted
    monkeypatch.setattr(
        "lionplug.trust.trust_file.read_trusted",
        lambda *a, **k: reads.append(1) or real(*a, **k),
    )
    results: list[Record | None] = []
    revoker = threading.Thread(target=lambda: results.append(file.revoke(location=record.location)))
    with exclusive(scope.lock_file):
        revoker.start()
        revoker.join(0.3)
        assert revoker.is_alive()
        assert reads == []
        document = {"format": 1, "records": [record.to_dict()], "disabled": []}
        write(scope, document)
    revoker.join(10)

    assert results == [record]
    assert file.read().records == {}


HOLD = """
import sys, time
from lionplug.files.locks import exclusive
with exclusive(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


class holding:  # noqa: N801
    """Hold a lock in another process, which is killed at the end."""

    def __init__(self, path: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "held\n"

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.communicate()


def test_a_killed_holder_of_the_lock_holds_nobody_up(
    file: TrustFile, scope: UserScope, make_record: MakeRecord
) -> None:
    with holding(scope.lock_file):
        pass

    file.approve(make_record())

    assert len(file.read().records) == 1


WORKER = """
import json, sys
from lionplug.scopes import UserScope
from lionplug.trust.record import Record
from lionplug.trust.trust_file import TrustFile

path, number, rounds, record = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
file = TrustFile(UserScope(path=path, source="argument", home=path, moved=False, problem=None))
base = json.loads(record)
sys.stdin.readline()
for turn in range(rounds):
    location = f"/plugins/{number}-{turn}"
    file.approve(Record.from_dict({**base, "name": f"p{number}", "location": location}))
    file.set_disabled(f"p{number}", location, True)
    if turn % 2:
        file.set_disabled(f"p{number}", location, False)
        assert file.revoke(location=location) is not None
"""


def test_two_processes_that_change_the_file_at_once_both_succeed(
    file: TrustFile, scope: UserScope, make_record: MakeRecord
) -> None:
    record = json.dumps(make_record().to_dict())
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(scope.path), str(number), "6", record],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(8)
    ]
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    errors = [worker.communicate()[1] for worker in workers]

    assert errors == [""] * 8
    expected = {f"/plugins/{number}-{turn}" for number in range(8) for turn in (0, 2, 4)}
    state = file.read()
    assert state.records.keys() == expected
    assert {location for _, location in state.disabled} == expected


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o077])
def test_s31_modes_do_not_depend_on_the_umask(
    file: TrustFile,
    scope: UserScope,
    make_record: MakeRecord,
    umask: Callable[[int], int],
    mask: int,
) -> None:
    os.rmdir(str(scope.path))
    umask(mask)

    file.approve(make_record())

    assert os.stat(scope.trust_file).st_mode & 0o7777 == 0o600
    assert os.stat(str(scope.path)).st_mode & 0o7777 == 0o700
    assert len(file.read().records) == 1
