"""Staging: the copy comes first, and everything that is shown comes from it."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lionplug.errors import LockTimeoutError, ManifestError, ScopeError, StoreError, TreeError
from lionplug.files import locks
from lionplug.files.limits import Limits
from lionplug.scopes import UserScope
from lionplug.text import exact
from lionplug.trust import copying
from lionplug.trust.disclosure import Relation, disclose
from lionplug.trust.staging import live_digest, live_signature, stage
from lionplug.trust.store import Store

Stage = Callable[..., Any]
Bundle = Callable[..., str]

TREE: dict[str, Any] = {
    "tools/search.py": "def search():\n    return 1\n",
    "hooks/guard.sh": ("x", "#!/bin/sh\nexit 2\n"),
    "shared/a.md": "text\n",
    "skills/a": ("l", "../shared/a.md"),
    "docs": ("l", "shared"),
    "empty": None,
    "résumé.md": "é",
}


def codes(error: TreeError) -> list[str]:
    return [problem.code for problem in error.problems]


def refusal(staging: Stage, location: str, **options: Any) -> TreeError:
    """Stage a tree that must be refused; return the error."""
    with pytest.raises(TreeError) as caught, staging(location, **options):
        pytest.fail("it was staged")
    return caught.value


def test_s3_the_copy_has_the_digest_of_the_live_tree(
    staging: Stage, bundle: Bundle, second_digest: Callable[[str], str], scope: UserScope
) -> None:
    location = bundle(TREE)

    with staging(location) as staged:
        assert staged.digest == second_digest(location) == second_digest(staged.root)
        assert Path(staged.root).parent == Path(scope.staging)
        assert os.stat(staged.root).st_mode & 0o7777 == 0o700
        assert staged.location == location
        assert staged.name_of_directory == "hello"
        assert staged.manifest.name == "hello"
        assert staged.read("skills/a") == b"text\n"
        assert staged.read("docs/a.md") == b"text\n"
        assert staged.entries["hooks/guard.sh"].kind == "x"
        assert staged.excluded == ()
        assert staged.device == os.stat(os.path.dirname(location)).st_dev

    assert os.listdir(scope.staging) == []


def test_s3_what_is_shown_does_not_change_while_somebody_reads_it(
    staging: Stage,
    bundle: Bundle,
    read_manifest: Callable[[bytes], Any],
) -> None:
    location = bundle({"a.py": "GOOD"})

    with staging(location) as staged:
        before = staged.digest
        Path(location, "a.py").write_text("EVIL")
        Path(location, "plugin.yaml").write_text("name: evil\nversion: 1.0.0\nlionplug: '>=0'\n")

        assert staged.read("a.py") == b"GOOD"
        assert (staged.digest, staged.manifest.name) == (before, "hello")
        assert live_digest(location, Limits(), read_manifest) != before
        assert live_signature(location, Limits(), ()) != staged.live_signature


def test_s3_a_copy_that_somebody_writes_to_is_not_read(staging: Stage, bundle: Bundle) -> None:
    with staging(bundle({"a.py": "GOOD"})) as staged:
        target = Path(staged.root, "a.py")
        target.chmod(0o600)
        target.write_text("EVIL")

        with pytest.raises(StoreError, match=r"^a\.py: .* does not hold the bytes"):
            staged.read("a.py")


def same_size_same_time(root: Path) -> None:
    path = root / "z.py"
    before = path.stat()
    path.write_text("EVIL")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def append(root: Path) -> None:
    with (root / "z.py").open("a") as stream:
        stream.write("x")


def replace_by_link(root: Path) -> None:
    (root / "z.py").unlink()
    (root / "z.py").symlink_to("a.py")


def replace_root(root: Path) -> None:
    root.rename(root.with_name("old"))
    root.mkdir()
    for path in (root.with_name("old")).iterdir():
        path.rename(root / path.name)


def replace_directory(root: Path) -> None:
    (root / "lib").rename(root / "old")
    (root / "lib").mkdir()
    (root / "old" / "x.py").rename(root / "lib" / "x.py")
    (root / "old").rmdir()


CHANGES: dict[str, Callable[[Path], object]] = {
    "edit": lambda root: (root / "z.py").write_text("EVILER"),
    "edit what was copied already": lambda root: (root / "a.py").write_text("EVIL"),
    "same size, old time": same_size_same_time,
    "append": append,
    "add": lambda root: (root / "new.py").write_text(""),
    "add a directory": lambda root: (root / "new").mkdir(),
    "remove": lambda root: (root / "z.py").unlink(),
    "remove what was copied already": lambda root: (root / "a.py").unlink(),
    "run bit": lambda root: (root / "z.py").chmod(0o755),
    "replace by a link": replace_by_link,
    "replace by a directory": lambda root: [(root / "z.py").unlink(), (root / "z.py").mkdir()],
    "replace by a FIFO": lambda root: [(root / "z.py").unlink(), os.mkfifo(root / "z.py")],
    "another link": lambda root: [(root / "y").unlink(), (root / "y").symlink_to("lib")],
    "link replaced by a file": lambda root: [(root / "y").unlink(), (root / "y").write_text("")],
    "rename": lambda root: (root / "z.py").rename(root / "y.py"),
    "replace a directory": replace_directory,
    "directory replaced by a link": lambda root: [
        (root / "lib").rename(root.parent / "lib"),
        (root / "lib").symlink_to("../lib"),
    ],
    "replace the root": replace_root,
    "remove the root": lambda root: root.rename(root.with_name("gone")),
    "second name": lambda root: os.link(root / "z.py", root.parent / "z.py"),
    "manifest": lambda root: (root / "plugin.yaml").write_text("name: evil\n"),
}


@pytest.mark.parametrize("moment", ["first", "last"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_s3_a_tree_that_changes_while_it_is_copied_is_refused(
    staging: Stage,
    bundle: Bundle,
    scope: UserScope,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], object],
    moment: str,
) -> None:
    location = bundle({"a.py": "GOOD", "z.py": "GOOD", "lib/x.py": "GOOD", "y": ("l", "z.py")})
    copied: list[str] = []
    real = copying._copy_file

    def copy(source: Any, target: Any, name: str, entry: Any) -> str:
        digest = real(source, target, name, entry)
        copied.append(entry.path)
        if len(copied) == (1 if moment == "first" else 4):
            change(Path(location))
        return digest

    monkeypatch.setattr(copying, "_copy_file", copy)
    error = refusal(staging, location)

    assert copied[:1] == ["a.py"]
    assert moment == "first" or copied[3:] == ["z.py"]
    assert set(codes(error)) <= {"changed-while-copied", "special-file", "unreadable"}
    if codes(error) == ["changed-while-copied"]:
        assert str(error).endswith(
            "changed while it was copied; wait until nothing writes to the directory, and try again"
        )
    assert os.listdir(scope.staging) == []


def test_s3_a_manifest_that_changes_after_it_was_parsed_is_refused(
    bundle: Bundle, scope: UserScope, read_manifest: Callable[[bytes], Any]
) -> None:
    """It decided what is left out, so no other one may be pinned."""
    location = bundle()

    def parse(data: bytes) -> Any:
        manifest = read_manifest(data)
        Path(location, "plugin.yaml").write_bytes(data + b"# more\n")
        return manifest

    for attempt in (
        lambda: stage(location, scope, Limits(), parse).__enter__(),
        lambda: live_digest(location, Limits(), parse),
    ):
        with pytest.raises(TreeError) as caught:
            attempt()
        assert codes(caught.value) == ["changed-while-copied"]
        assert caught.value.file == "plugin.yaml"


@pytest.mark.parametrize("write", ["other bytes", "another name"])
def test_s3_a_copy_that_is_not_what_was_parsed_and_written_is_refused(
    staging: Stage, bundle: Bundle, monkeypatch: pytest.MonkeyPatch, write: str
) -> None:
    """As when bytes change under an equal signature, or somebody writes into the copy."""
    real = copying.copy_entries

    def spoiled(source: Any, target: Any, *rest: Any) -> dict[str, str]:
        hashes = real(source, target, *rest)
        if write == "other bytes":
            return {**hashes, "plugin.yaml": "0" * 64}
        Path(target.path, "new.py").write_text("")
        return hashes

    monkeypatch.setattr("lionplug.trust.staging.copy_entries", spoiled)
    location = bundle()

    if write == "other bytes":
        assert codes(refusal(staging, location)) == ["changed-while-copied"]
    else:
        with pytest.raises(StoreError) as caught, staging(location):
            pytest.fail("it was staged")
        assert str(caught.value).endswith(
            "the private copy is not what was written to it. Another program of yours writes "
            "into the user scope; end it, and try again."
        )


LINKS = {
    "absolute to itself": lambda root: os.path.join(root, "a.md"),
    "leaves and comes back": lambda root: f"../{os.path.basename(root)}/a.md",
    "through a link, then up": lambda root: "into/../../../hello/a.md",
    "by way of /proc": lambda root: "/proc/self/cwd/a.md",
    "out of the tree": lambda root: "/etc/hostname",
    "to a directory outside": lambda root: "../../",
    "itself": lambda root: "bad",
    "nothing": lambda root: "missing.md",
    "into .git": lambda root: ".git/p.md",
    "into __pycache__": lambda root: "sub/__pycache__/p.md",
    "into what is excluded": lambda root: "notes/p.md",
    "through a file": lambda root: "a.md/../a.md",
}


@pytest.mark.parametrize("target", LINKS.values(), ids=LINKS)
def test_s4_a_link_that_could_mean_something_else_in_the_store_refuses_the_tree(
    staging: Stage, bundle: Bundle, target: Callable[[str], str]
) -> None:
    location = bundle(
        {
            "a.md": "text",
            "sub/deep/b.md": "text",
            "into": ("l", "sub/deep"),
            ".git/p.md": "text",
            "sub/__pycache__/p.md": "text",
            "notes/p.md": "text",
        },
        manifest="exclude: [notes]\n",
    )
    os.symlink(target(location), os.path.join(location, "bad"))

    error = refusal(staging, location)

    assert [problem.file for problem in error.problems] == ["bad"]
    assert codes(error)[0].startswith("link-")
    assert str(error).startswith(f"{exact(location)} can't be approved\nbad: ")


def test_s4_links_are_copied_as_they_are(staging: Stage, bundle: Bundle) -> None:
    tree = {"shared/a/SKILL.md": "text", "skills/a": ("l", "../shared/a")}
    location = bundle({**tree, "up": ("l", "skills/a/../../plugin.yaml")})

    with staging(location) as staged:
        # As the kernel does it: the link in the middle leads to shared/a, two above is the root.
        assert staged.read("up") == Path(location, "plugin.yaml").read_bytes()
        assert os.readlink(os.path.join(staged.root, "skills/a")) == "../shared/a"
        assert staged.read("skills/a/SKILL.md") == b"text"


@pytest.mark.parametrize("kind", ["hard link", "fifo", "socket"])
def test_what_is_no_plain_file_is_refused(
    staging: Stage, bundle: Bundle, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = bundle({"a.py": ""})
    path = Path(location, "odd")
    if kind == "hard link":
        (tmp_path / "secret").write_text("secret")
        os.link(tmp_path / "secret", path)
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        monkeypatch.chdir(location)  # the address of a socket is short
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("odd")

    error = refusal(staging, location)

    expected = "hard-link" if kind == "hard link" else "special-file"
    assert [(problem.code, problem.file) for problem in error.problems] == [(expected, "odd")]


def test_a_root_that_is_a_link_is_followed_and_resolved(
    staging: Stage, bundle: Bundle, tmp_path: Path
) -> None:
    location = bundle()
    os.symlink(location, tmp_path / "link")

    with staging(str(tmp_path / "link")) as staged:
        assert staged.location == location


def test_s13_what_is_left_out_is_neither_copied_nor_hashed_and_is_named(
    staging: Stage, bundle: Bundle
) -> None:
    manifest = "exclude: [notes, '*.log']\n"
    kept = {"a.py": "1", "sub/.git/x": "kept", ".GIT/y": "kept"}
    left_out = {
        ".git/config": "x",
        ".hg/x": "x",
        "__pycache__/a.pyc": "x",
        "sub/__pycache__/b.pyc": "x",
        "notes/n.md": "x",
        "run.log": "x",
    }

    with staging(bundle(kept, manifest, "one")) as staged:
        expected = staged.digest
    with staging(bundle({**kept, **left_out, "notes/keep": None}, manifest, "two")) as staged:
        assert staged.digest == expected
        assert sorted(staged.entries) == sorted([*kept, ".GIT", "plugin.yaml", "sub", "sub/.git"])
        assert staged.excluded == (
            ".git",
            ".hg",
            "__pycache__",
            "notes",
            "run.log",
            "sub/__pycache__",
        )


def test_s13_a_file_or_link_named_git_is_an_ordinary_entry(staging: Stage, bundle: Bundle) -> None:
    with staging(bundle({".git": "gitdir: ../x", "sub/__pycache__": ("l", "../.git")})) as staged:
        assert {".git", "sub/__pycache__"} <= set(staged.entries)
        assert staged.excluded == ()


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (Limits(entries=3), "too-many"),
        (Limits(bytes=60), "too-large"),
        (Limits(depth=2), "too-deep"),
    ],
)
def test_s14_limits_refuse_the_tree_and_can_be_raised(
    staging: Stage, bundle: Bundle, limits: Limits, code: str
) -> None:
    location = bundle({"a/b/c.py": "x" * 30})

    assert codes(refusal(staging, location, limits=limits)) == [code]
    with staging(location, Limits(entries=4, bytes=100, depth=3)):
        pass


@pytest.mark.parametrize("name", ["a:b", "a\\b", "con.txt", "dot.", "nfd-e\u0301", "bell\a"])
def test_s14_names_that_mean_something_else_elsewhere_are_refused(
    staging: Stage, bundle: Bundle, name: str
) -> None:
    error = refusal(staging, bundle({name: "x"}))

    assert [problem.file for problem in error.problems] == [exact(name)]
    assert codes(error)[0].startswith("name-")


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o077, 0o777])
def test_s14_modes_of_the_copy_are_ours_whatever_the_umask(
    staging: Stage, bundle: Bundle, umask: Callable[[int], int], mask: int
) -> None:
    location = bundle({"a.py": "", "sub/run.sh": ("x", "")})
    os.chmod(os.path.join(location, "sub/run.sh"), 0o6755)
    os.chmod(os.path.join(location, "a.py"), 0o666)
    umask(mask)

    with staging(location) as staged:
        modes = {path: entry.mode for path, entry in staged.entries.items()}

    assert modes == {"a.py": 0o400, "plugin.yaml": 0o400, "sub": 0o700, "sub/run.sh": 0o500}


def test_a_declared_file_that_is_missing_cannot_be_approved(
    staging: Stage, bundle: Bundle, scope: UserScope
) -> None:
    location = bundle(
        manifest="capabilities:\n  tools:\n    - name: greet\n      target: missing.py:greet\n"
    )

    with pytest.raises(ManifestError) as caught, staging(location):
        pytest.fail("it was staged")

    assert str(caught.value) == MISSING
    assert caught.value.plugin == "hello"
    assert os.listdir(scope.staging) == []


MISSING = (
    "hello: what the manifest declares is not in the bundle\n"
    'plugin.yaml:7:15: capabilities.tools[0].target: tool "greet" needs a regular file at '
    "'missing.py', and there is none; add it or correct the manifest."
)


def test_a_tree_that_lacks_a_declared_file_can_be_looked_at_and_not_published(
    staging: Stage, bundle: Bundle, scope: UserScope
) -> None:
    location = bundle(
        {"other.py": "x = 1\n"},
        manifest="capabilities:\n  tools:\n    - name: greet\n      target: missing.py:greet\n",
    )

    with staging(location, for_approval=False) as staged:
        assert staged.read("other.py") == b"x = 1\n"
        assert [str(problem) for problem in staged.problems] == MISSING.split("\n")[1:]
        item = disclose(staged, scope="user", relation=Relation(), signatures={})
        assert item.refusals == tuple(MISSING.split("\n")[1:])
        with pytest.raises(ManifestError) as caught:
            Store(scope).publish(staged)

    assert str(caught.value) == MISSING
    assert not os.path.exists(scope.approved)


def test_a_faulty_manifest_is_reported_as_it_is(
    staging: Stage, bundle: Bundle, scope: UserScope
) -> None:
    location = bundle()
    Path(location, "plugin.yaml").write_text("- a list\n")

    with pytest.raises(ManifestError), staging(location):
        pytest.fail("it was staged")

    assert os.listdir(scope.staging) == []


@pytest.mark.parametrize("kind", ["missing", "link", "fifo", "directory", "large"])
def test_a_manifest_that_is_no_small_file_is_refused(
    staging: Stage, bundle: Bundle, kind: str, read_manifest: Callable[[bytes], Any]
) -> None:
    location = bundle({"other.yaml": "name: hello\n"})
    path = Path(location, "plugin.yaml")
    path.unlink()
    if kind == "link":
        path.symlink_to("other.yaml")
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    elif kind == "large":
        path.write_bytes(b"#" * (2**20 + 1))

    error = refusal(staging, location)

    assert codes(error) == ["manifest-unreadable"]
    assert str(error).startswith("plugin.yaml: can't be read: ")
    assert str(error).endswith("expected a regular file of at most 1 MiB")
    with pytest.raises(TreeError):
        live_digest(location, Limits(), read_manifest)


def test_a_location_that_is_not_there_is_refused(staging: Stage, tmp_path: Path) -> None:
    location = str(tmp_path / "nothing")

    assert str(refusal(staging, location)) == (
        f"{exact(location)}: can't be opened: No such file or directory; "
        "expected a directory that you can read"
    )
    with pytest.raises(TreeError):
        live_signature(location, Limits(), ())


def test_a_file_that_cannot_be_read_is_refused(staging: Stage, bundle: Bundle) -> None:
    location = bundle({"a.py": ""})
    os.chmod(os.path.join(location, "a.py"), 0)
    if os.access(os.path.join(location, "a.py"), os.R_OK, effective_ids=True):
        pytest.skip("this account can read every file")

    assert str(refusal(staging, location)) == (
        "a.py: can't be read: Permission denied; make it readable for you"
    )


def test_a_file_that_fails_to_be_read_is_refused(
    staging: Stage, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = bundle({"a.py": "x"})
    real = os.open

    def fail(path: Any, flags: int, *rest: Any, **options: Any) -> int:
        if path == "a.py" and not flags & os.O_CREAT:
            raise OSError(errno.EIO, "Input/output error", path)
        return real(path, flags, *rest, **options)

    monkeypatch.setattr(os, "open", fail)

    assert str(refusal(staging, location)) == (
        "a.py: can't be read: Input/output error; make it readable for you"
    )


@pytest.mark.parametrize("function", ["write", "symlink", "mkdir", "fchmod"])
def test_a_full_disk_leaves_nothing_behind(
    staging: Stage,
    bundle: Bundle,
    scope: UserScope,
    monkeypatch: pytest.MonkeyPatch,
    function: str,
) -> None:
    location = bundle({"sub/a.py": "x", "b": ("l", "sub")})
    real = getattr(os, function)

    def full(*arguments: Any, **options: Any) -> Any:
        if str(scope.path) in str(arguments[0]):
            return real(*arguments, **options)  # the staging directory itself
        raise OSError(errno.ENOSPC, "No space left on device")

    with staging(location):
        pass
    with monkeypatch.context() as patch:
        patch.setattr(os, function, full)
        with pytest.raises(StoreError) as caught, staging(location):
            pytest.fail("it was staged")

    assert "No space left on device" in str(caught.value)
    assert "Make room in the user scope, or make it writable, and try again." in str(caught.value)
    assert os.listdir(scope.staging) == []


def test_a_scope_that_cannot_be_written_says_so(
    bundle: Bundle, scope: UserScope, staging: Stage
) -> None:
    Path(scope.staging).write_text("a file where the directory must be")

    with pytest.raises((StoreError, PermissionError)), staging(bundle()):
        pytest.fail("it was staged")


def test_s6_nothing_is_staged_in_a_scope_with_a_problem(
    bundle: Bundle, scope: UserScope, read_manifest: Callable[[bytes], Any]
) -> None:
    from attrs import evolve

    broken = evolve(scope, problem="the user scope lies in a project; unset it")

    with pytest.raises(ScopeError, match="^the user scope lies in a project; unset it$"):
        stage(bundle(), broken, Limits(), read_manifest).__enter__()


KILLED = """
import os, signal, sys
from lionplug.files.limits import Limits
from lionplug.manifest.parse import parse_manifest
from lionplug.scopes import UserScope
from lionplug.trust.staging import stage

