"""What a manifest declares must be in the tree that is approved."""

from __future__ import annotations

from attrs import frozen

from lionplug.manifest.files_check import check_files
from lionplug.manifest.parse import parse_manifest

MANIFEST = parse_manifest(
    b"""\
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
""",
    host="lionplug",
)
FILES = ("tools/search.py", "bin/page", "bin/server", "agents/a.md", "skills/pdf/SKILL.md")


@frozen
class Files:
    files: tuple[str, ...]

    def is_file(self, path: str) -> bool:
        return path in self.files

    def is_dir(self, path: str) -> bool:
        return any(file.startswith(f"{path}/") for file in self.files)


def test_all_is_there():
    assert check_files(MANIFEST, Files(FILES)) == []


def test_everything_that_is_missing_is_told():
    assert [str(problem) for problem in check_files(MANIFEST, Files(()))] == [
        "plugin.yaml: capabilities.tools: tools 'search' needs a regular file at "
        "'tools/search.py', and there is none; add it or correct the manifest.",
        "plugin.yaml: capabilities.tools: tools 'page' needs a regular file at 'bin/page', and "
        "there is none; add it or correct the manifest.",
        "plugin.yaml: capabilities.agents: agents 'a' needs a regular file at 'agents/a.md', and "
        "there is none; add it or correct the manifest.",
        "plugin.yaml: capabilities.skills: skills 'pdf' needs a directory with a file SKILL.md at "
        "'skills/pdf', and there is none; add it or correct the manifest.",
        "plugin.yaml: capabilities.mcp_servers: mcp_servers 's' needs a regular file at "
        "'bin/server', and there is none; add it or correct the manifest.",
    ]


def test_a_directory_is_no_file_and_a_skill_needs_its_text():
    files = (*FILES[1:4], "tools/search.py/x", "skills/pdf/other.md")
    problems = check_files(MANIFEST, Files(files))
    assert [problem.code for problem in problems] == ["missing-file", "missing-directory"]
