"""What a person is shown before the question (security rule S3, S22, S24, S25, S38)."""

from __future__ import annotations

import ast
import inspect
import json
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lionplug.manifest.capability import Capability
from lionplug.manifest.specifiers import Requirement
from lionplug.sources import Parameter, SourceSignature, read_signatures
from lionplug.text import exact, is_blank
from lionplug.trust import (
    disclosure,
    disclosure_lines,
    facts,
    fetching,
    file_table,
    filetypes,
    flags,
    layout,
)
from lionplug.trust.digest import tree_digest
from lionplug.trust.disclosure import Relation
from tests.trust.copies import copy_of, disclosed, unwrapped

TOOL = Capability(
    surface="tools",
    name="search",
    danger="executes",
    target="tools/search.py:search",
    files=("tools/search.py",),
    detail={"description": "Searches."},
)
AGENT = Capability(surface="agents", name="a", danger="instructs", files=("agents/a.md",))
FILES = {"tools/search.py": "def search(): 0\n", "agents/a.md": "You search.\n"}

#: What must never be interpreted or hidden, wherever it stands.
NASTY = "[bold]x[/bold]\u202e\u200b\u3164\u00ad\U000e0041\u00a0\u0430\x1b[2J\r\ny :lock: <b>"


def hook(*argv, name="PreToolUse[0][0]", **detail):
    return Capability(
        surface="hooks_external", name=name, danger="executes", argv=argv, detail=detail
    )


def shown(copy, width=80, **values):
    return disclosed(copy, **values).lines(width)


def command_in(lines, after):
    """Read a command back from the lines, as a person would copy it."""
    whole = unwrapped(lines)
    start = next(i for i, line in enumerate(whole) if line == f"  {after}")
    start = whole.index("    command", start) + 1
    for end in range(start + 1, len(whole) + 1):
        try:
            return json.loads("".join(whole[start:end]))
        except ValueError:
            continue
    raise AssertionError(lines)


def assert_harmless(lines):
    for line in lines:
        for character in line:
            assert " " <= character <= "~" or (
                unicodedata.category(character)[0] in "LMNP" and not is_blank(character)
            ), line


