"""Reading signatures in the helper process (security rule S36)."""

from __future__ import annotations

import io
import json
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionplug.sources import SourceSignature, Unread, child, read_signatures
from lionplug.sources.process import MAX_OUTPUT, run_child
from lionplug.sources.reader import MAX_FILE, MAX_REQUEST, decode_answers

GOOD = b"def good(a: int = 3):\n    'Do good.'\n"

SIGNATURE = {"parameters": [], "is_async": False, "uncertain": False, "doc": "", "line": 1}


def read(source, name="f"):
    """Return the signature of one function of one file."""
    data = source if isinstance(source, bytes) else source.encode()
    return read_signatures({"tools/x.py": data}, [("tools/x.py", name)])[f"tools/x.py:{name}"]


def parsed(source):
    """Return the signature of ``f`` by the helper's own code, run in this process."""
    data = child.describe(source.encode(), ["f"])["f"]
    return None if "unread" in data else SourceSignature.from_dict(data)


def why_not(source, name="f"):
    """Return why there is no signature of one function of one file, and whether it is missing."""
    data = source if isinstance(source, bytes) else source.encode()
    found = read_signatures({"tools/x.py": data}, [("tools/x.py", name)])
    assert found == {f"tools/x.py:{name}": None}
    unread = found.unread[f"tools/x.py:{name}"]
    return unread.reason, unread.missing


def text(source):
    return parsed(source).text("f")


class TestWhatIsRead:
    def test_a_function(self):
        found = read(
            '''
import nothing_that_exists
async def f(query: str, /, limit: "int | None" = 10, *rest, mode: Literal["a"] = "a", **more):
    """Search.

    Long.
    """
'''
        )
        assert found.text("f") == (
            "async def f(query: str, /, limit: 'int | None' = 10, *rest, "
            "mode: Literal['a'] = 'a', **more)"
        )
        assert (found.is_async, found.uncertain, found.line) == (True, False, 3)
        assert (found.doc, found.summary) == ("Search.\n\nLong.", "Search.")
        assert found.omitted == ("query", "rest")

    def test_nothing_is_asked(self):
        assert read_signatures({"x.py": GOOD}, []) == {}

    def test_keyword_only_and_positional_only(self):
        assert text("def f(a, /): 0") == "def f(a, /)"
        assert text("def f(a, /, *, b=None): 0") == "def f(a, /, *, b=None)"
        assert text("def f(*, b: x.Y=1): 0") == "def f(*, b: x.Y = 1)"

    @pytest.mark.parametrize(
        ("default", "shown"),
        [
            ("-1", "-1"),
            ("-2.5", "-2.5"),
            ("True", "True"),
            ("[1, ['a']]", "[1, ['a']]"),
            ("{'a': None}", "{'a': None}"),
            ("{1: 2}", "..."),
            ("{**x}", "..."),
            ("(1, 2)", "..."),
            ("b'x'", "..."),
            ("1j", "..."),
            ("-True", "..."),
            ("1e999", "..."),
            ("10 ** 9", "..."),
            ("99999999999999999999", "..."),
            ("'\\ud800'", "..."),
            (repr("x" * 201), "..."),
            ("[[[1]]]", "..."),
            (f"{[0] * 21}", "..."),
            ("open('x')", "..."),
        ],
    )
    def test_defaults(self, default, shown):
        assert text(f"def f(a={default}): 0") == f"def f(a={shown})"

    def test_a_long_annotation_is_not_shown(self):
        assert text(f"def f(a: {'x' * 301}): 0") == "def f(a: ...)"

    def test_the_docstring_is_bounded(self):
        assert parsed(f"def f():\n '''{'x' * 3000}\\ud800'''").doc == "x" * 2000
        assert parsed("def f():\n '\\ud800'").doc == "?"

    @pytest.mark.parametrize("count", [64, 65])
    def test_the_parameters_are_bounded(self, count):
        found = parsed(f"def f({', '.join(f'a{i}' for i in range(count))}): 0")
        assert (found is None) == (count > 64)


