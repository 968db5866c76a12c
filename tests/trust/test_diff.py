"""What changed since an approval (security rule S3, S22, S24; FR-13, FR-16)."""

from __future__ import annotations

import json
import time
import unicodedata
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionplug.text import is_blank
from lionplug.trust import diff, line_diff, text_diff
from lionplug.trust.diff import diff_trees
from tests.trust.copies import copy_of, unwrapped


@pytest.fixture
def compare(tmp_path):
    """Compare two trees that are given as files."""

    def run(old, new, old_capabilities=(), new_capabilities=()):
        before = copy_of(tmp_path / "before", old)
        after = copy_of(tmp_path / "after", new)
        return diff_trees(before, after, old_capabilities, new_capabilities)

    return run


def changes(found):
    return [(item.path, item.change) for item in found.files]


class TestFiles:
    def test_nothing(self, compare):
        found = compare({"a": "x"}, {"a": "x"})
        assert found.empty
        assert found.lines() == ["Nothing differs from the approved tree"]

    def test_the_whole_text(self, compare):
        old = {
            "tools/a.py": "".join(f"line{i}\n" for i in range(1, 10)),
            "gone.md": "bye\n",
            "run.sh": "#!/bin/sh\n",
            "link": ("l", "gone.md"),
            "logo.png": b"\x89\0a",
            "kind": "x",
        }
        new = {
            "tools/a.py": "".join(f"line{i}\n" for i in range(1, 10)).replace("line8", "evil()"),
            "run.sh": ("x", "#!/bin/sh\n"),
            "link": ("l", "new.md"),
            "logo.png": b"\x89\0b",
            "new.md": "Gr\u00fc\u00dfe\u200b",
            "kind": ("l", "new.md"),
            "empty": None,
        }
        assert compare(old, new).lines() == [
            "Capabilities: no change",
            "",
            "Files: 2 added, 1 removed, 5 changed",
            "  + directory  empty",
            "  - file  gone.md",
            "  ~ file became link  kind",
            "      - file, 1 B",
            "      + link to new.md",
            "  ~ link  link",
            "      - link to gone.md",
            "      + link to new.md",
            "  ~ file  logo.png",
            "      - file, 3 B",
            f"        sha256 {sha256(old['logo.png']).hexdigest()}",
            "      + file, 3 B",
            f"        sha256 {sha256(new['logo.png']).hexdigest()}",
            "  + file  new.md",
            "  ~ file became executable  run.sh",
            "  ~ file  tools/a.py",
            "",
            "~ tools/a.py",
            "  @@ -5,5 +5,5 @@",
            "   line5",
            "   line6",
            "   line7",
            "  -line8",
            "  +evil()",
            "   line9",
            "  (logo.png: binary, so not compared as text)",
            "  all of it: show NAME logo.png",
            "  as approved: show NAME logo.png --approved",
            "",
            "+ new.md",
            "  @@ -0,0 +1,1 @@",
            "  +Gr\u00fc\u00dfe\\u{200b} \\ No newline at end of file",
        ]

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ({"a": "x"}, {"a": "y"}),
            ({"a": "x"}, {"a": ("x", "x")}),
            ({"a": "x"}, {}),
            ({}, {"a": "x"}),
            ({}, {"a": None}),
            ({"b": "", "c": "", "a": ("l", "b")}, {"b": "", "c": "", "a": ("l", "c")}),
            ({"b": "", "a": ("l", "b")}, {"b": "", "a": ""}),
            ({"a": None}, {"a": ""}),
        ],
    )
    def test_fr13_every_change_of_the_tree_is_listed(self, compare, old, new):
        found = compare(old, new)
        assert [path for path, _ in changes(found)] == ["a"]
        assert not found.empty
        by_kind = (*found.added, *found.removed, *found.changed)
        assert by_kind == found.files

    def test_kinds_without_content(self, compare):
        found = compare(
            {"a": None, "c": None}, {"a": ("l", "plugin.yaml"), "b": ("l", "a"), "c": ""}
        )
        assert found.lines()[3:] == [
            "  ~ directory became link  a",
            "      - directory",
            "      + link to plugin.yaml",
            "  + link  b",
            "      + link to a",
            "  ~ directory became file  c",
        ]

    def test_the_approved_tree_is_missing(self, tmp_path):
        new = copy_of(tmp_path, {"a": "x"})
        found = diff_trees(None, new, [{"surface": "s", "name": "n"}], [])
        assert not found.empty
        assert found.lines() == [
            "Capabilities: 1 removed",
            "  - s n",
            "",
            "Files: not compared, because the approved tree is missing from the store.",
            "Read the whole disclosure as if it were a first approval.",
        ]
        assert not diff_trees(None, new, (), ()).empty
        assert found.to_dict()["approved_tree_missing"] is True

    def test_to_dict_is_json(self, compare):
        found = compare(
            {"a": "x\n", "l": ("l", "a")}, {"a": "y\n"}, [], [{"surface": "s", "name": "n"}]
        )
        data = json.loads(json.dumps(found.to_dict()))
        assert data["empty"] is False
        assert [row["change"] for row in data["files"]] == ["changed", "removed"]
        assert data["files"][0]["text"]["lines"] == ["@@ -1,1 +1,1 @@", "-x", "+y"]
        assert data["files"][1]["before"]["target"] == "a"
        assert data["capabilities"] == [
            {
                "surface": "s",
                "name": "n",
                "change": "added",
                "before": None,
                "after": {"surface": "s", "name": "n"},
            }
        ]