class TestOrder:
    def test_s22_s24_s25_the_whole_text(self, tmp_path):
        copy = copy_of(
            tmp_path,
            {
                **FILES,
                "hooks/guard": ("x", "#!/bin/sh\n"),
                "tools/helper.py": "x = 1\n",
                "latest.md": ("l", "agents/a.md"),
            },
            description="Web  research\ntoolkit",
            hosts={"lionagi": ">=0.30"},
            requires=(Requirement(name="other", specifier=">=1"),),
            python_packages=("httpx>=0.27",),
            exclude=("*.log",),
            annotations={"x-by": ["me"]},
            capabilities=(
                AGENT,
                TOOL,
                hook("hooks/guard", "--strict", event="PreToolUse"),
                Capability(
                    surface="mcp_servers",
                    name="remote",
                    danger="connects",
                    url="https://api.example/mcp",
                    detail={"headers": {"Authorization": "Bearer ${TOKEN}"}},
                ),
            ),
        )
        copy.excluded = (".git", "debug.log")
        signature = SourceSignature(
            parameters=(Parameter(name="query", annotation="str"),), doc="Search the web."
        )
        assert shown(copy, signatures={"tools/search.py:search": signature}) == [
            "Scope user, location /live/web-research",
            "First approval",
            "",
            "Name         web-research",
            "Version      1.0",
            "About        Web research toolkit",
            "Format       native",
            "For          lionagi >=0.30",
            'x-by         ["me"]',
            "Digest",
            f"  {copy.digest}",
            "",
            "Executes, with all your rights: 1 tool, 1 hook command",
            "  tools search",
            "    code         tools/search.py:search",
            "    signature    def search(query: str)",
            "    docstring    Search the web.",
            "    file         tools/search.py",
            "    description  Searches.",
            "  hooks_external PreToolUse[0][0]",
            "    command",
            '    ["hooks/guard", "--strict"]',
            '    event        "PreToolUse"',
            "",
            "Connects to: 1 MCP server",
            "  mcp_servers remote",
            "    address      https://api.example/mcp",
            "    environment  TOKEN in headers.Authorization, for https://api.example/mcp",
            '    headers      {"Authorization": "Bearer ${TOKEN}"}',
            "",
            "Instructs a model: 1 agent",
            "  agents a",
            "    file         agents/a.md",
            "",
            "Needs other plugins (checked, not installed)",
            "  other>=1",
            "",
            "Needs Python packages (checked, not installed)",
            "  httpx>=0.27",
            "",
            "Leaves out what fits a pattern",
            "  *.log",
            "",
            "Left out: neither pinned nor copied, so nothing runs it",
            "  .git",
            "  debug.log",
            "",
            "Files: every entry of the tree (9 entries)",
            "  'show NAME FILE' prints one, with what does not show made visible",
            "  run code               10 B  hooks/guard",
            "      declared by hooks_external PreToolUse[0][0]",
            "      warn: can be started as a program",
            "      code                6 B  tools/helper.py",
            "      warn: code that no capability names; declared code can start or import it",
            "      code               16 B  tools/search.py",
            "      declared by tools search",
            "      manifest            8 B  plugin.yaml",
            "      instructions       12 B  agents/a.md",
            "      declared by agents a",
            "      link                     latest.md -> agents/a.md",
            "      directory                agents",
            "      directory                hooks",
            "      directory                tools",
            "",
            "Summary",
            "  Declares 1 tool, 1 hook command, 1 MCP server, 1 agent",
            "  5 files (52 B), 3 directories, 1 link",
            "  1 with a run bit, 1 of undeclared code, 2 flagged",
            "  ! Runs with all your rights: 1 tool, 1 hook command",
            "  ! Reads from your environment: TOKEN for https://api.example/mcp",
            "  ! Holds 1 file of code that no capability names: tools/helper.py",
        ]

    def test_s24_900_entries_do_not_push_the_facts_away(self, tmp_path):
        files = {f"data/{index:04}.txt": "x" for index in range(900)}
        copy = copy_of(tmp_path, {**FILES, **files}, capabilities=(hook("npx", "evil"), TOOL))
        assert len(shown(copy)) > 900
        assert unwrapped(shown(copy))[-6:] == [
            "Summary",
            "  Declares 1 hook command, 1 tool",
            "  903 files (936 B), 3 directories, 0 links",
            "  0 with a run bit, 0 of undeclared code, 0 flagged",
            "  ! Runs with all your rights: 1 hook command, 1 tool",
            "  ! Runs code that is not pinned, fetched by npx (hooks_external PreToolUse[0][0])",
        ]

    def test_s25_what_runs_stands_first_in_the_table(self, tmp_path):
        files = {"a.txt": "x", "z.sh": ("x", "#!/bin/sh\n"), "b/y.py": "0\n", **FILES}
        copy = copy_of(tmp_path, files, capabilities=(TOOL, AGENT))
        rows = [(row.path, row.kind) for row in disclosed(copy).files]
        assert rows[:4] == [
            ("b/y.py", "code"),
            ("z.sh", "code"),
            ("tools/search.py", "code"),
            ("plugin.yaml", "manifest"),
        ]


class TestRelation:
    """S22: the second line tells an update from a stranger of the same name."""

    @pytest.mark.parametrize(
        ("relation", "line"),
        [
            (Relation(), "First approval"),
            (
                Relation(approved_at="2026-11-30T10:00:00+00:00"),
                "Update of the copy approved on 2026-11-30T10:00:00+00:00",
            ),
            (
                Relation(others=("/a/\u202eb",)),
                "Another copy of this name is approved at /a/\\u{202e}b; "
                "this is not an update of it",
            ),
            (
                Relation(approved_at="2026-11-30", others=("/a", "/b")),
                "Update of the copy approved on 2026-11-30; "
                "another copy of this name is approved at /a, /b",
            ),
        ],
    )
    def test_s22_second_line(self, tmp_path, relation, line):
        lines = unwrapped(shown(copy_of(tmp_path, {}), relation=relation, scope="project"))
        assert lines[:2] == ["Scope project, location /live/web-research", line]

    def test_s22_a_directory_of_another_name_is_said(self, tmp_path):
        lines = shown(copy_of(tmp_path, {}, name="lookalike"))
        assert lines[3:5] == [
            "Name         web-research",
            "             the directory is named lookalike; the manifest's name counts",
        ]

    def test_the_version_before_is_said(self, tmp_path):
        class Previous:
            version = "0.9\u202e"

        lines = shown(copy_of(tmp_path, {}), previous=Previous())
        assert "Version      1.0 (approved before: 0.9\\u{202e})" in lines
        Previous.version = "1.0"
        assert "Version      1.0" in shown(copy_of(tmp_path, {}, name="b"), previous=Previous())


