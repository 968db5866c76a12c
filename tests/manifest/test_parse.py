"""Reading ``plugin.yaml``: names, hosts, exclusions, normal form, and how fast."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from lionplug.documents.declare import declared
from lionplug.documents.fields import Integer, Text
from lionplug.errors import ManifestError, UsageError
from lionplug.manifest.capability import DANGERS, Capability
from lionplug.manifest.names import (
    is_host_name,
    is_plugin_name,
    is_tool_name,
    why_not_plugin_name,
)
from lionplug.manifest.parse import MANIFEST_FILE, parse_manifest
from lionplug.manifest.references import Reference, path_of, why_not_path, why_not_reference
from lionplug.manifest.schema import manifest_schema
from lionplug.manifest.section import Entry, Section
from lionplug.manifest.sections import SECTIONS
from lionplug.manifest.specifiers import Requirement, parse_requirement, why_not_package

HEAD = "name: demo\nversion: '1.0'\nlionagi: '>=0.30,<1.0'\n"

WHOLE = (
    HEAD
    + """description: Web research
x-origin: here
hosts: {llm: '>=0.28'}
other: ~=1.2
requires: [search, 'fetch>=1.2']
python_packages: [httpx>=0.27]
exclude: [tests]
capabilities:
  agents: [agents/researcher.md]
  tools:
    - name: web_search
      target: tools/search.py:web_search
      description: Search.
      parameters: {type: object}
      x-cost: 2
    - {name: page, command: [bin/page, --fast]}
  hooks_external:
    PreToolUse:
      - matcher: web_search
        hooks:
          - {type: command, command: [python3, hooks/a.py], timeout: 5}
          - {type: command, command: [hooks/b]}
  playbooks: [playbooks/deep.playbook.yaml]
  providers: [{module: providers/a.py, names: [one]}]
  packs: [packs/p.yml]
  skills: [skills/pdf]
  prompts: [prompts/review.md]
  mcp_servers:
    local: {command: bin/server, args: [-v], env: {A: b}, cwd: bin}
    remote: {url: 'https://example.org/mcp', headers: {X-A: b}}
  hookimpls:
    - {hook: before, target: 'h.py:before', tryfirst: true, optional: true}
