"""``key=value`` and JSON arguments of ``call``."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionplug.cli.arguments import accepted_types, parse_arguments, parse_value, read_object

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "deep": {"type": "boolean"},
        "names": {"type": "array"},
        "options": {"type": "object"},
        "either": {"type": ["string", "null"]},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "open": {"anyOf": [{"type": "integer"}, {}]},
        "level": {"enum": [1, 2]},
        "mode": {"enum": ["fast", 1]},
        "fixed": {"const": 7},
        "linked": {"$ref": "#/$defs/number"},
        "looped": {"$ref": "#/properties/looped"},
        "lost": {"$ref": "#/$defs/nothing/here"},
        "odd": {"type": 3},
        "listed": {"enum": [[1]]},
        "mapped": {"oneOf": [{"const": {}}, {"const": None}]},
    },
    "$defs": {"number": {"type": "number"}},
}


@pytest.mark.parametrize(
    ("pair", "value"),
    [
        ("text=12", "12"),
        ("text=", ""),
        ("text=a=b", "a=b"),
        ("count=12", 12),
        ("count=twelve", "twelve"),
        ("ratio=1.5", 1.5),
        ("ratio=NaN", "NaN"),
        ("deep=true", True),
        ("deep=yes", "yes"),
        ("names=[1, 2]", [1, 2]),
        ("options={}", {}),
        ('options={"a": 1, "a": 2}', '{"a": 1, "a": 2}'),
        ("either=null", "null"),
        ("maybe=null", None),
        ("open=3", "3"),
        ("level=2", 2),
        ("mode=1", "1"),
        ("fixed=7", 7),
        ("linked=2", 2),
        ("looped=2", "2"),
        ("lost=2", "2"),
        ("odd=2", "2"),
        ("listed=[1]", [1]),
        ("mapped={}", {}),
        ("unknown=2", "2"),
        ("names=" + "[" * 100_000, "[" * 100_000),
    ],
)
def test_a_value_is_json_only_where_the_schema_takes_no_string(pair: str, value: object) -> None:
    assert parse_arguments([pair], None, SCHEMA) == {pair.partition("=")[0]: value}


@pytest.mark.parametrize("schema", [None, {}, {"properties": 3}])
def test_without_a_schema_values_are_text(schema: dict[str, Any] | None) -> None:
    assert parse_arguments(["a=1", "b=true"], None, schema) == {"a": "1", "b": "true"}


@given(st.text(), st.sampled_from(sorted(SCHEMA["properties"])))
def test_a_string_is_never_changed_and_nothing_raises(text: str, key: str) -> None:
    value = parse_value(text, SCHEMA, key)
    types = accepted_types(SCHEMA, key)
    if not types or "string" in types:
        assert value == text


@given(st.integers())
def test_integers_come_through(number: int) -> None:
    assert parse_value(json.dumps(number), SCHEMA, "count") == number


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["text"], "text is no argument; expected key=value"),
        (["=x"], "=x is no argument; expected key=value"),
        (["\x1b[2J"], "\\u{1b}[2J is no argument; expected key=value"),
        (["a=1", "a=2"], "the argument a is given twice"),
    ],
)
def test_bad_pairs_are_usage_errors(pairs: list[str], message: str) -> None:
    with pytest.raises(click.UsageError) as caught:
        parse_arguments(pairs, None, None)
    assert caught.value.message == message


def test_pairs_and_a_file_together(tmp_path: Path) -> None:
    file = tmp_path / "arguments.json"
    file.write_text('{"text": "a"}')
    assert parse_arguments(["count=1"], str(file), SCHEMA) == {"text": "a", "count": 1}
    with pytest.raises(click.UsageError, match="the argument text is given twice"):
        parse_arguments(["text=b"], str(file), SCHEMA)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[1]", "must hold one JSON object with the arguments"),
        (b"{", "is not JSON: "),
        (b'{"a": NaN}', "is not JSON: NaN is not JSON"),
        (b'{"a": 1, "a": 1}', "is not JSON: a key stands twice in one object"),
        (b"\xff", "is not JSON: "),
        (b"[" * 100_000, "is not JSON: nested too deeply"),
        (b" " * (16 * 2**20 + 1), "is not JSON: more than 16777216 bytes"),
    ],
)
def test_bad_files_are_usage_errors(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "arguments.json"
    file.write_bytes(content)
    with pytest.raises(click.UsageError) as caught:
        read_object(str(file))
    assert caught.value.message.startswith(f"{file} {message}")


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(click.UsageError) as caught:
        read_object(str(tmp_path / "none"))
    assert caught.value.message == f"{tmp_path}/none can't be read: No such file or directory"


def test_a_dash_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b'{"a": 1}')))
    assert read_object("-") == {"a": 1}
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(click.UsageError, match="standard input is not JSON"):
        read_object("-")
