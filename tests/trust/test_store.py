"""The store: believed only for its content, never collected under a user, never half there."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from lionplug.errors import LockTimeoutError, ScopeError, StoreError
from lionplug.files.limits import Limits
from lionplug.files.locks import Lease, exclusive
from lionplug.files.writing import remove_tree
from lionplug.scopes import UserScope
from lionplug.text import exact
from lionplug.trust import copying, stored
from lionplug.trust import store as store_module
from lionplug.trust.digest import PREFIX, hex_of
from lionplug.trust.staging import StagedTree, live_digest, stage
from lionplug.trust.store import Store, StoredTree

Stage = Callable[..., Any]
Bundle = Callable[..., str]
ABSENT = PREFIX + "0" * 64

TREE: dict[str, Any] = {
    "a.py": "GOOD",
    "lib/helper.py": "HELP",
    "lib/run.sh": ("x", "#!/bin/sh\n"),
    "link": ("l", "lib/helper.py"),
    "empty": None,
}


@pytest.fixture
def store(scope: UserScope) -> Store:
    return Store(scope)


def leased_by(store: Store, digest: str) -> Lease:
    lease = store.lease(digest)
    assert lease is not None
    return lease


@pytest.fixture
def publish(store: Store, staging: Stage, bundle: Bundle) -> Callable[..., StoredTree]:
    """Return a function that stages and publishes a bundle."""

    def call(tree: dict[str, Any] | None = None) -> StoredTree:
        with staging(bundle(TREE if tree is None else tree)) as staged:
            return store.publish(staged)

    return call


def put(path: str, content: str) -> None:
    """Write into the store as a program of the same user can."""
    os.chmod(os.path.dirname(path), 0o700)
    if os.path.exists(path):
        os.chmod(path, 0o600)
    Path(path).write_text(content)


def aside(scope: UserScope) -> list[str]:
    return sorted(os.listdir(scope.aside)) if os.path.isdir(scope.aside) else []


def modes(root: str) -> dict[str, int]:
    found = {".": os.lstat(root).st_mode & 0o7777}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                found[os.path.relpath(path, root)] = os.lstat(path).st_mode & 0o7777
    return found


READ_ONLY = {
    ".": 0o500,
    "a.py": 0o400,
    "empty": 0o500,
    "lib": 0o500,
    "lib/helper.py": 0o400,
    "lib/run.sh": 0o500,
    "plugin.yaml": 0o400,
}


def test_publish_open_and_verify(
    store: Store,
    staging: Stage,
    bundle: Bundle,
    scope: UserScope,
    second_digest: Callable[[str], str],
) -> None:
    with staging(bundle(TREE)) as staged:
        tree = store.publish(staged)
        assert staged.read("a.py") == b"GOOD"

    assert tree.digest == second_digest(tree.root)
    assert tree.root == os.path.join(scope.approved, hex_of(tree.digest))
    assert modes(tree.root) == READ_ONLY
    assert os.stat(scope.approved).st_mode & 0o7777 == 0o700
    assert os.listdir(scope.staging) == []

    opened = Store(scope).open(tree.digest)
    assert opened.entries == tree.entries
    assert opened.read("link") == b"HELP"
    store.verify(opened)
    store.verify(tree)


def test_s15_a_right_tree_that_is_there_already_is_kept(
    store: Store, publish: Callable[..., StoredTree]
) -> None:
    first = publish()
    inode = os.stat(first.root).st_ino
    os.chmod(os.path.join(first.root, "a.py"), 0o666)

    second = publish()

    assert os.stat(second.root).st_ino == inode
    assert modes(second.root) == READ_ONLY
    assert second.entries.keys() == first.entries.keys()
    store.verify(second)


PLANTED: dict[str, Callable[[str], object]] = {
    "other bytes": lambda place: put(os.path.join(place, "a.py"), "EVIL"),
    "half copied": lambda place: remove_tree(os.path.join(place, "lib")),
    "added": lambda place: put(os.path.join(place, "lib.sh"), ""),
    "run bit": lambda place: os.chmod(os.path.join(place, "a.py"), 0o500),
    "a FIFO in it": lambda place: os.mkfifo(os.path.join(place, "pipe")),
    "a bad name": lambda place: put(os.path.join(place, "a:b"), ""),
    "empty directory": lambda place: [remove_tree(place), os.mkdir(place)],
    "a file": lambda place: [remove_tree(place), Path(place).write_text("x")],
    "a link to a right tree": lambda place: [
        shutil.copytree(place, place + "-copy", symlinks=True),
        remove_tree(place),
        os.symlink(place + "-copy", place),
    ],
    "a link to nothing": lambda place: [remove_tree(place), os.symlink("nothing", place)],
    "more than the tree has": lambda place: [
        put(os.path.join(place, f"f{number}"), "") for number in range(20)
    ],
}


@pytest.mark.parametrize("spoil", PLANTED.values(), ids=PLANTED)
def test_s15_a_planted_entry_is_hashed_in_full_and_replaced(
    store: Store,
    publish: Callable[..., StoredTree],
    scope: UserScope,
    spoil: Callable[[str], object],
) -> None:
    place = publish().root
    os.chmod(place, 0o700)
    spoil(place)

    tree = publish()

    assert tree.root == place
    assert not os.path.islink(place)
    assert modes(place) == READ_ONLY
    assert tree.read("a.py") == b"GOOD"
    store.verify(tree)
    assert len(aside(scope)) == 1


@pytest.mark.parametrize(
    "write",
    [
        lambda root: put(os.path.join(root, "a.py"), "EVIL"),
        lambda root: put(os.path.join(root, "new.py"), ""),
        lambda root: os.mkfifo(os.path.join(root, "pipe")),
        lambda root: [
            os.unlink(os.path.join(root, "link")),
            os.symlink("a.py", os.path.join(root, "link")),
        ],
        lambda root: os.utime(os.path.join(root, "a.py")),
    ],
)
def test_s3_a_copy_that_was_written_to_is_not_published(
    store: Store,
    staging: Stage,
    bundle: Bundle,
    scope: UserScope,
    write: Callable[[str], object],
) -> None:
    with staging(bundle(TREE)) as staged:
        write(staged.root)
        with pytest.raises(StoreError, match="it changed while it was published"):
            store.publish(staged)

    assert os.listdir(scope.approved) == []
    assert os.listdir(scope.staging) == []
    assert len(aside(scope)) == 1


SEALS: dict[str, Callable[[bytes], bytes | None]] = {
    "missing": lambda data: None,
    "empty": lambda data: b"",
    "garbled": lambda data: data[: len(data) // 2],
    "not JSON": lambda data: b"\xff",
    "a list": lambda data: b"[]",
    "another format": lambda data: data.replace(b'"format":1', b'"format":2'),
    "no entries": lambda data: b'{"format":1}',
    "short rows": lambda data: b'{"format":1,"entries":[["a"]]}',
    "a row of other types": lambda data: data.replace(b'"f",', b"1,", 1),
    "a row with true": lambda data: data.replace(b",1]", b",true]", 1),
    "short signature": lambda data: b'{"format":1,"entries":[["a","d",0,"","",[1],0,1]]}',
    "signature of texts": lambda data: (
        b'{"format":1,"entries":[["a","d",0,"","",["1",2,3,4,5],0,1]]}'
    ),
    "nested": lambda data: b"[" * 100_000,
    "pins of another tree": lambda data: data.replace(b'"a.py"', b'"b.py"'),
}


@pytest.mark.parametrize("damage", SEALS.values(), ids=SEALS)
def test_s39_a_seal_is_no_evidence(
    store: Store,
    publish: Callable[..., StoredTree],
    scope: UserScope,
    damage: Callable[[bytes], bytes | None],
) -> None:
    tree = publish()
    seal = Path(scope.seals, f"{hex_of(tree.digest)}.json")
    before = seal.read_bytes()
    damaged = damage(before)
    assert damaged != before
    if damaged is None:
        seal.unlink()
    else:
        seal.write_bytes(damaged)

    opened = store.open(tree.digest)

    assert opened.entries == tree.entries
    assert seal.read_bytes() == before  # hashed again and sealed again

    seal.unlink()
    put(os.path.join(tree.root, "a.py"), "EVIL")
    with pytest.raises(StoreError, match="its content has another digest"):
        store.open(tree.digest)
    assert not os.path.exists(tree.root)


def test_s39_a_seal_that_lies_about_signatures_only_makes_work(
    store: Store, publish: Callable[..., StoredTree], scope: UserScope
) -> None:
    tree = publish()
    seal = Path(scope.seals, f"{hex_of(tree.digest)}.json")
    document = json.loads(seal.read_bytes())
    for row in document["entries"]:
        row[5] = [0, 0, 0, 0, 0]
    seal.write_text(json.dumps(document))

    opened = store.open(tree.digest)
    store.verify(opened)

    assert opened.entries == tree.entries


VIOLATIONS: dict[str, tuple[Callable[[str], object], str]] = {
    "edit": (lambda root: put(os.path.join(root, "a.py"), "EVILER"), "a.py is another file, link"),
    "edit of the same size": (
        lambda root: put(os.path.join(root, "a.py"), "EVIL"),
        "a.py has other bytes",
    ),
    "added": (lambda root: put(os.path.join(root, "lib/lib.sh"), ""), "lib/lib.sh was added"),
    "added directory": (lambda root: os.mkdir(os.path.join(root, "new")), "new was added"),
    "removed": (lambda root: os.unlink(os.path.join(root, "a.py")), "a.py is missing"),
    "run bit": (lambda root: os.chmod(os.path.join(root, "a.py"), 0o500), "a.py is another file"),
    "link re-pointed": (
        lambda root: [
            os.unlink(os.path.join(root, "link")),
            os.symlink("lib/run.sh", os.path.join(root, "link")),
        ],
        "link is another file, link",
    ),
    "replaced by a link": (
        lambda root: [
            os.unlink(os.path.join(root, "a.py")),
            os.symlink("lib/helper.py", os.path.join(root, "a.py")),
        ],
        "a.py is another file, link",
    ),
    "a FIFO": (lambda root: os.mkfifo(os.path.join(root, "pipe")), ""),
    "a file named __pycache__": (
        lambda root: put(os.path.join(root, "__pycache__"), ""),
        "__pycache__ was added",
    ),
}


@pytest.mark.parametrize(("write", "reason"), VIOLATIONS.values(), ids=VIOLATIONS)
def test_s15_a_tree_that_was_written_to_is_refused_and_kept_aside(
    store: Store,
    publish: Callable[..., StoredTree],
    scope: UserScope,
    write: Callable[[str], object],
    reason: str,
) -> None:
    tree = publish()
    os.chmod(tree.root, 0o700)
    write(tree.root)

    with pytest.raises(StoreError) as caught:
        store.verify(tree)

    message = str(caught.value)
    assert message.startswith(f"the stored copy is not what was approved: {reason}")
    (kept,) = aside(scope)
    assert (
        f"It was moved to {exact(os.path.join(scope.aside, kept))} for you to look at." in message
    )
    assert message.endswith(
        "Only a program run by you or by root can have written there: most often the plugin "
        "itself, or a command that it started. Review the plugin and approve it again."
    )
    assert caught.value.file == tree.root
    assert caught.value.command is None
    assert not os.path.exists(tree.root)
    with pytest.raises(StoreError):
        store.open(tree.digest)
    with pytest.raises(StoreError):
        store.verify(tree)


def test_s15_an_edit_that_hides_its_time_is_found(
    store: Store, publish: Callable[..., StoredTree]
) -> None:
    tree = publish()
    path = os.path.join(tree.root, "a.py")
    before = os.stat(path)
    os.chmod(path, 0o600)
    Path(path).write_text("EVIL")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.chmod(path, 0o400)
    assert os.stat(path).st_size == before.st_size

    with pytest.raises(StoreError, match=r"a\.py has other bytes"):
        store.verify(tree)


def test_s13_a_pycache_in_the_store_is_deleted(
    store: Store, publish: Callable[..., StoredTree], scope: UserScope
) -> None:
    tree = publish()
    for folder in (tree.root, os.path.join(tree.root, "lib")):
        os.chmod(folder, 0o700)
        os.mkdir(os.path.join(folder, "__pycache__"))
        put(os.path.join(folder, "__pycache__/a.cpython-311.pyc"), "EVIL")

    store.verify(tree)

    assert modes(tree.root) == READ_ONLY
    assert aside(scope) == []
    assert Store(scope).open(tree.digest).entries == tree.entries


def test_s15_what_only_moved_is_hashed_once_and_sealed_again(
    store: Store,
    publish: Callable[..., StoredTree],
    scope: UserScope,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tree = publish()
    os.utime(os.path.join(tree.root, "a.py"))
    os.link(os.path.join(tree.root, "lib/run.sh"), os.path.join(str(scope.path), "backup"))
    hashed: list[list[str]] = []
    real = copying.hash_entries

    def spy(root: Any, entries: Any) -> dict[str, str]:
        hashed.append([entry.path for entry in entries])
        return real(root, entries)

    monkeypatch.setattr("lionplug.trust.stored.hash_entries", spy)
    store.verify(tree)
    store.verify(tree)
    store.verify(Store(scope).open(tree.digest))

    assert hashed == [["a.py", "lib/run.sh"]]


def test_an_unchanged_tree_is_not_read(
    store: Store, publish: Callable[..., StoredTree], monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = publish()
    monkeypatch.setattr(os, "read", lambda *arguments: pytest.fail("a file was read"))

    store.verify(tree)


def test_a_tree_that_is_not_in_the_store(store: Store, scope: UserScope) -> None:
    with pytest.raises(StoreError) as caught:
        store.open(ABSENT)

    assert str(caught.value) == (
        "the approved copy of the plugin is not in the store: expected "
        f"{exact(os.path.join(scope.approved, '0' * 64))}; review the plugin and approve it again"
    )


def test_what_stands_in_the_place_of_a_tree_and_is_no_directory_is_refused(
    store: Store, publish: Callable[..., StoredTree], scope: UserScope
) -> None:
    tree = publish()
    assert store.has(tree.digest)
    assert not store.has(ABSENT)
    remove_tree(tree.root)
    os.symlink("nothing", tree.root)

    assert store.has(tree.digest)
    with pytest.raises(StoreError) as caught:
        store.open(tree.digest)

    assert str(caught.value).startswith(
        "the stored copy is not what was approved: it is no directory"
    )
    assert len(aside(scope)) == 1
    assert not store.has(tree.digest)


@pytest.mark.parametrize("code", [errno.EMFILE, errno.EIO, errno.EACCES])
@pytest.mark.parametrize("what", ["scandir", "open"])
def test_a_tree_that_cannot_be_read_at_the_moment_stays_where_it_is(
    store: Store,
    publish: Callable[..., StoredTree],
    scope: UserScope,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    what: str,
) -> None:
    tree = publish()

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, what, refuse)
        with pytest.raises(StoreError) as caught:
            store.verify(tree)

    message = str(caught.value)
    assert message.startswith("the stored copy can't be read: ")
    assert os.strerror(code) in message
    assert message.endswith(f"Make {exact(tree.root)} readable for you, and try again.")
    assert aside(scope) == []
    store.verify(tree)


@pytest.mark.parametrize("digest", ["", "lp1:sha256:../../etc", ABSENT + "\n", "0" * 64])
def test_s30_what_is_no_digest_names_no_tree(store: Store, digest: str) -> None:
    with pytest.raises(StoreError, match="^expected a tree digest, found "):
        store.open(digest)
    with pytest.raises(StoreError, match="^expected a tree digest, found "):
        store.lease(digest)


def test_s6_without_a_user_scope_there_is_no_store(scope: UserScope) -> None:
    store = Store(evolve(scope, path=None, problem="there is no home directory; set one"))

    for attempt in (lambda: store.open(ABSENT), lambda: store.collect([])):
        with pytest.raises(ScopeError, match="^there is no home directory; set one$"):
            attempt()


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return a function after which nothing can be created, written or renamed."""

    def start(number: int) -> None:
        def refuse(path: Any, *rest: Any, **options: Any) -> Any:
            raise OSError(number, os.strerror(number), path)

        real = os.open

        def refuse_new(path: Any, flags: int, *rest: Any, **options: Any) -> int:
            if flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR):
                refuse(path)
            return real(path, flags, *rest, **options)

        monkeypatch.setattr(os, "open", refuse_new)
        for name in ("mkdir", "rename", "unlink", "rmdir", "chmod", "fchmod", "symlink"):
            monkeypatch.setattr(os, name, refuse)

    return start