class TestText:
    def text(self, before, after, **options):
        before = None if before is None else before.encode()
        return text_diff.text_diff(before, after.encode(), **{"code": False, "most": 99, **options})

    def test_line_ends_are_changes(self):
        assert self.text("a\n", "a\r\n").lines == ("@@ -1,1 +1,1 @@", "-a", "+a\\u{d}")
        assert self.text("a", "a\n").lines == (
            "@@ -1,1 +1,1 @@",
            "-a \\ No newline at end of file",
            "+a",
        )

    def test_s24_look_alikes_show_in_code_and_words_stay_words(self):
        assert self.text("", "p\u0430y \u00fc\t\u202e\n", code=True).lines[1:] == (
            "+p\\u{430}y \\u{fc}\\u{9}\\u{202e}",
        )
        assert self.text("", "p\u0430y \u00fc\u202e\n").lines[1:] == ("+p\u0430y \u00fc\\u{202e}",)

    @given(st.text(), st.text(), st.booleans())
    def test_s24_fr16_nothing_hidden_is_shown(self, before, after, code):
        for line in self.text(before, after, code=code).lines:
            for character in line:
                assert " " <= character <= "~" or (
                    not code
                    and unicodedata.category(character)[0] in "LMNP"
                    and not is_blank(character)
                )

    def test_binary(self):
        for before, after in ((b"\0", b""), (b"", b"\xff")):
            found = text_diff.text_diff(before, after, code=False, most=9)
            assert (found.lines, found.is_complete) == ((), False)

    def test_long_lines_are_shown_in_part(self):
        found = self.text(None, "x" * 1100 + "\n")
        assert found.lines[1] == "+" + "x" * 999 + " ... (101 more characters)"
        assert (found.shortened, found.is_complete) == (1, False)


class TestBounds:
    def test_of_one_file(self, compare):
        found = compare({}, {"a b.py": "".join(f"{i}\n" for i in range(1000)) + "end"})
        (item,) = found.files
        assert len(item.text.lines) == text_diff.MOST_LINES_OF_FILE
        assert item.text.left_out == 602
        assert found.lines(show="li plugin show web")[-2:] == [
            "  (a b.py: 602 further lines left out)",
            "  all of it: li plugin show web 'a b.py'",
        ]

    def test_of_all_files_and_code_first(self, compare):
        text = "".join(f"{i}\n" for i in range(1000))
        junk = {f"a{index:02}.txt": text for index in range(20)}
        found = compare({}, {**junk, "z.py": "import os\n"})
        shown = {item.path: item.text for item in found.files}
        assert sum(len(text.lines) for text in shown.values()) == diff.MOST_LINES
        assert shown["z.py"].is_complete
        assert shown["a19.txt"].note == "not shown: there are too many changes to show them all"
        assert len(found.files) == 21
        assert "  + file  a19.txt" in found.lines()

    def test_of_long_lines(self, compare):
        found = compare({"a": ("l", "plugin.yaml")}, {"a": "x" * 1100 + "\n"})
        assert unwrapped(found.lines())[-3:] == [
            "  (a: 1 line shown in part)",
            "  all of it: show NAME a",
            "  as approved: show NAME a --approved",
        ]

    def test_of_large_files(self, compare, monkeypatch):
        monkeypatch.setattr(diff, "LARGEST_COMPARED", 3)
        found = compare({"a": "x"}, {"a": "four"})
        assert unwrapped(found.lines())[-3] == "  (a: larger than 3 bytes, so not compared as text)"
        assert any("sha256" in line for line in found.lines())

    def test_time_is_bounded_for_texts_made_to_take_long(self):
        old = [f"{index}\n" for index in range(20_000)]
        new = sorted(old)
        began = time.monotonic()
        found = text_diff.text_diff(
            "".join(old).encode(), "".join(new).encode(), code=False, most=4000
        )
        assert time.monotonic() - began < 2
        assert found.left_out

    @pytest.mark.parametrize("width", [40, 80])
    def test_nothing_is_cut_by_the_width(self, compare, width):
        found = compare({}, {"x" * 200 + ".py": "y" * 300 + "\n"})
        lines = found.lines(width)
        assert max(map(len, lines)) <= width
        assert "  +" + "y" * 300 in unwrapped(lines)

    @pytest.mark.parametrize("width", [40, 80])
    def test_a_table_in_a_text_is_not_taken_for_the_rest_of_a_line(self, compare, width):
        table = ["| a | b |", " | c |", "+", "  | " + "long " * 30 + "|", "| /x" * 40]
        text = "\n".join(table)
        found = compare({"t.md": text + "\nold\n"}, {"t.md": text + "\nnew\n"})
        lines = found.lines(width)
        start = lines.index("~ t.md")
        assert unwrapped(lines[start:], bar=r" \| ") == [
            "~ t.md",
            "  @@ -3,4 +3,4 @@",
            *(f"   {line}" for line in table[2:]),
            "  -old",
            "  +new",
        ]