class TestWhichFunction:
    """The last definition wins, as it would for Python."""

    @pytest.mark.parametrize(
        ("source", "shown", "uncertain"),
        [
            ("def f(a): 0\ndef f(b): 0", "def f(b)", False),
            ("if x:\n def f(a): 0", "def f(a)", False),
            ("try:\n def f(a): 0\nexcept E:\n def f(b): 0", "def f(b)", True),
            ("try:\n from x import f\nexcept E:\n def f(b): 0", "def f(b)", True),
            ("if x:\n 0\nelif y:\n def f(a): 0\nelse:\n def f(b): 0", "def f(b)", True),
            ("with x:\n def f(a): 0", "def f(a)", False),
            ("match x:\n case 1:\n  def f(a): 0\n case _:\n  def f(b): 0", "def f(b)", True),
            ("@wrap\ndef f(a): 0", "def f(a)", True),
            ("def f(a): 0\nf = wrap(f)", "def f(a)", True),
            ("def f(a): 0\nf: X = wrap(f)", "def f(a)", True),
            ("def f(a): 0\nx = [f := 1]", "def f(a)", True),
            ("def f(a): 0\nfor f in x: 0", "def f(a)", True),
            ("def f(a): 0\nwith x as f: 0", "def f(a)", True),
            ("def f(a): 0\ntry: 0\nexcept E as f: 0", "def f(a)", True),
            ("def f(a): 0\nmatch x:\n case [*f]: 0", "def f(a)", True),
            ("def f(a): 0\nmatch x:\n case {**f}: 0", "def f(a)", True),
            ("def f(a): 0\ndel f", "def f(a)", True),
            ("def f(a): 0\nif x:\n from y import f", "def f(a)", True),
            ("def f(a): 0\nif x:\n class f: 0", "def f(a)", True),
            ("def f(a): 0\nfrom y import *", "def f(a)", True),
            ("f = 1\ndef f(a): 0", "def f(a)", False),
            ("def g():\n f = 1\ndef f(a): 0", "def f(a)", False),
            ("def f(a): 0\ndef g():\n f = 1", "def f(a)", False),
        ],
    )
    def test_found(self, source, shown, uncertain):
        found = parsed(source)
        assert (found.text("f"), found.uncertain) == (shown, uncertain)

    @pytest.mark.parametrize(
        "source",
        [
            "",
            "class f: 0",
            "f = lambda a: 0",
            "class C:\n def f(a): 0",
            "def g():\n def f(a): 0",
            "def f(a): 0\nclass f: 0",
            "def f(a): 0\nfrom x import f",
            "def f(a): 0\nimport f",
            "def f(a): 0\nimport f.g",
        ],
    )
    def test_not_found(self, source):
        assert parsed(source) is None