def test_a_read_only_store_can_be_used(
    store: Store,
    publish: Callable[..., StoredTree],
    staging: Stage,
    bundle: Bundle,
    scope: UserScope,
    failing: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tree = publish()
    os.unlink(os.path.join(scope.seals, f"{hex_of(tree.digest)}.json"))
    with staging(bundle({"b.py": "x"}, name="other")) as staged:
        failing(errno.EROFS)

        opened = store.open(tree.digest)
        store.verify(opened)
        assert opened.entries.keys() == tree.entries.keys()
        for attempt in (lambda: store.publish(staged), lambda: store.collect([])):
            with pytest.raises(StoreError) as caught:
                attempt()
            assert "the store can't be written: Read-only file system. Make room" in str(
                caught.value
            )
        monkeypatch.undo()


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.EPERM])
def test_s16_without_write_permission_a_tree_is_used_without_a_lease(
    store: Store,
    publish: Callable[..., StoredTree],
    scope: UserScope,
    failing: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
    number: int,
) -> None:
    tree = publish()
    store.lease(tree.digest)
    other = Store(scope)
    failing(number)
    leased_by(other, tree.digest)  # one that can be read can be shared
    assert store.lease(ABSENT) is None
    other.verify(other.open(tree.digest))
    monkeypatch.undo()
    for process in (store, other):
        assert Store(scope).collect([]) == []
        leased_by(process, tree.digest).close()
    assert Store(scope).collect([]) == [tree.digest]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE])
