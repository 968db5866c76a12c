"""Hashing reads once, from one descriptor, and notices a change (security rule S3, S14)."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from lionplug.errors import TreeError, UnsafePathError
from lionplug.files.descriptors import CHUNK
from lionplug.files.hashing import hash_file
from lionplug.files.opening import Directory

pytestmark = pytest.mark.usefixtures("no_leaked_descriptors")


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK])
def test_the_hash_and_the_copied_bytes_are_those_of_the_file(home: Path, size):
    data = os.urandom(size)
    (home / "file").write_bytes(data)
    copied = bytearray()
    with Directory.open(str(home)) as directory:
        digest, length, stat = hash_file(directory, "file", size, sink=copied.extend)
        assert hash_file(directory, "file", size)[0] == digest
    assert digest == hashlib.sha256(data).hexdigest()
    assert (length, bytes(copied)) == (size, data)
    assert os.path.samestat(stat, (home / "file").stat())


def test_a_file_larger_than_the_limit_is_not_read(home: Path):
    (home / "file").write_bytes(bytes(5 * CHUNK))
    copied = bytearray()
    with Directory.open(str(home)) as directory, pytest.raises(TreeError) as caught:
        hash_file(directory, "file", CHUNK, path="data/file", sink=copied.extend)
    assert str(caught.value) == "data/file: is larger than 65,536 bytes; make it smaller"
    assert copied == b""


@pytest.mark.parametrize("change", ["append", "truncate", "rewrite", "touch"])
def test_s3_a_file_that_changes_while_it_is_read_is_refused(home: Path, change):
    path = home / "file"
    path.write_bytes(bytes(2 * CHUNK))

    def meddle(chunk):
        if change == "append":
            with path.open("ab") as file:
                file.write(b"x")
        elif change == "truncate":
            os.truncate(path, CHUNK)
        elif change == "rewrite":
            with path.open("r+b") as file:
                file.write(b"x")
        else:
            path.chmod(0o640)
            path.chmod(0o600)

    with Directory.open(str(home)) as directory, pytest.raises(TreeError) as caught:
        hash_file(directory, "file", 10 * CHUNK, sink=meddle)
    assert [problem.code for problem in caught.value.problems] == ["changed"]
    assert str(caught.value) == ("file: changed while it was read; try again when it is at rest")


def test_only_regular_files_are_hashed(home: Path):
    os.mkfifo(home / "fifo")
    (home / "link").symlink_to("fifo")
    with Directory.open(str(home)) as directory:
        for name in ("fifo", "link"):
            with pytest.raises(UnsafePathError):
                hash_file(directory, name, 10)
        with pytest.raises(FileNotFoundError):
            hash_file(directory, "nothing", 10)