class TestCapabilities:
    OLD = {
        "surface": "hooks_external",
        "name": "h",
        "danger": "executes",
        "argv": ["hooks/run"],
        "detail": {"matcher": "a", "timeout": 5},
    }

    def test_changed_with_before_and_after(self, compare):
        new = {**self.OLD, "argv": ["hooks/run", "--upload\u202e"], "detail": {"matcher": "b"}}
        found = compare({}, {}, [self.OLD], [new])
        assert found.lines()[:8] == [
            "Capabilities: 1 changed",
            "  ~ hooks_external h",
            '      - argv: ["hooks/run"]',
            '      + argv: ["hooks/run", "--upload\\u202e"]',
            '      - matcher: "a"',
            '      + matcher: "b"',
            "      - timeout: 5",
            "",
        ]

    def test_a_long_command_has_a_line_for_each_element(self, compare):
        found = compare({}, {}, [], [{**self.OLD, "argv": ["a" * 50, "b" * 50]}])
        assert found.lines(100)[1:8] == [
            "  + hooks_external h",
            '      + danger: "executes"',
            "      + argv: [",
            f'      +     "{"a" * 50}",',
            f'      +     "{"b" * 50}"',
            "      +   ]",
            '      + matcher: "a"',
        ]

    def test_added_removed_same(self, compare):
        other = {**self.OLD, "name": "other"}
        same = {**self.OLD, "name": "same"}
        found = compare({}, {}, [same, self.OLD], [other, same])
        assert [(item.name, item.change) for item in found.capabilities] == [
            ("h", "removed"),
            ("other", "added"),
        ]
        assert found.lines()[0] == "Capabilities: 1 added, 1 removed"


LINES = st.lists(st.sampled_from("abc"), max_size=30)


class TestLineDiff:
    @given(LINES, LINES, st.integers(0, 40))
    def test_the_blocks_turn_one_text_into_the_other(self, old, new, most):
        result = []
        position = 0
        for block in line_diff.changed_blocks(old, new, most):
            result += old[position : block.old_from]
            assert len(result) == block.new_from
            result += new[block.new_from : block.new_to]
            position = block.old_to
        assert result + old[position:] == new

    @given(LINES, LINES)
    def test_the_unified_diff_can_be_applied(self, old, new):
        result = list(old)
        shift = 0
        for line in line_diff.unified(old, new):
            if line.startswith("@@"):
                start, count = line.split()[1].lstrip("-").split(",")
                at = int(start) - (count != "0") + shift
            elif line[0] == " ":
                assert result[at] == line[1:]
                at += 1
            elif line[0] == "-":
                assert result.pop(at) == line[1:]
                shift -= 1
            else:
                result.insert(at, line[1:])
                at += 1
                shift += 1
        assert result == new

    def test_few_edits_are_found(self):
        blocks = line_diff.changed_blocks(list("abcde"), list("axbdef"))
        assert [(b.old_from, b.old_to, b.new_from, b.new_to) for b in blocks] == [
            (1, 1, 1, 2),
            (2, 3, 3, 3),
            (5, 5, 5, 6),
        ]

    def test_contexts_that_touch_are_one_hunk(self):
        old = [str(index) for index in range(20)]
        near = [*old[:5], "x", *old[6:12], "y", *old[13:]]
        assert sum(line.startswith("@@") for line in line_diff.unified(old, near)) == 1
        far = [*old[:5], "x", *old[6:13], "y", *old[14:]]
        assert sum(line.startswith("@@") for line in line_diff.unified(old, far)) == 2