def test_s16_any_other_failure_to_lease_is_one(
    store: Store, failing: Callable[[int], None], number: int
) -> None:
    failing(number)
    with pytest.raises(StoreError) as caught:
        store.lease(ABSENT)
    assert f"the store can't be written: {os.strerror(number)}" in str(caught.value)


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.EPERM])
def test_no_private_copy_is_made_in_a_scope_without_write_permission(
    staging: Stage,
    bundle: Bundle,
    scope: UserScope,
    read_manifest: Callable[[bytes], Any],
    failing: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
    number: int,
) -> None:
    location = bundle({"a.py": "x"})
    before = live_digest(location, Limits(), read_manifest)
    failing(number)
    with pytest.raises(StoreError) as caught, staging(location):
        pytest.fail("it was staged")
    assert live_digest(location, Limits(), read_manifest) == before
    monkeypatch.undo()
    assert str(caught.value) == (
        f"{scope.staging}: no private copy can be made: {os.strerror(number)}. "
        "Make room in the user scope, or make it writable, and try again."
    )


def test_a_wrong_tree_in_a_read_only_store_is_refused_where_it_is(
    store: Store, publish: Callable[..., StoredTree], failing: Callable[[int], None]
) -> None:
    tree = publish()
    put(os.path.join(tree.root, "a.py"), "EVIL")
    failing(errno.EROFS)

    with pytest.raises(StoreError) as caught:
        store.verify(tree)

    assert "It could not be moved aside (Read-only file system)." in str(caught.value)