class TestForeignText:
    def test_s24_every_field_is_shown_as_it_is(self, tmp_path):
        value = Capability(
            surface=f"s{NASTY}",
            name=f"n{NASTY}",
            danger="executes",
            target=f"t{NASTY}:f",
            argv=(f"a{NASTY}", f"b{NASTY}"),
            url=f"u{NASTY}",
            files=(f"f{NASTY}",),
            detail={f"k{NASTY}": f"v{NASTY}${{T}}", "description": NASTY},
        )
        copy = copy_of(
            tmp_path,
            FILES,
            description=NASTY,
            hosts={NASTY: NASTY},
            version=NASTY,
            requires=(NASTY,),
            python_packages=(NASTY,),
            exclude=(NASTY,),
            annotations={NASTY: NASTY},
            capabilities=(value,),
        )
        copy.location = copy.name_of_directory = NASTY
        copy.excluded = (NASTY,)
        signature = SourceSignature(
            parameters=(Parameter(name="a", annotation=NASTY, default=NASTY, default_known=True),),
            doc=NASTY,
        )
        relation = Relation(approved_at=NASTY, others=(NASTY,))
        item = disclosed(copy, scope=NASTY, relation=relation, signatures={value.target: signature})
        for width in (20, 80, 200):
            assert_harmless(item.lines(width))
        text = "\n".join(unwrapped(item.lines()))
        # Not one occurrence was swallowed: markup is text, and what hides is an escape.
        assert text.count("[bold]x[/bold]") >= 25
        assert text.count(exact(NASTY)) >= 12

    def test_s24_hostile_file_names(self, tmp_path):
        name = "[red]\u202e\u3164x.py"
        copy = copy_of(tmp_path, {name: "0\n", "a b": ("l", name)})
        lines = shown(copy)
        assert_harmless(lines)
        assert f"      code                2 B  {exact(name)}" in lines
        assert f"      link                     a b -> {exact(name)}" in lines

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    @given(
        st.lists(
            st.text(st.characters(exclude_categories=["Cs"]), max_size=120)
            | st.sampled_from([NASTY, "| x", "]", '", "', "x" * 300]),
            min_size=1,
            max_size=8,
        ),
        st.integers(20, 120),
    )
    def test_s24_the_command_can_be_read_back(self, empty_copy, argv, width):
        lines = shown(empty_copy(hook(*argv)), width)
        assert command_in(lines, "hooks_external PreToolUse[0][0]") == argv
        assert_harmless(lines)

    @pytest.fixture
    def empty_copy(self, tmp_path):
        copy = copy_of(tmp_path, {})
        manifest = copy.manifest

        def make(*capabilities):
            copy.manifest = type(manifest)(name="n", version="1", capabilities=capabilities)
            return copy

        return make

    def test_s24_nothing_is_cut(self, empty_copy):
        long = "x" * 4000
        lines = shown(empty_copy(hook(long, pattern="y" * 900)), 60)
        assert max(map(len, lines)) <= 60
        text = "".join(unwrapped(lines))
        assert long in text
        assert "y" * 900 in text