class TestWhyNot:
    """A signature that is not shown says why."""

    @pytest.mark.parametrize(
        ("source", "reason", "missing"),
        [
            ("def upper(text): 0", "no top-level function 'f'", True),
            ("", "no top-level function 'f'", True),
            ("class C:\n def f(a): 0", "no top-level function 'f'", True),
            ("class f: 0", "'f' is a class", False),
            ("def f(a): 0\nclass f: 0", "'f' is a class", False),
            ("from x import f", "'f' is imported from elsewhere", False),
            ("import f.g", "'f' is imported from elsewhere", False),
            ("f = lambda a: 0", "'f' is assigned, and not defined by 'def'", False),
            ("for f in x: 0", "'f' is assigned, and not defined by 'def'", False),
            (
                "from x import *",
                "'f' may come from 'import *' or a module's '__getattr__'",
                False,
            ),
            (
                "def __getattr__(name): 0",
                "'f' may come from 'import *' or a module's '__getattr__'",
                False,
            ),
            (
                f"def f({', '.join(f'a{i}' for i in range(65))}): 0",
                "'f' has too many parameters",
                False,
            ),
            ("x = 1\n\ndef f(a, a: 0", "line 3 doesn't parse: ", False),
            ("x = (\n", "line 1 doesn't parse: '(' was never closed", False),
            ("'\u202e' = '\u200b\u0430", "line 1 doesn't parse: unterminated string", False),
            ("(" * 60000, "line 1 doesn't parse: too many nested parentheses", False),
            (
                "# coding: latin-1\ndef f(): 0",
                "the file declares the source encoding latin-1",
                False,
            ),
            (b"# \xff\ndef f(): 0", "the file is no text in UTF-8 at byte 2", False),
            (
                b"#" * (MAX_FILE + 1),
                "the file is too large: 65,537 bytes, 65,536 are read",
                False,
            ),
        ],
    )
    def test_s36_each_reason(self, source, reason, missing):
        found, is_missing = why_not(source)
        if " doesn't parse: " in reason:  # the words are those of the interpreter
            found, reason = found[: len(reason)], reason
        assert found == reason
        assert is_missing == missing

    def test_a_name_like_it_is_proposed(self):
        source = "def upper(t): 0\ndef lower(t): 0\n"
        found = why_not(source, "uper")
        assert found == ("no top-level function 'uper' (did you mean 'upper'?)", True)
        assert why_not("def \u00fcpper(t): 0", "upper")[0] == (
            "no top-level function 'upper' (did you mean '\\u{fc}pper'?)"
        )

    def test_s36_proposals_are_bounded(self):
        many = "".join(f"def {'a' * 20}{i}(): 0\n" for i in range(2500))[: MAX_FILE - 100]
        many = many[: many.rindex("def ")] + f"def {'b' * 80}(): 0"
        began = time.monotonic()
        assert why_not(many, "a" * 21) == (
            f"no top-level function '{'a' * 21}' (did you mean '{'a' * 20}9'?)",
            True,
        )
        assert time.monotonic() - began < 3

    def test_a_nul_character(self):
        assert why_not(b"def f(): 0\0")[0].endswith("null bytes")

    def test_s36_a_helper_that_ends_says_so(self, monkeypatch):
        monkeypatch.setattr("lionplug.sources.reader.run_child", lambda request, seconds: b"")
        assert why_not("def f(): 0") == ("the reader was stopped at its limits", False)

    def test_a_file_that_is_not_there(self):
        found = read_signatures({}, [("x.py", "f"), ("x.py", "g")])
        assert found == {"x.py:f": None, "x.py:g": None}
        assert [item.reason for item in found.unread.values()] == ["there is no such file"] * 2

    def test_what_is_found_has_no_reason(self):
        found = read_signatures({"x.py": GOOD}, [("x.py", "good"), ("x.py", "god")])
        assert found["x.py:good"].text("good") == "def good(a: int = 3)"
        assert list(found.unread) == ["x.py:god"]