def test_a_full_disk_while_publishing_leaves_nothing_that_is_believed(
    store: Store,
    staging: Stage,
    bundle: Bundle,
    monkeypatch: pytest.MonkeyPatch,
    scope: UserScope,
) -> None:
    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with staging(bundle(TREE)) as staged:
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(StoreError, match=r"No space left on device\. Make room"):
            store.publish(staged)
        monkeypatch.undo()

    assert os.listdir(scope.seals) == []
    tree = store.open(staged.digest)  # hashed in full, as it has no seal
    store.verify(tree)


def test_the_lock_of_the_store_is_waited_for(
    store: Store, publish: Callable[..., StoredTree], scope: UserScope, monkeypatch: Any
) -> None:
    publish()
    monkeypatch.setattr(store_module, "LOCK_SECONDS", 0.1)

    with exclusive(os.path.join(scope.leases, "store.lock")), pytest.raises(LockTimeoutError):
        store.collect([])


# --- collecting ---------------------------------------------------------------------------


def test_s16_what_no_record_names_and_nobody_uses_is_collected(
    publish: Callable[..., StoredTree], scope: UserScope, bundle: Bundle, staging: Stage
) -> None:
    trees = []
    for number in range(3):
        with staging(bundle({"a.py": str(number)}, name=f"n{number}")) as staged:
            process = Store(scope)  # as if each had been approved by a process of its own
            trees.append(process.publish(staged))
            leased_by(process, staged.digest).close()
    named, leased, free = trees
    user = Store(scope)
    user.lease(leased.digest)
    Path(scope.approved, "notes").mkdir()
    asked: list[bool] = []

    def keep() -> set[str]:
        asked.append(True)
        return {named.digest, ABSENT}

    assert Store(scope).collect(keep) == [free.digest]
    assert asked == [True]
    assert Store(scope).collect([named.digest]) == []
    assert sorted(os.listdir(scope.approved)) == sorted(
        [hex_of(named.digest), hex_of(leased.digest), "notes"]
    )
    assert f"{hex_of(free.digest)}.json" not in os.listdir(scope.seals)
    assert hex_of(free.digest) not in os.listdir(scope.leases)
    assert os.listdir(scope.staging) == []

    leased_by(user, leased.digest).close()
    assert Store(scope).collect([named.digest]) == [leased.digest]