class TestSignatures:
    def lines(self, tmp_path, source, name="search"):
        tool = Capability(
            surface="tools", name="s", danger="executes", target=f"t.py:{name}", files=("t.py",)
        )
        copy = copy_of(tmp_path, {"t.py": source}, capabilities=(tool,))
        found = read_signatures({"t.py": source.encode()}, [("t.py", name)])
        item = disclosed(copy, signatures=found)
        return item, [line for line in unwrapped(item.lines()) if line.startswith(" " * 4)]

    def test_s36_why_a_signature_is_not_shown(self, tmp_path):
        item, lines = self.lines(tmp_path, "x = 1\ndef search(:\n")
        reason = "line 2 doesn't parse: invalid syntax"
        assert f"    signature    not shown: {reason}" in lines
        assert item.to_dict()["capabilities"][0]["signature_problem"] == reason
        assert not [fact for fact in item.facts if fact.startswith("Declares")]

    def test_a_function_that_the_source_does_not_have_is_a_fact(self, tmp_path):
        item, lines = self.lines(tmp_path, "def search(query): 0\n", "serch")
        assert (
            "    signature    not shown: no top-level function 'serch' (did you mean 'search'?)"
        ) in lines
        assert item.facts == (
            "Runs with all your rights: 1 tool",
            "Declares 1 function that its source does not have: t.py:serch",
        )

    def test_what_can_not_be_given_by_name_is_said(self, tmp_path):
        _, lines = self.lines(tmp_path, "def search(a, /, b, *c): 0\n")
        at = lines.index("    signature    def search(a, /, b, *c)")
        assert lines[at + 1] == "                 can't be given by name, so never passed: a, c"

    def test_without_reasons_none_is_told(self, tmp_path):
        copy = copy_of(tmp_path, FILES, capabilities=(TOOL,))
        lines = shown(copy, signatures={TOOL.target: None})
        assert "    signature    not shown" in lines


class TestComplete:
    def test_s25_the_file_table_is_the_list_of_the_digest(self, tmp_path):
        copy = copy_of(
            tmp_path,
            {**FILES, "empty": None, "l": ("l", "empty"), "x": ("x", b"\0")},
            capabilities=(TOOL,),
        )
        item = disclosed(copy)
        assert sorted(row.path for row in item.files) == sorted(copy.entries)
        assert item.digest == tree_digest(copy.entries.values())
        pins = {row.path: (row.sha256, row.target) for row in item.files}
        assert pins == {path: (e.sha256, e.target) for path, e in copy.entries.items()}
        for path in copy.entries:
            assert any(path in line for line in item.lines())

    def test_s24_to_dict_is_complete_and_json(self, tmp_path):
        copy = copy_of(tmp_path, FILES, capabilities=(TOOL, AGENT, hook("npx", NASTY, a="${T}")))
        item = disclosed(copy, signatures={TOOL.target: SourceSignature(doc="d")})
        data = json.loads(json.dumps(item.to_dict()))
        assert data["digest"] == copy.digest
        assert [row["path"] for row in data["files"]] == [row.path for row in item.files]
        declared = [entry["declaration"] for entry in data["capabilities"]]
        assert sorted(map(str, declared)) == sorted(
            str(one.to_dict()) for one in copy.manifest.capabilities
        )
        assert data["capabilities"][0]["signature"]["doc"] == "d"
        assert data["capabilities"][1]["fetches"] == "npx"
        assert data["capabilities"][1]["environment"] == [
            {"name": "T", "place": "a", "destination": "npx"}
        ]
        assert data["relation"] == {"text": "First approval", "approved_at": None, "others": []}
        assert (data["executes"], data["data_only"]) == (True, False)
        assert data["counts"]["tools"] == 1
        assert data.keys() == {
            *(attribute for attribute in disclosure.Disclosure.__annotations__),
            *("executes", "data_only"),
        }

    def test_s36_a_signature_that_is_not_known_is_not_shown(self, tmp_path):
        copy = copy_of(tmp_path, FILES, capabilities=(TOOL,))
        assert "    signature    not shown" in shown(copy, signatures={TOOL.target: None})
        uncertain = SourceSignature(uncertain=True)
        lines = shown(copy, signatures={TOOL.target: uncertain})
        assert lines[lines.index("    signature    def search()") + 1].lstrip() == (
            "decorated, assigned again or in a branch: may be another"
        )

    def test_s25_what_declares_a_file(self, tmp_path):
        skill = Capability(surface="skills", name="s", danger="instructs", files=("skills/s",))
        linked = Capability(surface="agents", name="l", danger="instructs", files=("link.md",))
        copy = copy_of(
            tmp_path,
            {
                **FILES,
                "skills/s/SKILL.md": "x",
                "skills/s/run.sh": ("x", "#!/bin/sh\n"),
                "real.md": "x",
                "link.md": ("l", "real.md"),
                "hooks/a.py": "0\n",
            },
            capabilities=(
                TOOL,
                AGENT,
                skill,
                linked,
                hook("python3", "./hooks/a.py", "hooks/a.py"),
            ),
        )
        declared = {row.path: row.declared_by for row in disclosed(copy).files if row.declared_by}
        assert declared == {
            "tools/search.py": ("tools search",),
            "agents/a.md": ("agents a",),
            "skills/s": ("skills s",),
            "skills/s/SKILL.md": ("skills s",),
            "skills/s/run.sh": ("skills s",),
            "link.md": ("agents l",),
            "real.md": ("agents l",),
            "hooks/a.py": ("hooks_external PreToolUse[0][0]",),
        }

    def test_s25_a_file_that_is_too_large_to_look_into(self, tmp_path, monkeypatch):
        monkeypatch.setattr(file_table, "LARGEST_EXAMINED", 10)
        copy = copy_of(tmp_path, {"a.dat": b"\0" * 11})
        (row,) = (row for row in disclosed(copy).files if row.path == "a.dat")
        assert [str(flag) for flag in row.flags] == ["not examined beyond its first 0 of 11 bytes"]

    def test_s25_python_too_large_to_look_into_is_refused(self, tmp_path, monkeypatch):
        monkeypatch.setattr(file_table, "LARGEST_EXAMINED", 10)
        item = disclosed(copy_of(tmp_path, {"a.py": b"#" * 11, "b.txt": ("l", "a.py")}))
        assert item.refusals == ("a.py: not examined beyond its first 0 of 11 bytes",)

    @pytest.mark.parametrize("name", ["mod.py", "pkg/mod.pyw"])
    def test_s25_a_link_that_makes_python_of_a_file_hides_no_encoding(self, tmp_path, name):
        up = "../" * name.count("/")
        files = {
            "wide.txt": "x = 1".encode("utf-16"),
            name: ("l", f"{up}wide.txt"),
            "cookie.dat": "# coding: utf-7\n",
            "other.py": ("l", "hop"),
            "hop": ("l", "cookie.dat"),
        }
        item = disclosed(copy_of(tmp_path, files))
        kinds = {row.path: row.kind for row in item.files}
        assert (kinds["wide.txt"], kinds["cookie.dat"]) == ("code", "code")
        assert [text.partition(":")[0] for text in item.refusals] == ["cookie.dat", "wide.txt"]


