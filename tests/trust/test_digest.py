"""The tree digest: its published vectors, its framing, and a second implementation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionplug.files.entry import Entry
from lionplug.trust.digest import (
    encode_tree,
    hex_of,
    is_digest,
    is_sha256,
    same_digest,
    tree_digest,
)

VECTORS = json.loads((Path(__file__).parent / "vectors.json").read_text(encoding="utf-8"))
GOOD = "lp1:sha256:" + "0123456789abcdef" * 4


def entry(path: str, kind: str = "f", content: bytes = b"", target: str = "") -> Entry:
    is_file = kind in ("f", "x")
    return Entry(
        path=path,
        kind=kind,
        size=len(content) if is_file else 0,
        sha256=hashlib.sha256(content).hexdigest() if is_file else "",
        target=target if kind == "l" else "",
        signature=(0, 0, 0, 0, 0),
        mode=0,
        links=1,
    )


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_s14_published_vectors(vector: dict[str, Any], entries_of: Callable[..., Any]) -> None:
    entries = entries_of(vector["tree"])

    assert tree_digest(entries) == vector["digest"]
    assert tree_digest(reversed(entries)) == vector["digest"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_s14_second_implementation_agrees_with_the_vectors(
    vector: dict[str, Any], plant: Callable[..., str], second_digest: Callable[[str], str]
) -> None:
    kinds = {"d": lambda row: None, "f": lambda row: row["text"]}
    kinds["x"] = lambda row: ("x", row["text"])
    kinds["l"] = lambda row: ("l", row["target"])
    root = plant("tree", {row["path"]: kinds[row["kind"]](row) for row in vector["tree"]})

    assert second_digest(root) == vector["digest"]


def test_s14_vectors_cover_what_they_promise_and_differ() -> None:
    digests = [vector["digest"] for vector in VECTORS]
    kinds = {row["kind"] for vector in VECTORS for row in vector["tree"]}

    assert len(VECTORS) >= 8
    assert len(set(digests)) == len(digests)
    assert kinds == {"d", "f", "x", "l"}


def test_s14_encoding_is_the_one_in_the_words_of_the_rule() -> None:
    entries = [entry("b", "l", target="a"), entry("a", "x", b"hi"), entry("c", "d")]

    assert b"".join(encode_tree(entries)) == (
        b"lionplug tree 1\0"
        + (b"x" + b"\0\0\0\x01" + b"a")
        + (b"\0\0\0\0\0\0\0\x02" + hashlib.sha256(b"hi").digest())
        + (b"l" + b"\0\0\0\x01" + b"b" + b"\0\0\0\x01" + b"a")
        + (b"d" + b"\0\0\0\x01" + b"c")
    )


PATHS = st.text(alphabet="ab-./0é\U0001f600", min_size=1, max_size=4)
ENTRIES = st.builds(
    entry,
    path=PATHS,
    kind=st.sampled_from("dfxl"),
    content=st.binary(max_size=3),
    target=st.text(alphabet="ab/", max_size=3),
)
TREES = st.lists(ENTRIES, max_size=4, unique_by=lambda e: e.path)


@given(one=TREES, other=TREES)
def test_s14_different_trees_have_different_encodings(one: list[Entry], other: list[Entry]) -> None:
    same_tree = {e.path: e for e in one} == {e.path: e for e in other}

    assert (b"".join(encode_tree(one)) == b"".join(encode_tree(other))) is same_tree


@given(tree=TREES)
def test_s14_encoding_can_be_read_back(tree: list[Entry]) -> None:
    """Framing that a parser can undo is injective: the strongest form of the rule."""
    data = b"".join(encode_tree(tree)).removeprefix(b"lionplug tree 1\0")
    found = []
    while data:
        kind, length = chr(data[0]), int.from_bytes(data[1:5], "big")
        path, data = data[5 : 5 + length].decode(), data[5 + length :]
        size, digest, target = 0, "", ""
        if kind == "l":
            length = int.from_bytes(data[:4], "big")
            target, data = data[4 : 4 + length].decode(), data[4 + length :]
        elif kind != "d":
            size, digest, data = int.from_bytes(data[:8], "big"), data[8:40].hex(), data[40:]
        found.append((path, kind, size, digest, target))

    expected = sorted(tree, key=lambda e: e.path.encode())
    assert found == [(e.path, e.kind, e.size, e.sha256, e.target) for e in expected]


@given(tree=TREES, shuffle=st.randoms())
def test_s14_order_of_the_entries_does_not_matter(tree: list[Entry], shuffle: Any) -> None:
    shuffled = list(tree)
    shuffle.shuffle(shuffled)

    assert tree_digest(shuffled) == tree_digest(tree)


def test_s14_signature_mode_and_links_are_not_hashed() -> None:
    values: dict[str, Any] = {"path": "a", "kind": "d", "size": 0, "sha256": "", "target": ""}
    one = Entry(**values, signature=(1, 2, 3, 4, 5), mode=0o4755, links=2)
    other = Entry(**values, signature=(0, 0, 0, 0, 0), mode=0, links=1)

    assert tree_digest([one]) == tree_digest([other])


def test_digest_refuses_what_is_no_tree() -> None:
    with pytest.raises(ValueError, match="two entries have the path 'a'"):
        tree_digest([entry("a"), entry("a")])
    with pytest.raises(ValueError, match="no kind of entry, or not hashed: 'a', kind 'p'"):
        tree_digest([entry("a", "p")])
    with pytest.raises(UnicodeEncodeError):
        tree_digest([entry("\udcff")])
    with pytest.raises(ValueError, match="not hashed: 'a', kind 'f'"):
        tree_digest([Entry(path="a", kind="f")])


@pytest.mark.parametrize(
    "text",
    [
        None,
        0,
        1e999,
        GOOD.encode(),
        "",
        GOOD[:-1],
        GOOD + "0",
        GOOD + "\n",
        " " + GOOD,
        GOOD.upper(),
        GOOD[:-1] + "g",
        GOOD[:-1] + "\u0660",  # a digit, but not one of ours
        "lp2" + GOOD[3:],
        GOOD.removeprefix("lp1:"),
    ],
)
def test_s30_only_the_whole_pattern_is_a_digest(text: object) -> None:
    assert not is_digest(text)
    assert not same_digest(text, GOOD)
    assert not same_digest(GOOD, text)
    assert not same_digest(text, text)
    if isinstance(text, str):
        with pytest.raises(ValueError, match="not a tree digest"):
            hex_of(text)


def test_s30_digests_are_compared_in_full() -> None:
    other = GOOD[:-1] + "0"

    assert is_digest(GOOD)
    assert same_digest(GOOD, str(GOOD))
    assert not same_digest(GOOD, other)
    assert hex_of(GOOD) == GOOD.removeprefix("lp1:sha256:")
    assert is_sha256(hex_of(GOOD))
    assert not is_sha256(None)