def test_s16_a_tree_is_kept_between_its_publication_and_its_record(
    publish: Callable[..., StoredTree], scope: UserScope
) -> None:
    tree = publish()

    assert Store(scope).collect([]) == []
    assert os.path.isdir(tree.root)


def test_s16_a_tree_is_moved_before_it_is_deleted(
    publish: Callable[..., StoredTree],
    store: Store,
    staging: Stage,
    bundle: Bundle,
    scope: UserScope,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tree = publish()
    leased_by(store, tree.digest).close()

    def killed(path: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store_module, "remove_tree", killed)
        with pytest.raises(KeyboardInterrupt):
            Store(scope).collect([])

    assert os.listdir(scope.approved) == []
    assert len(os.listdir(scope.staging)) == 1
    with staging(bundle({"b.py": ""}, name="other")):
        assert len(os.listdir(scope.staging)) == 2  # the next copy and its lease


USER = """
import os, sys
from lionplug.scopes import UserScope
from lionplug.trust.store import Store

path = sys.argv[1]
store = Store(UserScope(path=path, source="argument", home=path, moved=False, problem=None))
store.lease(sys.argv[2])
store.open(sys.argv[2])
if sys.argv[3] == "child" and os.fork():
    os._exit(0)
print("leased", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("who", ["parent", "child"])
def test_s16_a_lease_lasts_as_long_as_the_process_and_its_children(
    publish: Callable[..., StoredTree], store: Store, scope: UserScope, who: str
) -> None:
    digest = publish().digest
    leased_by(store, digest).close()
    user = subprocess.Popen(
        [sys.executable, "-c", USER, str(scope.path), digest, who],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert user.stdout is not None
    assert user.stdout.readline() == "leased\n"
    if who == "child":
        assert user.wait(10) == 0

    assert Store(scope).collect([]) == []

    if who == "parent":
        user.send_signal(signal.SIGKILL)
    user.communicate("" if who == "child" else None)
    assert Store(scope).collect([]) == [digest]


COLLECTOR = """
import sys
from lionplug.scopes import UserScope
from lionplug.trust.store import Store

path = sys.argv[1]
store = Store(UserScope(path=path, source="argument", home=path, moved=False, problem=None))
print("ready", flush=True)
while not sys.stdin.closed:
    store.collect([])
"""


@pytest.fixture
def no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare the waits for the disk: a kill, unlike a power cut, loses nothing written."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.mark.usefixtures("no_sync")
def test_s16_collecting_in_a_loop_never_takes_a_tree_in_use(
    scope: UserScope, staging: Stage, bundle: Bundle
) -> None:
    location = bundle(TREE)
    Store(scope).collect([])
    collector = subprocess.Popen(
        [sys.executable, "-c", COLLECTOR, str(scope.path)], stdout=subprocess.PIPE
    )
    try:
        assert collector.stdout is not None
        assert collector.stdout.readline() == b"ready\n"
        for _ in range(60):
            user = Store(scope)
            with staging(location) as staged:
                digest = user.publish(staged).digest
            assert user.open(digest).read("a.py") == b"GOOD"
            user.verify(user.open(digest))
            leased_by(user, digest).close()
        assert collector.poll() is None
    finally:
        collector.kill()
        collector.communicate()


# --- killed at every step -----------------------------------------------------------------

STEPS = ("open", "mkdir", "rename", "chmod", "fchmod", "write", "symlink", "unlink")


def in_child(action: Callable[[], object]) -> int:
    """Run something in a forked child; return its status as of ``os.waitstatus_to_exitcode``."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        action()
    except BaseException:  # noqa: BLE001 - a forked child must never return into pytest
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def kill_at(step: int) -> None:
    """Make this process kill itself before its n-th call that changes a file."""
    left = [step]

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if real.__name__ != "open" or arguments[1] & os.O_CREAT:
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **options)

        return call

    for name in STEPS:
        setattr(os, name, counted(getattr(os, name)))