class TestDataOnly:
    LINE = "  Data only: no code, no run bits, no commands, no servers"

    def test_s25_said_of_data(self, tmp_path):
        item = disclosed(copy_of(tmp_path, {"agents/a.md": "x"}, capabilities=(AGENT,)))
        assert (item.data_only, item.executes) == (True, False)
        assert self.LINE in item.lines()
        assert "Executes, with all your rights: nothing" in item.lines()
        assert item.lines()[-1] == "  ! Puts text in front of a model: 1 agent"

    @pytest.mark.parametrize(
        ("files", "capabilities"),
        [
            ({"data": ("x", "x")}, ()),
            ({"a.py": ""}, ()),
            ({"a": "#!/bin/sh"}, ()),
            ({"Makefile": ""}, ()),
            ({}, (hook("true"),)),
            ({}, (Capability(surface="s", name="n", danger="connects", url="https://x"),)),
            ({}, (Capability(surface="s", name="n", danger="executes"),)),
            ({}, (Capability(surface="s", name="n", danger="a new kind"),)),
        ],
    )
    def test_s23_s25_not_said_of_anything_else(self, tmp_path, files, capabilities):
        item = disclosed(copy_of(tmp_path, files, capabilities=capabilities))
        assert (item.data_only, item.executes) == (False, True)
        assert self.LINE not in item.lines()