"""
)


def parse(text: str, host: str = "lionagi", sections: Mapping[str, Section] = SECTIONS):
    return parse_manifest(text.encode(), host=host, sections=sections)


def messages(text: str, host: str = "lionagi") -> list[str]:
    with pytest.raises(ManifestError) as caught:
        parse(text, host)
    return [str(problem) for problem in caught.value.problems]


def test_a_whole_manifest():
    manifest = parse(WHOLE)
    assert (manifest.name, manifest.version, manifest.description) == (
        "demo",
        "1.0",
        "Web research",
    )
    assert manifest.hosts == {"llm": ">=0.28", "lionagi": ">=0.30,<1.0", "other": "~=1.2"}
    assert manifest.requires == (Requirement("search"), Requirement("fetch", ">=1.2"))
    assert manifest.python_packages == ("httpx>=0.27",)
    assert manifest.exclude == ("tests",)
    assert manifest.annotations == {"x-origin": "here"}
    assert [one.to_dict() for one in manifest.capabilities] == [
        {
            "surface": "agents",
            "name": "researcher",
            "danger": "instructs",
            "files": ["agents/researcher.md"],
        },
        {
            "surface": "tools",
            "name": "web_search",
            "danger": "executes",
            "target": "tools/search.py:web_search",
            "files": ["tools/search.py"],
            "detail": {"description": "Search.", "parameters": {"type": "object"}, "x-cost": 2},
        },
        {
            "surface": "tools",
            "name": "page",
            "danger": "executes",
            "argv": ["bin/page", "--fast"],
            "files": ["bin/page"],
        },
        {
            "surface": "hooks_external",
            "name": "PreToolUse[0][0]",
            "danger": "executes",
            "argv": ["python3", "hooks/a.py"],
            "detail": {"event": "PreToolUse", "matcher": "web_search", "timeout": 5},
        },
        {
            "surface": "hooks_external",
            "name": "PreToolUse[0][1]",
            "danger": "executes",
            "argv": ["hooks/b"],
            "files": ["hooks/b"],
            "detail": {"event": "PreToolUse", "matcher": "web_search"},
        },
        {
            "surface": "playbooks",
            "name": "deep",
            "danger": "instructs",
            "files": ["playbooks/deep.playbook.yaml"],
        },
        {
            "surface": "providers",
            "name": "providers/a.py",
            "danger": "executes",
            "files": ["providers/a.py"],
            "detail": {"names": ["one"]},
        },
        {"surface": "packs", "name": "p", "danger": "data", "files": ["packs/p.yml"]},
        {"surface": "skills", "name": "pdf", "danger": "instructs", "files": ["skills/pdf"]},
        {
            "surface": "prompts",
            "name": "review",
            "danger": "instructs",
            "files": ["prompts/review.md"],
        },
        {
            "surface": "mcp_servers",
            "name": "local",
            "danger": "executes",
            "argv": ["bin/server", "-v"],
            "files": ["bin/server"],
            "detail": {"env": {"A": "b"}, "cwd": "bin"},
        },
        {
            "surface": "mcp_servers",
            "name": "remote",
            "danger": "connects",
            "url": "https://example.org/mcp",
            "detail": {"headers": {"X-A": "b"}},
        },
        {
            "surface": "hookimpls",
            "name": "before",
            "danger": "executes",
            "target": "h.py:before",
            "files": ["h.py"],
            "detail": {"tryfirst": True, "optional": True},
        },
    ]
    assert {one.danger for one in manifest.capabilities} == set(DANGERS)
    assert manifest.capability("tools", "page") is manifest.capabilities[2]
    assert manifest.capability("tools", "researcher") is None
    assert pickle.loads(pickle.dumps(manifest)) == manifest


def test_s12_the_normal_form_leaves_out_defaults_and_is_stable():
    manifest = parse(WHOLE)
    assert json.loads(json.dumps(manifest.to_dict())) == manifest.to_dict()
    # Published: a change of this digest would put every approval in question.
    assert manifest.digest == EXPECTED_DIGEST
    moved = WHOLE.replace("exclude: [tests]\n", "") + "exclude:\n- 'tests'  # a comment\n"
    assert parse(moved).digest == manifest.digest
    assert parse(WHOLE.replace("Search.", "Find.")).digest != manifest.digest
    assert parse(HEAD).to_dict() == {
        "name": "demo",
        "version": "1.0",
        "hosts": {"lionagi": ">=0.30,<1.0"},
    }
    bare = Capability(surface="tools", name="a", danger="executes")
    assert bare.to_dict() == {"surface": "tools", "name": "a", "danger": "executes"}


EXPECTED_DIGEST = "sha256:ef5077305c08756478867fd0c8aa4f4c756239bf15d759a953c725038cb82009"


@pytest.mark.parametrize("name", ["on", "no", "null", "123", "0x1f", "true", "1e5", "a-", "a" * 32])
def test_s30_names_that_yaml_takes_for_something_else(name):
    assert parse(f"name: {name}\nversion: 1.10\n").name == name
    assert parse(f"name: {name}\nversion: 1.10\n").version == "1.10"


@pytest.mark.parametrize(
    "name", ["", "-a", "A", "a_b", "a b", "a" * 33, "é", "a\n", "\uff41", "user", "installed"]
)
def test_names_that_are_none(name):
    assert not is_plugin_name(name)
    [message] = messages(f"name: {json.dumps(name)}\nversion: 1\n")
    assert message.startswith("plugin.yaml:1:7: name: expected ")


def test_reserved_names_are_named():
    assert why_not_plugin_name("user") == ("expected a name other than installed, project, user")


def test_names_of_tools_and_hosts():
    assert is_tool_name("a-B_9" * 12)
    assert not any(map(is_tool_name, ["", "a.b", "a" * 65, "a\n", "é"]))
    assert is_host_name("lion-agi_2")
    assert not any(map(is_host_name, ["", "-a", "a.b", "x y", "a" * 65]))


def test_neither_key_nor_hosts_is_no_fault():
    assert parse("name: demo\nversion: 1\n").hosts == {}
    assert parse("name: demo\nversion: 1\nllm: '>=1'\n").hosts == {"llm": ">=1"}
    assert parse("name: demo\nversion: 1\nhosts: {lionagi: '>=1'}\n").hosts == {"lionagi": ">=1"}


@pytest.mark.parametrize("value", ["'1.0'", "''", "any", "[1]", "'*'", "','", "{a: b}", "'>=é'"])
def test_another_key_is_a_host_only_with_a_version_range(value):
    [message] = messages(f"name: demo\nversion: 1\nllm: {value}\n")
    assert message.startswith("plugin.yaml:3:1: llm: the key 'llm' is not known")


def test_the_hosts_own_key_must_be_right():
    assert messages("name: demo\nversion: 1\nlionagi: 0.30\n") == [
        "plugin.yaml:3:10: lionagi: expected a version range such as '>=1.2,<2' (PEP 440), "
        "found '0.30'."
    ]


def test_the_error_carries_plugin_and_file():
    with pytest.raises(ManifestError) as caught:
        parse("name: demo\nversion: 1\nnme: 2\n")
    error = caught.value
    assert (error.plugin, error.file, error.field) == ("demo", "plugin.yaml", "nme")
    assert error.command is None
    assert pickle.loads(pickle.dumps(error)).problems == error.problems


def test_problems_of_the_head_and_of_sections_come_together():
    text = "name: demo\nvresion: 1\ncapabilities:\n  tools: [{name: a}]\n  agents: [a.txt]\n"
    assert [line.split(": ")[0] for line in messages(text)] == [
        "plugin.yaml:1:1",
        "plugin.yaml:2:1",
        "plugin.yaml:4:11",
        "plugin.yaml:5:12",
    ]


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("plugin.yaml", "plugin.yaml"),
        ("*", "plugin.yaml"),
        ("**/*.py", "tools/a.py"),
        ("tools", "tools/a.py"),
        ("skills", "skills/pdf"),
    ],
)
def test_s13_a_pattern_that_leaves_out_what_is_declared_is_an_error(pattern, path):
    text = (
        f"{HEAD}exclude: ['{pattern}']\ncapabilities:\n"
        "  tools: [{name: a, target: 'tools/a.py:f'}]\n  skills: [skills/pdf]\n"
    )
    [message] = messages(text)
    assert message.startswith(
        f"plugin.yaml:4:11: exclude[0]: the pattern '{pattern}' leaves out '{path}', which "
    )


@pytest.mark.parametrize("argument", ["__pycache__/x.py", ".git/hooks/x", "tests/x.py"])
def test_s13_an_argument_that_names_what_is_left_out_is_an_error(argument):
    text = (
        f"{HEAD}exclude: [tests]\ncapabilities:\n"
        f"  tools: [{{name: a, command: [python3, {argument}]}}]\n"
    )
    assert messages(text) == [
        f"plugin.yaml:6:11: capabilities.tools: the argument '{argument}' is a path that is no "
        "part of the plugin; name a file that is."
    ]


def test_s13_references_through_directories_that_are_never_copied():
    for path in ("__pycache__/t.py", "a/__pycache__/t.py"):
        assert why_not_reference(f"{path}:run") == (
            f"expected a path outside '{path.rpartition('/')[0]}', which is never part of a plugin"
        )
    assert why_not_path(".git/p.md") == (
        "expected a path outside '.git', which is never part of a plugin"
    )
    assert why_not_path(".GIT/p.md") is None
    assert why_not_path("a/.git/p.md") is None


GOOD_PATHS = ["a", "a/b.md", "a b/c", ".hidden/x", "a/..b", "é/ü.md", "_x", "a" * 1024]
BAD_PATHS = [
    "",
    "/a",
    "a/",
    "a//b",
    ".",
    "./a",
    "a/../b",
    "..",
    "a\\b",
    "C:/a",
    "a:b",
    "a\0",
    "a\n",
]
BAD_PATHS += ["\u200b", "a\u202eb", "a" * 1025, "~/a\x7f"]


@pytest.mark.parametrize("path", GOOD_PATHS)
def test_paths(path):
    assert why_not_path(path) is None


@pytest.mark.parametrize("path", BAD_PATHS)
def test_what_is_no_path(path):
    assert why_not_path(path).startswith("expected ")


PATHS = st.text(st.sampled_from("ab./\\:~ \0é"), max_size=12)


@given(PATHS)
def test_a_path_never_leaves_the_bundle(path):
    if why_not_path(path) is None:
        segments = path.split("/")
        assert not {"", ".", ".."} & set(segments)
        assert not any(character in path for character in "\\:\0")


def test_references_are_read_and_written():
    reference = Reference.parse("tools/search.py:web_search")
    assert (reference.path, reference.attribute) == ("tools/search.py", "web_search")
    assert str(reference) == "tools/search.py:web_search"
    assert path_of(str(reference)) == "tools/search.py"
    with pytest.raises(UsageError) as caught:
        Reference.parse("tools/search.py")
    assert str(caught.value) == (
        "expected 'path.py:function' with exactly one colon, found 'tools/search.py'."
    )


@pytest.mark.parametrize(
    "text", ["a.py:f", "a-b/_c.py:_f", "a.py:größe", "a.py:match", "a.py:__f", "a.py:F1"]
)
def test_references(text):
    assert why_not_reference(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a.py",
        "a.py:",
        ":f",
        "a.py:f:g",
        "a.py: f",
        "a.py:f ",
        "a.py:f\n",
        "a.py:f.g",
        "a.py:None",
        "a.py:def",
        "a.py:__init__",
        "a.py:\ufb01x",
        ".py:f",
        "a.b.py:f",
        "a.b/c.py:f",
        "é.py:f",
        "a.PY:f",
        "a.pyc:f",
        "a/:f",
    ],
)
def test_what_is_no_reference(text):
    assert why_not_reference(text).startswith("expected ")


@frozen(kw_only=True)
class Fleet(Entry):
    """A surface that a host adds."""

    size: int = declared(Integer(minimum=1, maximum=9), doc="How many.")
    leader: str = declared(Text(), doc="Who leads.", default="")

    def capability(self, section: Section, key: str) -> Capability:
        return Capability(
            surface=section.key, name=key, danger=section.danger, detail={"size": self.size}
        )


FLEETS = Section(
    key="fleets",
    entry=Fleet,
    layout="mapping",
    danger="data",
    doc="Fleets.",
    keys=Text(pattern="[a-z]+", hint="letters"),
)


def test_a_surface_from_outside_gets_parsing_messages_and_schema_for_free():
    sections = {**SECTIONS, "fleets": FLEETS}
    text = HEAD + "capabilities:\n  fleets:\n    red: {size: 3}\n"
    [capability] = parse(text, sections=sections).capabilities
    assert capability.to_dict() == {
        "surface": "fleets",
        "name": "red",
        "danger": "data",
        "detail": {"size": 3},
    }
    with pytest.raises(ManifestError) as caught:
        parse(text.replace("size: 3", "sizes: 3"), sections=sections)
    assert [str(problem) for problem in caught.value.problems] == [
        "plugin.yaml:6:10: capabilities.fleets.red: the key 'size' is missing; add it.",
        "plugin.yaml:6:11: capabilities.fleets.red.sizes: the key 'sizes' is not known (did you "
        "mean 'size'?). Keys of your own must begin with 'x-'.",
    ]
    schema = manifest_schema("lionagi", sections)
    fleets = schema["properties"]["capabilities"]["properties"]["fleets"]
    assert fleets["additionalProperties"]["properties"]["size"]["description"] == "How many."
    with pytest.raises(NotImplementedError):
        Entry().capability(FLEETS, "")


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ("[]", "6:45: capabilities.tools[0].parameters: expected a JSON Schema, found a list."),
        (
            "{type: object, properties: {a: {maximum: .inf}}}",
            "6:86: capabilities.tools[0].parameters.properties.a.maximum: expected a finite "
            "number, found '.inf'; quote it if a text is meant.",
        ),
        (
            "{type: object, allOf: [{}, {type: x}]}",
            "6:79: capabilities.tools[0].parameters.allOf[1].type: expected array, boolean, "
            "integer, null, number, object or string, found 'x'.",
        ),
        ("{}", "6:45: capabilities.tools[0].parameters.type: expected 'type: object' at the top."),
    ],
)
def test_s29_a_schema_is_checked_when_it_is_read_and_its_faults_have_a_place(parameters, problem):
    text = HEAD + (
        f"capabilities:\n  tools:\n  - {{name: a, target: 'a.py:f', parameters: {parameters}}}\n"
    )
    assert messages(text) == [f"plugin.yaml:{problem}"]


def test_requirements_are_read_and_bounded():
    assert messages(f"{HEAD}python_packages: ['x>={'1' * 600}']\n")[0].startswith(
        "plugin.yaml:4:19: python_packages[0]: expected at most 500 characters, found 603"
    )
    assert why_not_package("x" * 501) == "expected at most 500 characters"
    assert str(parse_requirement("a >=1")) == "a>=1"
    with pytest.raises(ValueError, match="not a requirement"):
        parse_requirement("A")


def test_provider_names_stand_once_in_a_plugin():
    text = HEAD + (
        "capabilities:\n  providers:\n    - {module: a.py, names: [x, y]}\n"
        "    - {module: b.py, names: [y]}\n"
    )
    assert messages(text) == [
        'plugin.yaml:7:7: capabilities.providers: provider "y" is declared twice, at line 6, '
        "column 7 and at line 7, column 7; keep one."
    ]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8)
    | st.sampled_from(["a.py:f", "x", "agents/a.md", ">=1", "command"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["name", "target", "command", "type", "hooks", "matcher", "url", "x-a"])
        | st.text(max_size=5),
        inner,
        max_size=4,
    ),
    max_leaves=8,
)  # fmt: skip
MANIFESTS = st.fixed_dictionaries(
    {"name": st.just("demo") | VALUES, "version": st.just("1") | VALUES},
    optional={
        "capabilities": st.dictionaries(st.sampled_from(list(SECTIONS)), VALUES, max_size=3)
        | VALUES,
        "hosts": VALUES,
        "requires": VALUES,
        "python_packages": VALUES,
        "exclude": VALUES,
        "lionagi": VALUES,
        "description": VALUES,
    },
)


@given(MANIFESTS)
def test_arbitrary_manifests_are_read_or_refused(value):
    text = yaml.safe_dump(value, allow_unicode=False)
    try:
        manifest = parse(text)
    except ManifestError as error:
        problems = error.problems
    else:
        problems = ()
        assert json.loads(json.dumps(manifest.to_dict())) == manifest.to_dict()
        assert parse(text).digest == manifest.digest
    assert all(one.message.isascii() and one.message.isprintable() for one in problems)


def test_reading_imports_and_runs_nothing():
    code = """
import sys
import lionplug.manifest.parse as module
events = []
sys.addaudithook(lambda event, args: events.append(event) if armed else None)
armed = True
module.parse_manifest(sys.argv[1].encode(), host="lionagi")
armed = False
assert not {"open", "exec", "compile", "subprocess.Popen", "socket.connect"} & set(events), events
assert not {"jsonschema", "re2", "pluggy", "asyncio"} & set(sys.modules)
"""
    text = WHOLE.replace("python_packages: [httpx>=0.27]\n", "")
    done = subprocess.run(
        [sys.executable, "-c", "armed = False\n" + code, text],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_reading_costs_about_what_a_plain_yaml_loader_does():
    """The bound is wide: the same ratio is reported exactly by the benchmarks."""
    data = WHOLE.encode()

    def best(call) -> float:
        times = []
        for _ in range(40):
            began = time.perf_counter()
            call()
            times.append(time.perf_counter() - began)
        return min(times)

    loader: Any = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    plain = best(lambda: yaml.load(data, loader))
    ours = best(lambda: parse_manifest(data, host="lionagi"))
    assert ours < 3 * plain


def test_the_file_is_called_plugin_yaml():
    assert MANIFEST_FILE == "plugin.yaml"