@pytest.mark.usefixtures("no_sync")
@pytest.mark.parametrize(
    "before", ["nothing", pytest.param("a wrong tree", marks=pytest.mark.long)]
)
def test_s15_killed_at_any_step_nothing_is_left_that_is_believed(
    scope: UserScope,
    staging: Stage,
    bundle: Bundle,
    second_digest: Callable[[str], str],
    before: str,
) -> None:
    location = bundle({"a.py": "GOOD", "lib/b.py": ("x", "x"), "c": ("l", "a.py")})
    digest = second_digest(location)
    place = os.path.join(scope.approved, hex_of(digest))

    def approve() -> None:
        with staging(location) as staged:
            Store(scope).publish(staged)

    step = 0
    while True:
        remove_tree(str(scope.path))
        os.mkdir(str(scope.path), 0o700)
        if before == "a wrong tree":
            approve()
            put(os.path.join(place, "a.py"), "EVIL")
        status = in_child(lambda step=step: [kill_at(step), approve()])  # type: ignore[misc]
        try:
            tree = Store(scope).open(digest)
            Store(scope).verify(tree)
        except StoreError:
            pass
        else:
            assert second_digest(place) == digest, f"killed at step {step}"
        approve()
        assert second_digest(place) == digest, f"killed at step {step}"
        Store(scope).verify(Store(scope).open(digest))
        assert os.listdir(scope.staging) == [], f"killed at step {step}"
        if status != -signal.SIGKILL:
            assert status == 0
            break
        step += 1
    assert step > 20


