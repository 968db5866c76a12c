"""Every example is read by lionplug and by its published JSON Schema, with one verdict.

Beside ``invalid-NAME.yaml`` stands ``invalid-NAME.txt`` with the whole message.
"""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from lionplug.documents.jsonvalues import read_json
from lionplug.documents.problems import Problems
from lionplug.documents.yaml import read_yaml
from lionplug.errors import ManifestError
from lionplug.manifest.parse import parse_manifest
from lionplug.manifest.schema import manifest_schema

EXAMPLES = sorted((Path(__file__).parent / "examples").glob("*.yaml"))
VALID = [path for path in EXAMPLES if path.stem.startswith("valid-")]
INVALID = [path for path in EXAMPLES if path.stem.startswith("invalid-")]

#: What JSON Schema can't say of a document, and so calls valid.
NOT_IN_SCHEMA = {
    "invalid-exclude-declared": "patterns that leave out what is declared",
    "invalid-host-twice": "a range under two keys",
    "invalid-identifiers": "words that Python keeps for itself",
    "invalid-matcher": "what RE2 can't match",
    "invalid-name-newline": "in Python, '$' also matches before a last line feed",
    "invalid-stem-twice": "names that stand twice",
    "invalid-tool-twice": "names that stand twice",
}

#: What a JSON Schema never sees: these can't be read as data at all.
NOT_DATA = {"invalid-anchor", "invalid-duplicate-key"}


def names(path: Path) -> str:
    return path.stem


def is_valid_by_schema(data: bytes) -> bool:
    problems = Problems("plugin.yaml")
    document = read_json(read_yaml(data, "plugin.yaml"), problems)
    assert problems.count == 0
    return jsonschema.Draft202012Validator(manifest_schema()).is_valid(document)


def test_there_are_examples_of_both_kinds():
    assert len(VALID) + len(INVALID) == len(EXAMPLES) >= 25
    assert len(VALID) >= 10
    assert {*NOT_IN_SCHEMA, *NOT_DATA} <= {path.stem for path in INVALID}


@pytest.mark.parametrize("path", VALID, ids=names)
def test_valid_by_both(path):
    data = path.read_bytes()
    assert parse_manifest(data, host="lionplug").name
    assert is_valid_by_schema(data)


@pytest.mark.parametrize("path", INVALID, ids=names)
def test_invalid_by_both_with_the_whole_message(path):
    data = path.read_bytes()
    with pytest.raises(ManifestError) as caught:
        parse_manifest(data, host="lionplug")
    assert str(caught.value) + "\n" == path.with_suffix(".txt").read_text()
    assert all(problem.line and problem.column for problem in caught.value.problems)
    assert caught.value.plugin in ("demo", None)
    if path.stem not in NOT_DATA:
        assert is_valid_by_schema(data) == (path.stem in NOT_IN_SCHEMA)