class TestHostileSource:
    def test_s36_what_can_not_be_parsed_is_not_shown(self):
        for source in (b"def (", b"\xff\xfe", b"def f(): 0\0", b"def f(a, a): 0\n)"):
            assert read(source) is None
            assert "unread" in child.describe(source, ["f"])["f"]

    @pytest.mark.parametrize("cookie", ["latin-1", "unicode_escape", "utf-7"])
    def test_s36_other_encodings_are_not_shown(self, cookie):
        assert read(f"# coding: {cookie}\ndef f(): 0") is None
        assert read("# coding: utf-8\ndef f(): 0") is not None
        assert read(b"\xef\xbb\xbfdef f(): 0") is not None

    def test_s36_files_are_bounded(self):
        assert read(b"def f(): 0\n" + b"#" * (MAX_FILE - 11)) is not None
        assert read(b"def f(): 0\n" + b"#" * (MAX_FILE - 10)) is None

    def test_s36_the_request_is_bounded(self):
        count = MAX_REQUEST // MAX_FILE + 1
        source = b"def f(): 0\n#".ljust(MAX_FILE, b"#")
        files = {f"{i:03}.py": source for i in range(count)}
        found = read_signatures(files, [(path, "f") for path in files])
        assert [path for path, item in found.items() if item is None] == [f"{count - 1:03}.py:f"]
        assert found.unread[f"{count - 1:03}.py:f"].reason == (
            "more than 4,194,304 bytes of source in all"
        )

    @pytest.mark.parametrize(
        "source",
        [
            b"x = f'" + b"{x}" * 21000 + b"'",
            b"x = " + b"f'{" * 20000,
            b"(" * 65000,
            b"[" * 90 + b"]" * 90 + b"\n" + b"-" * 65000 + b"1",
            b"x = " + b"+".join([b"1"] * 30000),
            b"x" + b".x" * 32000,
            b"x" + b"()" * 32000,
            b"if x: 0\n" + b"elif x: 0\n" * 6500,
            b"not " * 16000 + b"x",
            b"lambda: " * 8000 + b"0",
            b"x = " + b"1 if x else " * 5000 + b"0",
            b"a" * 65536,
            b"\\\n" * 32000,
        ],
        ids=lambda source: source[:12].decode(),
    )
    def test_s36_64_kib_of_anything_takes_less_than_three_seconds(self, source):
        files = {"bad.py": source[:MAX_FILE], "good.py": GOOD}
        began = time.monotonic()
        found = read_signatures(files, [("bad.py", "f"), ("good.py", "good")])
        assert time.monotonic() - began < 3
        assert found["bad.py:f"] is None
        assert found["good.py:good"].text("good") == "def good(a: int = 3)"

    def test_s36_the_helper_has_its_limits_before_it_reads(self, tmp_path):
        script = tmp_path / "limits.py"
        script.write_text(
            f"import runpy, resource, sys, os\n"
            f"runpy.run_path({child.__file__!r}, run_name='child')['take_limits']()\n"
            "names = 'RLIMIT_AS RLIMIT_CPU RLIMIT_FSIZE RLIMIT_CORE'.split()\n"
            "print([resource.getrlimit(getattr(resource, name)) for name in names])\n"
            "print(sys.flags.isolated, sys.flags.no_site, os.getcwd(), sorted(os.environ))\n"
        )
        limits, rest = run_child(b"", 5, script=str(script)).decode().splitlines()
        assert limits == f"[({2**29}, {2**29}), (2, 2), (0, 0), (0, 0)]"
        assert rest.startswith("1 1 / ")
        assert not {"HOME", "PATH", "PYTHONPATH"} & set(rest.split("'"))

    def test_s36_no_limits_no_answer(self, monkeypatch):
        wanted = []
        monkeypatch.setattr("resource.getrlimit", lambda kind: (0, 1))
        monkeypatch.setattr("resource.setrlimit", lambda kind, limits: wanted.append(limits))
        request = json.dumps([[len(GOOD), ["good"]]]).encode() + b"\n" + GOOD
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(request)))
        monkeypatch.setattr("sys.stdout", io.StringIO())
        child.main()
        assert json.loads(sys.stdout.getvalue())["good"]["doc"] == "Do good."
        assert wanted == [(1, 1), (0, 0), (0, 0), (1, 1)]

        def refuse(kind, limits):
            raise ValueError("not allowed")

        monkeypatch.setattr("resource.setrlimit", refuse)
        with pytest.raises(ValueError, match="not allowed"):
            child.main()

    def test_s36_memory_is_bounded(self, tmp_path):
        script = tmp_path / "memory.py"
        script.write_text(
            f"import runpy\n"
            f"runpy.run_path({child.__file__!r}, run_name='child')['take_limits']()\n"
            "try:\n    bytearray(600 * 2**20)\nexcept MemoryError:\n    print('refused')\n"
        )
        assert run_child(b"", 5, script=str(script)) == b"refused\n"