# --- as an ordinary user ------------------------------------------------------------------


@pytest.fixture
def ordinary_home() -> Iterator[str]:
    home = tempfile.mkdtemp(prefix="lionplug-ordinary-")
    os.chown(home, 65534, 65534)
    yield home
    shutil.rmtree(home)


@pytest.mark.skipif(os.geteuid() != 0, reason="every other test already runs as one")
def test_s15_an_ordinary_user_can_publish_replace_verify_and_collect(
    ordinary_home: str, read_manifest: Callable[[bytes], Any]
) -> None:
    """Only root can rename and delete what is read-only without further ado."""

    def act() -> None:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        path = os.path.join(ordinary_home, ".lionplug")
        os.mkdir(path, 0o700)
        scope = UserScope(
            path=path, source="argument", home=ordinary_home, moved=False, problem=None
        )
        location = os.path.join(ordinary_home, "bundle")
        os.makedirs(os.path.join(location, "lib"))
        Path(location, "plugin.yaml").write_text("name: hello\nversion: 1.0.0\nlionplug: '>=0'\n")
        Path(location, "lib/a.py").write_text("GOOD")
        store = Store(scope)

        def approve() -> StoredTree:
            with stage(location, scope, Limits(), read_manifest) as staged:
                return store.publish(staged)

        tree = approve()
        store.verify(approve())
        put(os.path.join(tree.root, "lib/a.py"), "EVIL")
        tree = approve()
        store.verify(tree)
        os.chmod(os.path.join(tree.root, "lib"), 0o700)
        os.mkdir(os.path.join(tree.root, "lib/__pycache__"))
        os.chmod(os.path.join(tree.root, "lib"), 0o500)
        store.verify(tree)
        assert not os.path.exists(os.path.join(tree.root, "lib/__pycache__"))
        os.chmod(tree.root, 0)
        tree = approve()
        store.verify(tree)
        put(os.path.join(tree.root, "lib/a.py"), "EVIL")
        with pytest.raises(StoreError, match="It was moved to"):
            store.verify(tree)
        tree = approve()
        leased_by(store, tree.digest).close()
        assert store.collect([]) == [tree.digest]
        assert os.listdir(scope.approved) == os.listdir(scope.staging) == []

    assert in_child(act) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="one account can't take its own permission away")
