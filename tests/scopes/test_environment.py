"""security rule S6: a variable counts with the value that it had at the start."""

from __future__ import annotations

import pytest

from lionplug.scopes import environment, environment_value

NAME = "LIONPLUG_TEST_VALUE"


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Return a function that sets the environment that the process was started with."""

    def make(data: bytes) -> None:
        (tmp_path / "environ").write_bytes(data)
        monkeypatch.setattr(environment, "START_ENVIRONMENT", str(tmp_path / "environ"))

    monkeypatch.delenv(NAME, raising=False)
    return make


def warning(value: str) -> str:
    return (
        f"{NAME}={value} was set after this process had started, by a .env file perhaps, "
        "and is ignored; set it before the program starts"
    )


@pytest.mark.parametrize(
    ("first", "present", "expected"),
    [
        (b"", None, (None, None)),
        (b"LIONPLUG_TEST_VALUE=a\0", "a", ("a", None)),
        (b"LIONPLUG_TEST_VALUE=a\0", None, ("a", None)),
        (b"LIONPLUG_TEST_VALUE=a\0", "", ("a", None)),
        (b"LIONPLUG_TEST_VALUE=a\0", "b", ("a", warning("b"))),
        (b"X=1\0", "b", (None, warning("b"))),
        (b"LIONPLUG_TEST_VALUE=\0", "b", (None, warning("b"))),
        (b"LIONPLUG_TEST_VALUE=\0", None, (None, None)),
        (b"LIONPLUG_TEST_VALUE=a=b\0", "a=b", ("a=b", None)),
        (b"LIONPLUG_TEST_VALUE=a\0LIONPLUG_TEST_VALUE=b\0", "a", ("a", None)),
        (b"LIONPLUG_TEST_VALUE\0", None, (None, None)),
        (b"LIONPLUG_TEST_VALUE=\xff\0", "\udcff", ("\udcff", None)),
        (b"", "\x1b[2J", (None, warning("\\u{1b}[2J"))),
    ],
)
def test_s6_the_first_value_counts_and_another_is_ignored(
    start, monkeypatch, first, present, expected
):
    start(first)
    if present is not None:
        monkeypatch.setenv(NAME, present)
    assert environment_value(NAME) == expected


def test_s6_without_proc_the_present_value_counts(monkeypatch, tmp_path):
    monkeypatch.setattr(environment, "START_ENVIRONMENT", str(tmp_path / "missing"))
    monkeypatch.setenv(NAME, "a")
    assert environment_value(NAME) == ("a", None)
    monkeypatch.setenv(NAME, "")
    assert environment_value(NAME) == (None, None)