class TestRetry:
    """A file that ends the helper hides no other one."""

    @pytest.fixture
    def helper(self, monkeypatch):
        """Replace the helper: a function of the files it is given, and the calls made."""
        calls = []

        def install(answer):
            def run(request, seconds):
                header, _, rest = request.partition(b"\n")
                sizes = json.loads(header)
                calls.append((len(sizes), seconds))
                return answer(rest)

            monkeypatch.setattr("lionplug.sources.reader.run_child", run)
            return calls

        return install

    def test_s36_the_rest_is_tried_once_more(self, helper):
        line = json.dumps({"f": SIGNATURE}).encode() + b"\n"
        answers = {b"abbccc": line, b"ccc": line}
        calls = helper(lambda rest: answers.get(rest, b""))
        files = {"a": b"a", "b": b"bb", "c": b"ccc"}
        found = read_signatures(files, [(path, "f") for path in files])
        assert [found[f"{path}:f"] is not None for path in files] == [True, False, True]
        assert [count for count, _ in calls] == [3, 1]

    def test_s36_not_more_than_once(self, helper):
        calls = helper(lambda rest: b"")
        files = {str(i): b"x" * i for i in range(9)}
        found = read_signatures(files, [(path, "f") for path in files])
        assert set(found.values()) == {None}
        assert [count for count, _ in calls] == [9, 8]
        assert sum(seconds for _, seconds in calls) < 5.5

    def test_s36_a_helper_that_hangs_is_killed(self, tmp_path):
        script = tmp_path / "hang.py"
        script.write_text(
            "import os, time\nprint(1, flush=True)\n"
            "if os.fork():\n    print(2, flush=True)\ntime.sleep(60)\n"
        )
        began = time.monotonic()
        output = run_child(b"x" * 2**20, 0.5, script=str(script))
        assert output == b"1\n2\n"
        assert time.monotonic() - began < 2

    def test_s36_the_output_is_bounded(self, tmp_path):
        script = tmp_path / "flood.py"
        script.write_text("import sys\nwhile True: sys.stdout.write('x' * 100000)\n")
        assert run_child(b"", 5, script=str(script)) == b"x" * MAX_OUTPUT

    def test_a_helper_that_ends_at_once(self, tmp_path):
        script = tmp_path / "end.py"
        script.write_text("raise SystemExit\n")
        assert run_child(b"x" * 2**22, 5, script=str(script)) == b""

    def test_a_helper_that_does_not_read(self, tmp_path):
        script = tmp_path / "deaf.py"
        script.write_text("import os, time\nos.close(0)\ntime.sleep(0.2)\nprint('x')\n")
        assert run_child(b"x" * 2**22, 5, script=str(script)) == b"x\n"

    def test_no_interpreter(self, monkeypatch):
        monkeypatch.setattr(sys, "executable", "")
        assert read(GOOD, "good") is None
        monkeypatch.setattr(sys, "executable", "/nonexistent/python")
        assert read(GOOD, "good") is None

    def test_no_time_left(self):
        assert run_child(b"", 0) == b""


FILES = [("a", b"", ["f", "g"]), ("b", b"", ["h"])]

CLASS = {"unread": "class"}
NO_H = b'{"h": {"unread": "class"}}\n'
LINE = json.dumps({"f": SIGNATURE, "g": CLASS}).encode()

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["f", "g", "h", *SIGNATURE, "name", "kind", "default"]), inner
        )
    ),
    max_leaves=12,
)


