"""Naming the plugin on exceptions that pass."""

from __future__ import annotations

import pytest

from lionplug.activation.notes import note_origin


def test_an_exception_is_given_a_note() -> None:
    with pytest.raises(ValueError, match="x") as caught:
        with note_origin("tool", "web_search", "web"):
            raise ValueError("x")
    assert caught.value.__notes__ == ["raised in tool web_search of plugin web"]  # type: ignore[attr-defined]


def test_what_ends_the_program_and_what_succeeds_is_left_alone() -> None:
    with note_origin("tool", "web_search", "web"):
        pass
    with pytest.raises(KeyboardInterrupt) as caught:
        with note_origin("tool", "web_search", "web"):
            raise KeyboardInterrupt
    assert not hasattr(caught.value, "__notes__")


def test_each_plugin_on_the_way_is_named_once() -> None:
    def fail() -> None:
        with note_origin("hook", "ask", "outer"), note_origin("tool", "t", "inner"):
            with note_origin("tool", "t", "inner"):
                raise ValueError("x")

    with pytest.raises(ValueError, match="x") as caught:
        fail()
    assert caught.value.__notes__ == [  # type: ignore[attr-defined]
        "raised in tool t of plugin inner",
        "raised in hook ask of plugin outer",
    ]
