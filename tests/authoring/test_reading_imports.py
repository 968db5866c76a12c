"""The imports of Python source, read by a helper process whose answers are not believed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionplug.sources import imports
from lionplug.sources.imports import Import, read_imports


def read(source: str) -> object:
    return read_imports({"a.py": source.encode()})["a.py"]


def test_absolute_imports_are_read_once_each_in_order() -> None:
    source = """\
import a.b, c
from d.e import f
from . import g
from .h import i
def j():
    import k, a
if TYPE_CHECKING:
    import l
else:
    import m
"""
    assert read(source) == (
        Import(name="a", line=1, column=1),
        Import(name="c", line=1, column=1),
        Import(name="d", line=2, column=1),
        Import(name="k", line=6, column=5),
        Import(name="m", line=10, column=5),
    )


def test_source_that_does_not_parse_says_where() -> None:
    assert read("a = 1\ndef (\n") == Import(
        name="line 2 doesn't parse: invalid syntax", line=2, column=0
    )


def test_many_files_take_several_helpers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "MAX_BATCH", 40)
    files = {f"{number}.py": f"import m{number}\n".encode() for number in range(8)}
    found = read_imports(files)
    assert {path: one[0].name for path, one in found.items() if isinstance(one, tuple)} == {
        f"{number}.py": f"m{number}" for number in range(8)
    }


def test_s36_all_source_together_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "MAX_ALL", 20)
    found = read_imports({"a.py": b"import a\n", "b.py": b"import bbb\n", "c.py": b"import cccc\n"})
    assert isinstance(found["b.py"], tuple)
    assert found["c.py"] == Import(name="more than 20 bytes of source in all")


def test_s36_a_helper_that_answers_nothing_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "run_child", lambda request, seconds: b"")
    found = read_imports({"a.py": b"import a\n", "b.py": b"import b\n"})
    assert set(found.values()) == {Import(name="the reader was stopped at its limits")}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["imports", "unread", "line", "message", "x"]), inner)
    ),
    max_leaves=8,
)


@given(st.one_of(st.binary(max_size=80), JSON.map(lambda value: json.dumps(value).encode())))
def test_s36_whatever_the_helper_answers_is_read_strictly(output: bytes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(imports, "run_child", lambda request, seconds: output + b"\n")
        answer = read_imports({"a.py": b"x"})["a.py"]
    for one in answer if isinstance(answer, tuple) else [answer]:
        assert one.name.isprintable()
        assert one.line >= 0
    if isinstance(answer, tuple):
        assert all(one.name.isidentifier() and one.line and one.column for one in answer)


@pytest.mark.parametrize(
    "answer",
    [
        {"imports": [["a b", 1, 1]]},
        {"imports": [["a", 0, 1]]},
        {"imports": [["a", 1, True]]},
        {"imports": [["a", 1]]},
        {"imports": "a"},
        {"imports": [], "more": 1},
        {"unread": "missing", "line": 1},
        [],
    ],
)
def test_s36_a_wrong_answer_is_none(answer: object, monkeypatch: pytest.MonkeyPatch) -> None:
    line = json.dumps(answer).encode() + b"\n"
    monkeypatch.setattr(imports, "run_child", lambda request, seconds: line)
    assert read("import a\n") == Import(name="the reader was stopped at its limits")