class TestDecoder:
    def test_an_answer(self):
        found = decode_answers(LINE + b"\n" + NO_H, FILES)
        assert found == {
            "a:f": SourceSignature(),
            "a:g": Unread(reason="'g' is a class"),
            "b:h": Unread(reason="'h' is a class"),
        }

    @pytest.mark.parametrize(
        "line",
        [
            b"",
            b"garbage",
            b"\xff",
            b"[]",
            b"{}",
            b'{"f": null, "g": null}',
            *(
                json.dumps(answer).encode()
                for answer in (
                    {"f": CLASS},
                    {"g": CLASS, "f": CLASS},
                    {"f": CLASS, "g": CLASS, "x": CLASS},
                    {"f": CLASS, "g": 1},
                    {"f": CLASS, "g": float("nan")},
                    {"f": CLASS, "g": {"unread": "other"}},
                    {"f": CLASS, "g": {"unread": ["class"]}},
                    {"f": CLASS, "g": {"unread": "class", "more": 1}},
                    {"f": CLASS, "g": {"unread": "missing"}},
                    {"f": CLASS, "g": {"unread": "missing", "near": 1}},
                    {"f": CLASS, "g": {"unread": "missing", "near": "x" * 201}},
                    {"f": CLASS, "g": {"unread": "syntax", "line": -1, "message": ""}},
                    {"f": CLASS, "g": {"unread": "syntax", "line": True, "message": ""}},
                    {"f": CLASS, "g": {"unread": "syntax", "line": 1, "message": "x" * 201}},
                    {"f": CLASS, "g": {"unread": "syntax", "line": 1}},
                )
            ),
            b"[" * 100000,
            b'{"f": ' + b"9" * 100000 + b', "g": {}}',
            LINE.replace(b"1", b"0"),
            LINE.replace(b"false", b"0"),
            LINE.replace(b'"line"', b'"lime"'),
            LINE.replace(b'"doc": ""', b'"doc": "' + b"x" * 2001 + b'"'),
            LINE.replace(b'"doc": ""', b'"doc": "\\ud800"'),
        ],
    )
    def test_s36_anything_else_is_no_answer(self, line):
        assert decode_answers(line + b"\n" + NO_H, FILES) == {}

    def test_s36_an_unfinished_line_is_no_answer(self):
        assert decode_answers(LINE, FILES) == {}

    def test_s36_more_lines_than_files_are_ignored(self):
        assert len(decode_answers(LINE + b"\n" + NO_H + NO_H, FILES)) == 3

    @given(st.lists(JSON.map(json.dumps) | st.text(max_size=30)))
    def test_s36_garbage_never_confuses_the_parent(self, lines):
        output = "\n".join(lines).encode("utf-8", "surrogatepass") + b"\n"
        self.check(decode_answers(output, FILES))

    @given(st.binary(max_size=400))
    def test_s36_bytes_never_confuse_the_parent(self, output):
        self.check(decode_answers(LINE + b"\n" + output, FILES))

    @given(
        st.fixed_dictionaries({"unread": st.sampled_from(["syntax", "missing", "class"]) | JSON})
        | st.fixed_dictionaries({"unread": st.just("syntax"), "line": JSON, "message": JSON})
        | st.fixed_dictionaries({"unread": st.just("missing"), "near": JSON})
    )
    def test_s36_almost_a_reason(self, data):
        line = json.dumps({"f": data, "g": CLASS})
        self.check(decode_answers(line.encode() + b"\n", FILES))

    @given(st.fixed_dictionaries(dict.fromkeys(SIGNATURE, JSON)))
    def test_s36_almost_a_signature(self, data):
        line = json.dumps({"f": data, "g": CLASS})
        self.check(decode_answers(line.encode() + b"\n", FILES))

    def check(self, found):
        assert found.keys() <= {"a:f", "a:g", "b:h"}
        for answer in found.values():
            if isinstance(answer, Unread):
                assert all(" " <= character <= "~" for character in answer.reason)
                assert len(answer.reason) < 2100
            else:
                assert SourceSignature.from_dict(answer.to_dict()) == answer
