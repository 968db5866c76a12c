"""Plugins and capabilities as text, and a word to a waiting person."""

from __future__ import annotations

import io
import time
from types import SimpleNamespace
from typing import Any

import pytest

from lionplug.cli import progress as module
from lionplug.cli.describe import arguments_text, capability_lines, state_of, wrapped
from lionplug.cli.progress import progress
from lionplug.manifest.capability import Capability
from lionplug.sources import SourceSignature


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({}, "(...)"),
        ({"properties": {}}, "()"),
        ({"properties": {"a": {"type": "string"}}, "required": ["a"]}, "(a: string)"),
        ({"properties": {"a": {"type": ["string", "null"]}, "b": {}}}, "(a?: string | null, b?)"),
        ({"properties": {"a": True}, "required": 3}, "(a?)"),
    ],
)
def test_arguments_of_a_schema(schema: dict[str, Any], text: str) -> None:
    assert arguments_text(schema) == text


def test_every_kind_of_capability_has_its_lines() -> None:
    capabilities = [
        Capability(
            surface="tools",
            name="run",
            danger="executes",
            argv=("python3", "x.py"),
            detail={"description": "Runs\nit", "parameters": {"properties": {"n": {}}}},
        ),
        Capability(surface="tools", name="slow", danger="executes", target="a.py:slow"),
        Capability(surface="tools", name="bare", danger="executes", target="a.py:bare"),
        Capability(surface="mcp_servers", name="web", danger="connects", url="https://x/\u202e"),
        Capability(surface="extra", name="one", danger="data", files=("a.md", "b.md")),
    ]
    signatures = {"a.py:slow": SourceSignature(is_async=True)}
    assert capability_lines(capabilities, signatures, 80) == [
        "",
        "Tools (3)",
        "  run(n?)",
        "      Runs it",
        '      command  ["python3", "x.py"]',
        "  slow()  (async)",
        "      code     a.py:slow",
        "  bare(...)",
        "      code     a.py:bare",
        "",
        "MCP servers (1)",
        "  web",
        "      address  https://x/\\u{202e}",
        "",
        "extra (1)",
        "  one",
        "      file     a.md",
        "      file     b.md",
    ]


def test_a_failed_plugin_says_so() -> None:
    assert state_of(SimpleNamespace(state="active", failed="x")) == "active (failed)"  # type: ignore[arg-type]
    assert state_of(SimpleNamespace(state="active", failed=None)) == "active"  # type: ignore[arg-type]


def test_long_words_are_broken_and_empty_lines_kept() -> None:
    assert wrapped("a" * 30 + "\n\nb", 20, "  ") == ["  " + "a" * 18, "  " + "a" * 12, "", "  b"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_told_on_a_terminal_only_and_only_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.05)
    for stream, pause, text in [
        (Terminal(), 0.3, "Still hashing x\\u{7} ...\n"),
        (Terminal(), 0, ""),
        (io.StringIO(), 0.3, ""),
    ]:
        monkeypatch.setattr("sys.stderr", stream)
        with progress("hashing x\x07"):
            time.sleep(pause)
        assert stream.getvalue() == text
