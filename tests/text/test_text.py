"""Foreign text made fit to be shown (security rule S24, S37)."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lionplug.text import (
    ARGV_COLUMNS,
    MARKS_PER_LETTER,
    argv_json,
    exact,
    is_blank,
    json_text,
    prose,
    quote,
    readable,
    visible_kind,
)

#: Any text at all, lone surrogates included, with what is likely to confuse made likely.
ANY_TEXT = st.text(
    st.one_of(
        st.characters(exclude_categories=()),
        st.sampled_from("\\u{}41\u200b\u202e\u0301\n\r\t [e\u3164\u00a0\ufe0f\U000e0041"),
    )
)

#: Characters that must never reach a terminal as they are, by name.
HIDDEN = {
    "zero width space": "\u200b",
    "zero width joiner": "\u200d",
    "right-to-left override": "\u202e",
    "isolate": "\u2066",
    "hangul filler": "\u3164",
    "halfwidth hangul filler": "\uffa0",
    "hangul choseong filler": "\u115f",
    "hangul jungseong filler": "\u1160",
    "soft hyphen": "\u00ad",
    "grapheme joiner": "\u034f",
    "khmer inherent vowel q": "\u17b4",
    "khmer inherent vowel aa": "\u17b5",
    "mongolian selector": "\u180b",
    "mongolian vowel separator": "\u180e",
    "mongolian selector four": "\u180f",
    "variation selector": "\ufe0f",
    "variation selector 17": "\U000e0100",
    "tag": "\U000e0041",
    "no-break space": "\u00a0",
    "ideographic space": "\u3000",
    "braille blank": "\u2800",
    "byte order mark": "\ufeff",
    "khitan filler": "\U00016fe4",
    "egyptian blank": "\U00013441",
    "next line": "\x85",
    "line separator": "\u2028",
    "escape": "\x1b",
    "bell": "\x07",
    "delete": "\x7f",
    "carriage return": "\r",
    "csi": "\x9b",
    "private use": "\ue000",
    "lone surrogate": "\ud800",
}


def decode(shown: str) -> str:
    """Read back what ``exact`` and ``readable`` wrote."""
    return re.sub(r"\\u\{([0-9a-f]+)\}", lambda match: chr(int(match[1], 16)), shown)


class TestExact:
    @given(ANY_TEXT)
    @example("\\u{41}")
    @example("\\\\u{41}")
    @example("\\u\u200b{41}")
    def test_s24_exact_is_printable_ascii_and_can_be_read_back(self, text):
        shown = exact(text)
        assert all(" " <= character <= "~" for character in shown)
        assert decode(shown) == text

    @given(ANY_TEXT, ANY_TEXT)
    def test_s24_exact_shows_different_texts_differently(self, one, other):
        assert (exact(one) == exact(other)) == (one == other)

    @given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)))
    def test_ascii_without_an_escape_is_kept(self, text):
        assert exact(text.replace("\\u{", "")) == text.replace("\\u{", "")

    def test_lookalikes_and_escapes(self):
        assert exact("p\u0430ypal\u202e\\u{202e}") == "p\\u{430}ypal\\u{202e}\\u{5c}u{202e}"

    def test_s24_markup_is_text(self):
        assert exact("[bold]x[/bold] :lock: <b>") == "[bold]x[/bold] :lock: <b>"


class TestProse:
    @given(ANY_TEXT)
    def test_s24_prose_shows_only_what_is_visible(self, text):
        shown = prose(text)
        for character in shown:
            if not " " <= character <= "~":
                assert unicodedata.category(character)[0] in "LMNP"
                assert unicodedata.category(character) in (
                    *("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd"),
                    *("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"),
                )
                assert not is_blank(character)

    @given(ANY_TEXT)
    def test_spaces_are_single_and_inside(self, text):
        shown = prose(text)
        assert "  " not in shown
        assert shown == shown.strip(" ")

    @given(st.text(st.sampled_from("ae\u0301\u0302 .\u4e00\u200b")))
    def test_s24_marks_stand_on_a_letter_and_never_pile_up(self, text):
        runs = re.finditer("(^|.)([\u0301\u0302]+)", prose(text))
        for run in runs:
            assert len(run[2]) <= MARKS_PER_LETTER
            assert run[1] in ("a", "e", "\u4e00")

    @pytest.mark.parametrize("character", HIDDEN.values(), ids=HIDDEN)
    def test_s24_what_does_not_show_is_escaped(self, character):
        shown = prose(f"a{character}b")
        if character == "\r":
            assert shown == "a\\u{d}b"
        else:
            assert shown == f"a\\u{{{ord(character):x}}}b"
        assert readable(f"a{character}b") == f"a\\u{{{ord(character):x}}}b"

    @given(ANY_TEXT, st.integers(0, 60))
    def test_limit(self, text, limit):
        shown = prose(text, limit)
        whole = prose(text)
        assert len(shown) <= limit or (shown == whole and len(whole) <= limit)
        if shown != whole:
            assert shown.endswith("..."[:limit])
            kept = shown.removesuffix("...")
            assert whole.startswith(kept) or limit < 3

    def test_limit_does_not_cut_an_escape(self):
        assert prose("abc\u200bdef", 10) == "abc..."
        assert prose("word another", 8) == "word..."
        assert prose("short", 5) == "short"

    def test_scripts_stay_readable(self):
        text = "Gr\u00fc\u00dfe, \u041f\u0440\u0438\u0432\u0435\u0442, \u3053\u3093\u306b\u3061"
        text += "\u306f\u3002 \u0928\u092e\u0938\u094d\u0924\u0947 \u0660\u0661"
        assert prose(text) == text

    def test_line_breaks_become_a_space(self):
        assert prose(" one\r\ntwo\n\n\tthree ") == "one two three"

    def test_symbols_are_escaped(self):
        assert (
            prose("\u2713 \U0001f512 \u20ac5 \u00bd") == "\\u{2713} \\u{1f512} \\u{20ac}5 \\u{bd}"
        )

    def test_s24_an_escape_that_is_written_out_is_told_apart(self):
        assert prose("\\u{41} \u200b") == "\\u{5c}u{41} \\u{200b}"


class TestReadable:
    @given(ANY_TEXT)
    def test_can_be_read_back(self, text):
        assert decode(readable(text)) == text

    def test_keeps_spaces_and_escapes_tabs(self):
        assert readable("  a\t b ") == "  a\\u{9} b "

    @given(ANY_TEXT)
    def test_shows_nothing_that_prose_does_not(self, text):
        assert all(visible_kind(character) for character in readable(text))


class TestArgv:
    @given(st.lists(st.text()))
    def test_s24_argv_is_read_back_from_its_lines(self, argv):
        lines = argv_json(argv)
        assert json.loads("\n".join(lines)) == argv
        assert all(" " <= character <= "~" for line in lines for character in line)

    def test_one_line_if_it_fits(self):
        argv = ["hooks/run", "[bold]", "\u202e", "\x7f"]
        assert argv_json(argv) == ['["hooks/run", "[bold]", "\\u202e", "\\u007f"]']
        assert argv_json([]) == ["[]"]

    def test_one_element_per_line_if_long(self):
        fits = ["x" * (ARGV_COLUMNS - 4)]
        assert argv_json(fits) == [f'["{fits[0]}"]']
        assert argv_json(["a", fits[0]]) == ["[", '  "a",', f'  "{fits[0]}"', "]"]

    @given(st.text())
    def test_json_text(self, text):
        assert json.loads(json_text(text)) == text


class TestQuote:
    @pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
    @pytest.mark.parametrize(
        "text",
        [
            "plain",
            "two words",
            "x @ https://evil/x.whl?$(touch${IFS}pwned)",
            "`id`",
            "it's",
            "\\",
            "j\u00f6rg's\n\u202e\\",
            "",
            "\udcff",
        ],
    )
    def test_s37_a_shell_reads_the_text_back(self, text):
        shown = quote(text)
        assert all(" " <= character <= "~" for character in shown)
        command = ["bash", "-c", f"printf %s {shown}"]
        done = subprocess.run(command, capture_output=True, check=True)
        assert done.stdout == text.encode("utf-8", "surrogateescape")

    @given(ANY_TEXT)
    @example("\ud800")
    def test_is_printable_ascii(self, text):
        assert all(" " <= character <= "~" for character in quote(text))
