"""What the tests of trust share: trees on disk, a user scope, a second digest."""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def plant(tmp_path: Path) -> Callable[..., str]:
    """Return a function that makes a directory from ``{path: content}``.

    ``None`` is a directory, bytes or text a file, ``("x", data)`` a file that its owner may
    run, ``("l", target)`` a link.
    """

    def make(name: str, tree: Mapping[str, Any]) -> str:
        root = tmp_path / name
        root.mkdir(parents=True, exist_ok=True)
        for path, content in tree.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if os.path.islink(target):
                target.unlink()
            kind, content = content if isinstance(content, tuple) else ("f", content)
            if content is None:
                target.mkdir(exist_ok=True)
            elif kind == "l":
                os.symlink(content, target)
            else:
                target.write_bytes(content.encode() if isinstance(content, str) else content)
                target.chmod(0o755 if kind == "x" else 0o644)
        return str(root)

    return make


@pytest.fixture
def second_digest() -> Callable[[str], str]:
    """Return a digest of a real directory, written from the words of the rule alone."""
    return _second_digest


def _second_digest(root: str) -> str:
    rows: list[tuple[bytes, bytes]] = []
    top = os.fsencode(root)
    for folder, folders, files in os.walk(top):
        for name in folders + files:
            place = os.path.join(folder, name)
            rows.append((os.path.relpath(place, top), _second_row(place)))
    whole = hashlib.sha256(b"lionplug tree 1\x00")
    for path, row in sorted(rows):
        whole.update(row[:1] + struct.pack(">I", len(path)) + path + row[1:])
    return "lp1:sha256:" + whole.hexdigest()


def _second_row(place: bytes) -> bytes:
    """Return the letter of the kind and the payload."""
    if os.path.islink(place):
        target = os.readlink(place)
        return b"l" + struct.pack(">I", len(target)) + target
    if os.path.isdir(place):
        return b"d"
    content = Path(os.fsdecode(place)).read_bytes()
    letter = b"x" if os.stat(place).st_mode & 0o100 else b"f"
    return letter + struct.pack(">Q", len(content)) + hashlib.sha256(content).digest()


@pytest.fixture
def entries_of() -> Callable[[Iterable[Mapping[str, str]]], list[Any]]:
    """Return a function that makes hashed entries from the descriptions of the vectors."""
    from lionplug.files.entry import Entry

    def make(tree: Iterable[Mapping[str, str]]) -> list[Entry]:
        return [_entry(row) for row in tree]

    def _entry(row: Mapping[str, str]) -> Entry:
        data = row.get("text", "").encode()
        is_file = row["kind"] in ("f", "x")
        return Entry(
            path=row["path"],
            kind=row["kind"],
            size=len(data),
            sha256=hashlib.sha256(data).hexdigest() if is_file else "",
            target=row.get("target", ""),
            signature=(0, 0, 0, 0, 0),
            mode=0o700,
            links=1,
        )

    return make


@pytest.fixture
def scope(tmp_path: Path) -> Any:
    """A user scope of its own, private as lionplug makes it."""
    from lionplug.scopes import UserScope

    tmp_path.chmod(0o700)
    home = tmp_path / "home"
    (home / ".lionplug").mkdir(mode=0o700, parents=True)
    home.chmod(0o700)
    return UserScope(
        path=str(home / ".lionplug"), source="argument", home=str(home), moved=False, problem=None
    )


@pytest.fixture
def make_record() -> Callable[..., Any]:
    """Return a function that makes a sound record; arguments replace its values."""
    from lionplug.trust.record import Record

    def make(name: str = "hello", **values: Any) -> Record:
        location = f"/home/me/.lionplug/plugins/{name}"
        sound: dict[str, Any] = {
            "name": name,
            "version": "1.10",
            "location": location,
            "scope_kind": "user",
            "tree": "lp1:sha256:" + hashlib.sha256(name.encode()).hexdigest(),
            "manifest": "sha256:" + "1" * 64,
            "manifest_sha256": "2" * 64,
            "capabilities": ({"surface": "tools", "name": "greet", "target": "a.py:greet"},),
            "approved_at": "2026-11-30T18:50:49+00:00",
            "live_signature": "3" * 64,
        }
        return Record(**{**sound, **values})

    return make


MANIFEST = "name: hello\nversion: 1.0.0\nlionplug: '>=0'\n"


@pytest.fixture
def bundle(plant: Callable[..., str]) -> Callable[..., str]:
    """Return a function that makes a bundle in ``plugins/hello``; a manifest is added."""

    def make(tree: Mapping[str, Any] | None = None, manifest: str = "", name: str = "hello") -> str:
        return plant(f"plugins/{name}", {"plugin.yaml": MANIFEST + manifest, **(tree or {})})

    return make


@pytest.fixture
def read_manifest() -> Callable[[bytes], Any]:
    """The parser of manifests, for the host ``lionplug``."""
    from lionplug.manifest.parse import parse_manifest

    return lambda data: parse_manifest(data, host="lionplug")


@pytest.fixture
def staging(scope: Any, read_manifest: Callable[[bytes], Any]) -> Callable[..., Any]:
    """Return ``stage`` with the scope, the usual limits and the parser filled in."""
    from lionplug.files.limits import Limits
    from lionplug.trust.staging import stage

    def call(location: str, limits: Limits | None = None, **options: Any) -> Any:
        return stage(location, scope, limits or Limits(), read_manifest, **options)

    return call
