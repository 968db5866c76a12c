"""security rule S4: links of a tree never lead out of it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lionplug.errors import StoreError
from lionplug.files import opening
from lionplug.files.exclude import Exclusion
from lionplug.files.limits import Limits
from lionplug.files.opening import Directory
from lionplug.files.trees import (
    Entry,
    Tree,
    check_links,
    check_links_on_disk,
    resolve,
    walk,
)


def tree(**kinds: str) -> list[Entry]:
    """Return entries: ``"d"``, ``"f"``, or the target of a link after ``->``."""
    return [
        Entry(path=path, kind="l", target=kind[2:]) if kind.startswith("->")
        else Entry(path=path, kind=kind)
        for path, kind in kinds.items()
    ]  # fmt: skip


def faults(entries, left_out=()) -> list[str]:
    return [str(problem) for problem in check_links(entries, left_out)]


@pytest.mark.parametrize(
    ("target", "end"),
    [
        ("lib.sh", "d/lib.sh"),
        ("./lib.sh", "d/lib.sh"),
        ("../d/lib.sh", "d/lib.sh"),
        (".//../d/./lib.sh", "d/lib.sh"),
        ("../e", "e"),
        ("../e/", "e"),
        ("../e/..", ""),
        ("..", ""),
        ("again", "e"),
        ("again/x", "e/x"),
        ("again/../d/lib.sh", "d/lib.sh"),  # leaves e, not d
    ],
)
def test_s4_inner_links_resolve_as_the_kernel_does(target, end):
    entries = [
        *tree(d="d", e="d"),
        Entry(path="d/lib.sh", kind="f"),
        Entry(path="e/x", kind="x"),
        Entry(path="d/again", kind="l", target="../e"),
        Entry(path="d/link", kind="l", target=target),
    ]
    assert faults(entries) == []
    found = resolve({entry.path: entry for entry in entries}, "d/link")
    assert found is not None
    assert found.path == end


@pytest.mark.parametrize(
    ("target", "fault"),
    [
        (
            "/home/me/web/lib.sh",
            "is the absolute link /home/me/web/lib.sh; make it relative and inside the bundle",
        ),
        (
            "/proc/self/cwd/x",
            "is the absolute link /proc/self/cwd/x; make it relative and inside the bundle",
        ),
        (
            "../../web/lib.sh",
            "leads out of the bundle; links have to stay inside it",
        ),
        (
            "up/../../lib.sh",  # up is the root, so the second '..' leaves it
            "leads out of the bundle; links have to stay inside it",
        ),
        ("link", "needs more than 40 links to resolve; is it a loop?"),
        (
            "missing",
            "leads to d/missing, which does not exist; remove it or add its target",
        ),
        (
            "lib.sh/x",
            "passes through d/lib.sh, which is a file; remove it or mend its target",
        ),
        (
            "lib.sh/",
            "passes through d/lib.sh, which is a file; remove it or mend its target",
        ),
        (
            "lib.sh/..",
            "passes through d/lib.sh, which is a file; remove it or mend its target",
        ),
        (
            "../.git/p.md",
            "leads through .git, which is left out of what is approved; point it elsewhere",
        ),
        (
            "../__pycache__",
            "leads through __pycache__, which is left out of what is approved; "
            "point it elsewhere",
        ),
        (
            "../build/../d/lib.sh",
            "leads through build, which is left out of what is approved; point it elsewhere",
        ),
        ("", "is empty; remove it"),
    ],
)  # fmt: skip
def test_s4_other_links_are_refused(target, fault):
    entries = [
        *tree(d="d"),
        Entry(path="d/lib.sh", kind="f"),
        Entry(path="d/up", kind="l", target=".."),
        Entry(path="d/link", kind="l", target=target),
    ]
    assert faults(entries, (".git", "__pycache__", "build")) == [f"d/link: {fault}"]
    assert resolve({entry.path: entry for entry in entries}, "d/link") is None


def test_s4_forty_links_are_followed_and_not_one_more():
    entries = tree(end="f") + [
        Entry(path=f"l{number}", kind="l", target=f"l{number + 1}" if number < 40 else "end")
        for number in range(41)
    ]
    assert faults(entries) == ["l0: needs more than 40 links to resolve; is it a loop?"]


def test_s4_nothing_outside_is_named_by_a_path():
    entries = {entry.path: entry for entry in tree(a="f")}
    assert resolve(entries, "/a") is None
    assert resolve(entries, "../a") is None
    assert resolve(entries, "a/") is None
    assert resolve(entries, "") == Entry(path="", kind="d")


def pinned(root: Path) -> Tree:
    """Return the tree at ``root`` as it is now, hashed."""
    from attrs import evolve

    with Directory.open(str(root)) as directory:
        entries = walk(directory, Limits(), Exclusion())
    return Tree(
        str(root),
        [
            evolve(entry, sha256=hashlib.sha256((root / entry.path).read_bytes()).hexdigest())
            if entry.is_file
            else entry
            for entry in entries
        ],
    )


@pytest.fixture
def bundle(home: Path) -> Path:
    root = home / "bundle"
    (root / "d" / "deep").mkdir(parents=True)
    (root / "d" / "deep" / "text").write_text("inner")
    (root / "d" / "link").symlink_to("deep/text")
    (root / "to_d").symlink_to("d/deep")
    (home / "secret").write_text("outer")
    return root


def test_s4_a_tree_is_read_through_its_inner_links(bundle):
    tree = pinned(bundle)
    assert tree.read("d/link") == tree.read("to_d/text") == tree.read("d/deep/text") == b"inner"
    assert tree.is_file("d/link")
    assert tree.is_dir("to_d")
    assert not tree.is_dir("d/link")
    assert not tree.is_file("nowhere")


@pytest.mark.parametrize("victim", ["d", "d/deep", "d/deep/text"])
def test_s4_a_directory_link_planted_later_is_not_followed(bundle, home, victim):
    tree = pinned(bundle)
    outside = home / "outside"
    (outside / "deep").mkdir(parents=True)
    for copy in ("text", "deep/text"):
        (outside / copy).write_text("inner")  # even if it held the pinned bytes
    (bundle / victim).rename(home / "old")
    (bundle / victim).symlink_to(outside / "text" if victim.endswith("text") else outside)
    with pytest.raises(StoreError) as caught:
        tree.read("d/link")
    assert str(caught.value) == (
        f"d/link: {bundle} does not hold the bytes that were pinned; "
        "something that runs as you or root changed them"
    )


def test_s4_a_directory_link_that_is_pointed_elsewhere_does_not_change_what_is_read(bundle):
    tree = pinned(bundle)
    (bundle / "other").mkdir()
    (bundle / "other" / "text").write_text("other")
    (bundle / "to_d").unlink()
    (bundle / "to_d").symlink_to("other")
    assert tree.read("to_d/text") == b"inner"


def test_s4_links_are_checked_again_on_the_disk(bundle, home):
    tree = pinned(bundle)
    with Directory.open(str(bundle)) as root:
        assert check_links_on_disk(root, tree.entries.values()) == []
        (bundle / "to_d").unlink()
        (bundle / "to_d").symlink_to(bundle / "d")
        (bundle / "d" / "deep").rename(home / "away")
        (bundle / "d" / "deep").symlink_to("../../away")
        assert [str(problem) for problem in check_links_on_disk(root, tree.entries.values())] == [
            "d/link: leads out of the bundle; links have to stay inside it",
            f"to_d: is the absolute link {bundle}/d; make it relative and inside the bundle",
        ]


def test_s4_what_is_read_is_the_pinned_bytes(bundle):
    tree = pinned(bundle)
    (bundle / "d" / "deep" / "text").write_text("INNER")
    with pytest.raises(StoreError):
        tree.read("d/link")
    (bundle / "d" / "deep" / "text").write_text("inner and more")
    with pytest.raises(StoreError):
        tree.read("d/link")
    (bundle / "d" / "deep" / "text").unlink()
    with pytest.raises(StoreError):
        tree.read("d/link")


@pytest.mark.parametrize(
    ("path", "limit", "message"),
    [
        (
            "nowhere",
            None,
            "nowhere: expected a file of the pinned tree, found nothing; "
            "name a file that the tree has",
        ),
        (
            "to_d",
            None,
            "to_d: expected a file of the pinned tree, found a directory; "
            "name a file that the tree has",
        ),
        (
            "d/link",
            4,
            "d/link: expected at most 4 bytes, found 5; make it smaller",
        ),
    ],
)
def test_reading_what_a_tree_does_not_have_says_so(bundle, path, limit, message):
    with pytest.raises(StoreError) as caught:
        pinned(bundle).read(path, limit)
    assert str(caught.value) == message


names = st.sampled_from(["a", "b", "c"])
targets = st.lists(st.sampled_from(["a", "b", "c", "..", ".", ""]), min_size=1, max_size=5).map(
    "/".join
)


@settings(
    max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    st.dictionaries(
        st.lists(names, min_size=1, max_size=3).map("/".join),
        st.one_of(st.just("f"), st.just("d"), targets.map(lambda target: "->" + target)),
        max_size=9,
    ),
    st.lists(targets, min_size=1, max_size=4),
)
def test_s4_no_read_ever_resolves_outside_the_root(tmp_path_factory, plan, asked):
    top = tmp_path_factory.mktemp("s4")
    root = top / "root"
    root.mkdir()
    for name in "abc":  # what a link that leaves the root would find
        (top / name).write_text("outside")
    for path, kind in sorted(plan.items()):
        place = root / path
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            if kind == "d":
                place.mkdir(exist_ok=True)
            elif kind == "f":
                place.write_text("inside")
            else:
                place.symlink_to(kind[2:])
        except (OSError, ValueError):
            continue  # the plan puts something into a file, or through a link
    if any(path.is_symlink() and os.readlink(path) == "" for path in root.rglob("*")):
        return
    tree = pinned_safely(root)
    opened = []
    original = opening.RegularFile.read

    def read(file, limit):
        opened.append(os.path.realpath(f"/proc/self/fd/{file.fd}"))
        return original(file, limit)

    opening.RegularFile.read = read
    try:
        for path in [*plan, *asked]:
            try:
                data = tree.read(path)
            except StoreError:
                # What is refused is what the kernel, kept inside, does not find either.
                assert not os.path.isfile(os.path.join(root, path)) or leaves(root, path)
            else:
                assert data == b"inside"
    finally:
        opening.RegularFile.read = original
    assert all(path.startswith(f"{root}/") for path in opened)


def leaves(root: Path, path: str) -> bool:
    """Tell whether following ``path`` as the kernel does visits something outside."""
    at, pending, hops = str(root), path.split("/")[::-1], 0
    if path.startswith("/"):
        return True
    while pending and hops < 100:
        name = pending.pop()
        if name in ("", "."):
            continue
        at = os.path.dirname(at) if name == ".." else os.path.join(at, name)
        if len(at) < len(str(root)):
            return True
        if os.path.islink(at):
            hops += 1
            target = os.readlink(at)
            if target.startswith("/"):
                return True
            pending += target.split("/")[::-1]
            at = os.path.dirname(at)
    return hops > 40


def pinned_safely(root: Path) -> Tree:
    from attrs import evolve

    with Directory.open(str(root)) as directory:
        entries = walk(directory, Limits(), Exclusion())
    inside = hashlib.sha256(b"inside").hexdigest()
    return Tree(
        str(root), [evolve(entry, sha256=inside) if entry.is_file else entry for entry in entries]
    )


def test_s4_a_target_that_is_missing_on_the_disk_is_dangling(bundle):
    tree = pinned(bundle)
    (bundle / "d" / "deep" / "text").unlink()
    os.mkfifo(bundle / "d" / "deep" / "text")
    with Directory.open(str(bundle)) as root:
        for _ in range(2):
            assert [str(each) for each in check_links_on_disk(root, tree.entries.values())] == [
                "d/link: leads to d/deep/text, which does not exist; remove it or add its target"
            ]
            (bundle / "d" / "deep" / "text").unlink(missing_ok=True)