class TestRefusals:
    def test_none(self, tmp_path):
        capabilities = tuple(hook("x" * 4096, name=str(index)) for index in range(200))
        assert disclosed(copy_of(tmp_path, FILES, capabilities=capabilities)).refusals == ()

    def test_s24_a_long_element(self, tmp_path):
        item = disclosed(copy_of(tmp_path, {}, capabilities=(hook("a", "\u00e9" * 2049),)))
        reason = (
            "hooks_external PreToolUse[0][0]: element 1 of the command has 4,098 bytes; "
            "more than 4,096 can't be reviewed"
        )
        assert item.refusals == (reason,)
        assert unwrapped(item.lines())[-1] == f"  CAN'T BE APPROVED: {reason}"

    def test_s24_many_that_execute(self, tmp_path):
        capabilities = tuple(hook("a", name=str(index)) for index in range(201))
        item = disclosed(copy_of(tmp_path, {}, capabilities=capabilities))
        assert item.refusals == (
            "201 capabilities execute something; more than 200 can't be reviewed",
        )

    def test_s25_what_deceives(self, tmp_path):
        files = {"a\u202e.py": "# coding: utf-7\n", "plugin.yaml": "# \u2028"}
        item = disclosed(copy_of(tmp_path, files))
        assert item.refusals == (
            "a\\u{202e}.py: declares the source encoding utf-7, so Python reads other code than "
            "is shown; only UTF-8 can be approved",
            "plugin.yaml: 1 line separator that editors don't show (at 1:3)",
        )
        assert item.facts[0] == (
            "What you see is not all there is in 2 files: a\\u{202e}.py, plugin.yaml"
        )


class TestEnvironment:
    def test_s38_names_are_listed_with_their_place(self, tmp_path):
        server = Capability(
            surface="mcp_servers",
            name="m",
            danger="executes",
            argv=("node", "${PLUGIN_ROOT}/x.js", "--key=${KEY}"),
            detail={
                "env": {"A": "${TOKEN:-none} ${TOKEN}", "B": "${CLAUDE_PLUGIN_DATA}"},
                "list": [["${DEEP}"], 5, None],
                "x-note": "${NOT_READ}",
            },
        )
        item = disclosed(copy_of(tmp_path, {}, capabilities=(server,)))
        (one,) = item.capabilities
        assert [(use.name, use.place, use.destination) for use in one.environment] == [
            ("KEY", "argv[2]", "node"),
            ("TOKEN", "env.A", "node"),
            ("DEEP", "list[0][0]", "node"),
        ]


class TestFacts:
    def test_s24_at_most_three_and_what_executes_first(self, tmp_path):
        remote = Capability(surface="mcp_servers", name="r", danger="connects", url="https://${H}")
        copy = copy_of(
            tmp_path,
            {**FILES, "b.md": "\u200b", "c.py": "", "d.dat": b"\0"},
            capabilities=(AGENT, remote, TOOL, hook("npx", "x")),
        )
        assert disclosed(copy).facts == (
            "Runs with all your rights: 1 tool, 1 hook command",
            "What you see is not all there is in 1 file: b.md",
            "Runs code that is not pinned, fetched by npx (hooks_external PreToolUse[0][0])",
        )

    def test_many_names_are_counted(self, tmp_path):
        copy = copy_of(tmp_path, {f"{index}.py": "" for index in range(5)})
        assert disclosed(copy).facts == (
            "Holds 5 files of code that no capability names: 0.py, 1.py, 2.py and 2 more",
        )

    def test_connections(self, tmp_path):
        remote = Capability(surface="x\u202e", name="r", danger="connects")
        item = disclosed(copy_of(tmp_path, {}, capabilities=(remote,)))
        assert item.facts == ("Connects to x\\u{202e} r",)
        assert "  Declares 1 x\\u{202e} entry" in item.lines()


class TestStagedCopyOnly:
    """S3: the disclosure takes a staged tree and has no means to look at anything else."""

    MODULES = (disclosure, disclosure_lines, facts, file_table, filetypes, flags, fetching, layout)
    FORBIDDEN = ("os", "io", "pathlib", "shutil", "subprocess", "glob", "tempfile", "importlib")

    @pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
    def test_s3_no_module_of_the_disclosure_can_open_a_path(self, module):
        tree = ast.parse(inspect.getsource(module))
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                assert not {alias.name.split(".")[0] for alias in node.names} & {*self.FORBIDDEN}
            elif isinstance(node, ast.ImportFrom):
                assert node.module.split(".")[0] not in self.FORBIDDEN
                assert not node.module.startswith(("lionplug.files.opening", "lionplug.scopes"))
            elif isinstance(node, ast.Name):
                assert node.id not in ("open", "__import__", "eval", "exec")

    def test_s3_it_takes_a_staged_tree_and_no_path(self):
        parameters = inspect.signature(disclosure.disclose).parameters
        assert parameters["staged"].annotation == "StagedTree"
        assert not [name for name in parameters if "path" in name or "location" in name]

    def test_s3_the_location_is_never_read(self, tmp_path):
        copy = copy_of(tmp_path, FILES, capabilities=(TOOL,))
        copy.location = "/nowhere/at/all"
        assert disclosed(copy).location == "/nowhere/at/all"