path = sys.argv[1]
scope = UserScope(path=path, source="argument", home=path, moved=False, problem=None)
with stage(sys.argv[2], scope, Limits(), lambda data: parse_manifest(data, host="lionplug")):
    print("staged", flush=True)
    sys.stdin.read()
"""


def test_leftovers_of_killed_processes_are_removed_and_others_stay(
    staging: Stage, bundle: Bundle, scope: UserScope
) -> None:
    location = bundle({"a.py": "x"})
    arguments = [sys.executable, "-c", KILLED, str(scope.path), location]
    killed, alive = (
        subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    )
    for process in (killed, alive):
        assert process.stdout is not None
        assert process.stdout.readline() == "staged\n"
    assert len(os.listdir(scope.staging)) == 4
    killed.send_signal(signal.SIGKILL)
    killed.communicate()

    with staging(location):
        left = os.listdir(scope.staging)

    assert len(left) == 4
    assert len(os.listdir(scope.staging)) == 2
    alive.communicate("")
    assert alive.returncode == 0
    assert os.listdir(scope.staging) == []


def test_a_name_that_was_taken_for_a_leftover_is_replaced_by_another(
    staging: Stage, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []
    real = locks.Lease

    def lease(path: str) -> Any:
        if not taken:
            taken.append(path)
            raise LockTimeoutError("held by a process that removes what it stands for")
        return real(path)

    monkeypatch.setattr("lionplug.trust.workspace.Lease", lease)

    with staging(bundle()) as staged:
        assert taken
        assert staged.root != taken[0].removesuffix(".lease")


def test_live_signature_sees_every_change_and_no_reading(staging: Stage, bundle: Bundle) -> None:
    location = bundle({"a.py": "x", "sub/b.py": "y", "notes/n": "z"}, "exclude: [notes]\n")
    with staging(location) as staged:
        first = staged.live_signature
    exclude = staged.manifest.exclude

    Path(location, "a.py").read_text()
    Path(location, "notes/n").write_text("not looked at")
    assert live_signature(location, Limits(), exclude) == first

    seen = {first}
    for change in (
        lambda: Path(location, "a.py").write_text("y"),
        lambda: Path(location, "a.py").chmod(0o600),
        lambda: Path(location, "sub/c.py").write_text(""),
        lambda: Path(location, "sub/c.py").rename(Path(location, "sub/d.py")),
        lambda: os.utime(Path(location, "a.py")),
    ):
        change()
        seen.add(live_signature(location, Limits(), exclude))
    assert len(seen) == 6


NAMES = st.sampled_from(["a", "b", "a-b", "a.b", "a0", "é", "\uff5e", "\U0001f600"])
CONTENTS = st.one_of(
    st.binary(max_size=3), st.tuples(st.just("x"), st.binary(max_size=3)), st.none()
)
TREES = st.dictionaries(st.lists(NAMES, min_size=1, max_size=3).map("/".join), CONTENTS, max_size=6)


@settings(deadline=None, max_examples=25)
@given(tree=TREES)
def test_s14_second_implementation_agrees_on_real_directories(tree: dict[str, Any]) -> None:
    from lionplug.manifest.parse import parse_manifest
    from tests.trust.conftest import MANIFEST, _second_digest

    def read(data: bytes) -> Any:
        return parse_manifest(data, host="lionplug")

    with tempfile.TemporaryDirectory() as home:
        root = Path(home, "bundle")
        root.mkdir()
        (root / "plugin.yaml").write_text(MANIFEST)
        for path, content in tree.items():
            kind, data = content if isinstance(content, tuple) else ("f", content)
            target = root / path
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                if data is None:
                    target.mkdir(exist_ok=True)
                else:
                    target.write_bytes(data)
                    target.chmod(0o755 if kind == "x" else 0o644)
            except (FileExistsError, NotADirectoryError, IsADirectoryError):
                continue  # one path is a file and a directory of another
        scope = UserScope(
            path=os.path.join(home, ".lionplug"),
            source="argument",
            home=home,
            moved=False,
            problem=None,
        )
        with stage(str(root), scope, Limits(), read) as staged:
            assert staged.digest == _second_digest(str(root))
            assert live_digest(str(root), Limits(), read) == staged.digest