@pytest.mark.parametrize("leased", [True, False])
def test_s16_an_ordinary_user_can_use_a_scope_that_only_root_can_write(
    ordinary_home: str, read_manifest: Callable[[bytes], Any], leased: bool
) -> None:
    os.chown(ordinary_home, 0, 0)
    os.chmod(ordinary_home, 0o755)
    path = os.path.join(ordinary_home, ".lionplug")
    os.mkdir(path, 0o755)
    scope = UserScope(path=path, source="argument", home=ordinary_home, moved=False, problem=None)
    location = os.path.join(ordinary_home, "bundle")
    os.makedirs(location)
    Path(location, "plugin.yaml").write_text("name: hello\nversion: 1.0.0\nlionplug: '>=0'\n")
    with stage(location, scope, Limits(), read_manifest) as staged:
        digest = Store(scope).publish(staged).digest
    if not leased:
        os.unlink(os.path.join(scope.leases, hex_of(digest)))
    subprocess.run(["chmod", "-R", "a+rX,a-w", path], check=True)

    def act() -> None:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        store = Store(scope)
        assert (store.lease(digest) is not None) == leased
        store.verify(store.open(digest))
        with pytest.raises(StoreError, match="no private copy can be made: Permission denied"):
            stage(location, scope, Limits(), read_manifest).__enter__()

    assert in_child(act) == 0


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o077])
def test_s15_modes_do_not_depend_on_the_umask(
    publish: Callable[..., StoredTree],
    scope: UserScope,
    store: Store,
    umask: Callable[[int], int],
    mask: int,
) -> None:
    umask(mask)

    tree = publish()

    assert modes(tree.root) == READ_ONLY
    for folder in (scope.approved, scope.seals, scope.leases, scope.staging):
        assert os.stat(folder).st_mode & 0o7777 == 0o700
    store.verify(tree)


def test_another_tree_published_meanwhile_stays(
    store: Store,
    staging: Stage,
    bundle: Bundle,
    publish: Callable[..., StoredTree],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The tree that was found wrong is set aside, not the right one that took its place."""
    tree = publish()
    put(os.path.join(tree.root, "a.py"), "EVIL")
    real = stored.difference

    def replaced_meanwhile(*arguments: Any) -> str | None:
        monkeypatch.setattr("lionplug.trust.store.difference", real)
        with staging(bundle(TREE)) as staged:
            assert isinstance(staged, StagedTree)
            Store(store._scope).publish(staged)
        return real(*arguments)

    monkeypatch.setattr("lionplug.trust.store.difference", replaced_meanwhile)
    with pytest.raises(StoreError, match="Meanwhile another process put it right"):
        store.verify(tree)

    store.verify(store.open(tree.digest))