class TestLayout:
    LINES = st.builds(
        "".join,
        st.tuples(
            st.sampled_from(["", "  ", "    label        ", " " * 70]),
            st.text(
                st.sampled_from(" /x") | st.characters(min_codepoint=0x20, max_codepoint=0x7E),
                max_size=300,
            ),
        ),
    )

    @given(LINES, st.integers(0, 100), st.none() | st.integers(2, 60))
    def test_s24_wrapping_loses_nothing(self, line, width, column):
        first, *others = layout.wrap(line, width, column)
        width = max(width, layout.MIN_WIDTH)
        assert all(len(piece) <= width for piece in (first, *others))
        starts = {piece[: piece.index("| ") + 2] for piece in others}
        assert len(starts) <= 1
        start = "".join(starts)
        assert start.strip() in ("", "|")
        if column is not None and others and column <= width - layout.MIN_ROOM:
            assert len(start) == column
        assert first + "".join(piece[len(start) :] for piece in others) == line
        if line.lstrip(" ")[:1] != "|":
            assert unwrapped([first, *others]) == [line]

    @given(LINES, st.integers(40, 100))
    def test_a_word_that_fits_on_a_line_is_not_broken(self, line, width):
        first, *others = layout.wrap(line, width)
        if others:
            start = others[0].index("| ") + 2
            room = width - start
            whole = first[start:] + "".join(piece[start:] for piece in others)
            position = len(first) - start
            for piece in others:
                before, after = whole[:position], whole[position:]
                word = before.rpartition(" ")[2] + after.partition(" ")[0]
                assert before.endswith((" ", "/")) or len(word) > room or not before.strip()
                position += len(piece) - start

    def test_at_spaces_then_after_slashes_then_anywhere_below_the_value(self):
        path = "/home/me/.lionplug/plugins/web-research/tools/checkout-report"
        assert layout.wrap_all(
            [
                layout.Line(f"    description  {'many words ' * 4}", 17),
                layout.Line(f"    file         {path}", 17),
                layout.Line(f"    pattern      {'x' * 50}", 17),
                f"Scope user, location {path}",
                f"  ! Runs {'a lot ' * 8}",
            ],
            50,
        ) == [
            "    description  many words many words many words ",
            "               | many words ",
            "    file         /home/me/.lionplug/plugins/",
            "               | web-research/tools/",
            "               | checkout-report",
            f"    pattern      {'x' * 33}",
            f"               | {'x' * 17}",
            "Scope user, location /home/me/.lionplug/plugins/",
            "| web-research/tools/checkout-report",
            "  ! Runs a lot a lot a lot a lot a lot a lot a ",
            "  | lot a lot ",
        ]

    def test_s24_no_text_looks_like_the_rest_of_the_line_above(self, tmp_path):
        copy = copy_of(tmp_path, {}, exclude=("*.log", "| rm", "|x"))
        copy.excluded = ("a", "| b")
        lines = shown(copy)
        assert "  \\u{7c} rm" in lines
        assert "  \\u{7c}x" in lines
        assert "  \\u{7c} b" in lines

    @pytest.mark.parametrize(
        ("size", "text"),
        [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (2**20, "1.0 MiB"), (2**31, "2.0 GiB")],
    )
    def test_sizes(self, size, text):
        assert layout.size_text(size) == text

    def test_plural(self):
        assert [layout.plural(n, "entry") for n in (0, 1, 2)] == [
            "0 entries",
            "1 entry",
            "2 entries",
        ]
        assert layout.plural(1200, "key") == "1,200 keys"
