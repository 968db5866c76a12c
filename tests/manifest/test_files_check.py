"""What a manifest declares must be in the tree that is approved."""

from __future__ import annotations

from attrs import frozen

from lionplug.manifest.files_check import check_files
from lionplug.manifest.parse import parse_manifest

SOURCE = b"""\
name: demo
version: "1"
capabilities:
  tools:
    - {name: search, target: "tools/search.py:run"}
    - {name: page, command: [bin/page]}
    - {name: bare, command: [python3, x.py]}
  agents: [agents/a.md]
  skills: [skills/pdf]
  mcp_servers: {s: {command: bin/server}, r: {url: "https://example.org"}}
"""
MANIFEST = parse_manifest(SOURCE, host="lionplug")
FILES = ("tools/search.py", "bin/page", "bin/server", "agents/a.md", "skills/pdf/SKILL.md")


@frozen
class Files:
    files: tuple[str, ...]

    def is_file(self, path: str) -> bool:
        return path in self.files

    def is_dir(self, path: str) -> bool:
        return any(file.startswith(f"{path}/") for file in self.files)


def test_all_is_there():
    assert check_files(MANIFEST, Files(FILES), SOURCE) == ()


def test_everything_that_is_missing_is_told_with_its_place():
    tail = "and there is none; add it or correct the manifest."
    assert [str(problem) for problem in check_files(MANIFEST, Files(()), SOURCE)] == [
        'plugin.yaml:5:30: capabilities.tools[0].target: tool "search" needs a regular file at '
        f"'tools/search.py', {tail}",
        'plugin.yaml:6:30: capabilities.tools[1].command[0]: tool "page" needs a regular file at '
        f"'bin/page', {tail}",
        'plugin.yaml:8:12: capabilities.agents[0]: agent "a" needs a regular file at '
        f"'agents/a.md', {tail}",
        'plugin.yaml:9:12: capabilities.skills[0]: skill "pdf" needs a directory with a file '
        f"SKILL.md at 'skills/pdf', {tail}",
        'plugin.yaml:10:30: capabilities.mcp_servers.s.command: mcp_server "s" needs a regular '
        f"file at 'bin/server', {tail}",
    ]


def test_one_path_that_several_entries_name_is_told_at_each_of_them():
    source = b"""\
name: demo
version: "1"
capabilities:
  tools:
    - {name: one, target: "x.py:one", description: x.py, x-note: x.py}
    - {name: two, target: "x.py:two"}
    - {name: three, command: [bin/x, bin/x]}
  hooks_external:
    PreToolUse:
      - matcher: Bash
        hooks:
          - {type: command, command: [bin/x]}
          - {type: command, command: [bin/x, bin/x]}
  mcp_servers: {env: {command: bin/x}}
  agents: [agents/a.md]
"""
    manifest = parse_manifest(source, host="lionplug")
    problems = check_files(manifest, Files(("agents/a.md",)), source)
    assert [(problem.line, problem.column, problem.field) for problem in problems] == [
        (5, 27, "capabilities.tools[0].target"),
        (6, 27, "capabilities.tools[1].target"),
        (7, 31, "capabilities.tools[2].command[0]"),
        (12, 39, "capabilities.hooks_external.PreToolUse[0].hooks[0].command[0]"),
        (13, 39, "capabilities.hooks_external.PreToolUse[0].hooks[1].command[0]"),
        (14, 32, "capabilities.mcp_servers.env.command"),
    ]


def test_many_are_bounded_and_one_that_no_text_names_has_no_place():
    entries = "".join(f"    - {{name: t{i}, target: 'x{i}.py:f'}}\n" for i in range(60))
    source = f"name: demo\nversion: '1'\ncapabilities:\n  tools:\n{entries}".encode()
    manifest = parse_manifest(source, host="lionplug")
    problems = check_files(manifest, Files(()), source)
    assert len(problems) == 51
    assert problems[-1].message == "10 more problems are not shown; mend these first."
    (bare, *_) = check_files(manifest, Files(()), b"name: demo\n")
    assert (bare.line, bare.field) == (0, "capabilities.tools")


def test_a_directory_is_no_file_and_a_skill_needs_its_text():
    files = (*FILES[1:4], "tools/search.py/x", "skills/pdf/other.md")
    problems = check_files(MANIFEST, Files(files), SOURCE)
    assert [problem.code for problem in problems] == ["missing-file", "missing-directory"]
