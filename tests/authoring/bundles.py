"""Bundles that break one rule each."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

HEAD = 'name: tidy\nversion: "1"\nlionplug: ">=0"\n'
TOOL = "capabilities:\n  tools:\n    - {name: add, target: tools.py:add}\n"
CODE = 'def add(a: int, b: int = 1) -> int:\n    """Add two numbers."""\n    return a + b\n'

Break = Callable[[Path], Any]


def tidy(root: Path) -> Path:
    """Write a bundle with which nothing is wrong."""
    root.mkdir()
    (root / "plugin.yaml").write_text(HEAD + TOOL)
    (root / "tools.py").write_text(CODE)
    return root


def manifest(text: str | bytes) -> Break:
    """Replace the manifest."""
    data = text.encode() if isinstance(text, str) else text
    return lambda root: (root / "plugin.yaml").write_bytes(data)


def head(more: str) -> Break:
    """Add to the manifest."""
    return manifest(HEAD + TOOL + more)


def entry(more: str, code: str = CODE) -> Break:
    """Add to the entry of the tool, and replace its code."""

    def change(root: Path) -> None:
        (root / "plugin.yaml").write_text(HEAD + TOOL.replace(":add}", f":add, {more}}}"))
        (root / "tools.py").write_text(code)

    return change


def code(text: str | bytes) -> Break:
    """Replace the code."""
    data = text.encode() if isinstance(text, str) else text
    return lambda root: (root / "tools.py").write_bytes(data)


def file(path: str, text: str | bytes = "", mode: int = 0o644) -> Break:
    """Add a file."""

    def change(root: Path) -> None:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)
        target.chmod(mode)

    return change


def link(path: str, target: str) -> Break:
    """Add a link."""
    return lambda root: (root / path).symlink_to(target)


def several(*changes: Break) -> Break:
    """Make several changes."""
    return lambda root: [change(root) for change in changes]


def large(path: str, size: int) -> Break:
    """Add a file of zeros that takes no room."""

    def change(root: Path) -> None:
        with open(root / path, "wb") as stream:
            stream.truncate(size)

    return change


SH = (
    "capabilities:\n  tools:\n    - {name: run, command: [bin/run.sh], description: Runs, PARAMS}\n"
)
RUN = HEAD + SH.replace("PARAMS", "parameters: {type: object}")

#: By code: what breaks the rule, and the file and line that are told.
CASES: dict[str, tuple[Break, str]] = {
    "manifest-unreadable": (lambda root: (root / "plugin.yaml").unlink(), "plugin.yaml"),
    "syntax": (manifest("name: [\n"), "plugin.yaml:2"),
    "empty": (manifest(""), "plugin.yaml:1"),
    "not-a-mapping": (manifest("- a\n"), "plugin.yaml:1"),
    "several-documents": (manifest(HEAD + "---\na: b\n"), "plugin.yaml:4"),
    "encoding": (manifest(b"name: \xff\n"), "plugin.yaml:1"),
    "nul": (manifest(HEAD + "x-a: \0\n"), "plugin.yaml:4"),
    "lone-cr": (manifest(HEAD + "x-a: b\rc\n"), "plugin.yaml:4"),
    "line-separator": (manifest(HEAD + "x-a: b\u2028\n"), "plugin.yaml:4"),
    "byte-order-mark": (manifest(HEAD + "x-a: b\ufeff\n"), "plugin.yaml:4"),
    "control-character": (manifest(HEAD + "x-a: b\x07\n"), "plugin.yaml:4"),
    "directive": (manifest("%YAML 1.2\n---\n" + HEAD), "plugin.yaml:1"),
    "alias": (manifest(HEAD + "x-a: *b\n"), "plugin.yaml:4"),
    "anchor": (manifest(HEAD + "x-a: &b c\n"), "plugin.yaml:4"),
    "tag": (manifest(HEAD + "x-a: !b c\n"), "plugin.yaml:4"),
    "merge-key": (manifest(HEAD + "x-a: {<<: {b: c}}\n"), "plugin.yaml:4"),
    "complex-key": (manifest(HEAD + "x-a: {[b]: c}\n"), "plugin.yaml:4"),
    "empty-key": (manifest("? \n: b\n"), "plugin.yaml:1"),
    "duplicate-key": (manifest(HEAD + "name: b\n"), "plugin.yaml:4"),
    "comment": (manifest(HEAD + "description: a #b\n"), "plugin.yaml:4"),
    "empty-block": (manifest(HEAD + "description: >2\nx-a: b\n"), "plugin.yaml:4"),
    "too-many-nodes": (manifest("x-a: [" + "a, " * 50_001 + "b]\n"), "plugin.yaml:1"),
    "too-deep": (file("/".join(["d"] * 33)), "/".join(["d"] * 33)),
    "too-large": (large("big.dat", 2**28 + 1), "big.dat"),
    "missing-key": (manifest("name: tidy\n"), "plugin.yaml:1"),
    "unknown-key": (head("nope: {a: b}\n"), "plugin.yaml:7"),
    "type": (manifest(HEAD + "exclude: a\n"), "plugin.yaml:4"),
    "value": (head("    - {name: b, target: tools.py:add, command: [a]}\n"), "plugin.yaml:7"),
    "number": (entry("x-a: .inf"), "plugin.yaml:6"),
    "name": (manifest(HEAD.replace("tidy", "Tidy Up")), "plugin.yaml:1"),
    "specifier": (manifest(HEAD.replace(">=0", "new")), "plugin.yaml:3"),
    "requirement": (manifest(HEAD + "requires: ['A B']\n"), "plugin.yaml:4"),
    "pattern": (manifest(HEAD + "exclude: ['[a]']\n"), "plugin.yaml:4"),
    "path": (head("  packs: ['../a.yaml']\n"), "plugin.yaml:7"),
    "reference": (manifest(HEAD + TOOL.replace(":add}", "}")), "plugin.yaml:6"),
    "parameters": (entry("parameters: {type: array}"), "plugin.yaml:6"),
    "duplicate": (manifest(HEAD + "requires: [a, a]\n"), "plugin.yaml:4"),
    "duplicate-name": (head("    - {name: add, target: tools.py:add}\n"), "plugin.yaml:7"),
    "excludes-declared": (head("exclude: ['*.py']\n"), "plugin.yaml:7"),
    "no-host-key": (
        manifest((HEAD + TOOL).replace('lionplug: ">=0"\n', "")),
        "plugin.yaml:1",
    ),
    "other-host": (manifest((HEAD + TOOL).replace("lionplug", "lionagi")), "plugin.yaml:1"),
    "missing-file": (lambda root: (root / "tools.py").unlink(), "plugin.yaml:6"),
    "missing-directory": (head("  skills: [skills/a]\n"), "plugin.yaml:7"),
    "name-encoding": (file("u\u0308.md"), "u\\u{308}.md"),
    "name-character": (file("a:b"), "a:b"),
    "name-ending": (file("a."), "a."),
    "name-reserved": (file("nul.txt"), "nul.txt"),
    "name-collision": (several(file("a.md"), file("A.md")), ".md"),
    "special-file": (lambda root: os.mkfifo(root / "pipe"), "pipe"),
    "hard-link": (lambda root: os.link(root / "tools.py", root / "b.py"), "b.py"),
    "link-absolute": (link("a", "/etc"), "a"),
    "link-outside": (link("a", "../b"), "a"),
    "link-dangling": (link("a", "b"), "a"),
    "link-loop": (link("a", "a"), "a"),
    "link-excluded": (several(file(".git/config"), link("a", ".git/config")), "a"),
    "text-encoding": (code(b"# coding: latin-1\n" + CODE.encode()), "tools.py"),
    "source-too-large": (large("big.py", 32 * 2**20 + 1), "big.py"),
    "text-bidi": (file("a.md", "one\nb\u202ec\n"), "a.md:2:2"),
    "text-invisible": (file("a.md", "b\u200bc\n"), "a.md:1:2"),
    "text-control": (file("a.md", "b\x1b[2Jc\n"), "a.md:1:2"),
    "text-lone-cr": (file("a.md", "b\rc\n"), "a.md:1:2"),
    "text-separator": (file("a.md", "b\u2028c\n"), "a.md:1:2"),
    "text-long-line": (file("a.js", "x" * 1_001 + "\n"), "a.js:1:1"),
    "text-binary": (file("a.so", b"\x7fELF\0"), "a.so"),
    "text-unexamined": (file("a.md", "word\n" * 250_000), "a.md"),
    "command-not-executable": (
        several(manifest(RUN), file("bin/run.sh", "#!/bin/sh\n")),
        "bin/run.sh",
    ),
    "script-crlf": (
        several(manifest(RUN), file("bin/run.sh", "#!/bin/sh\r\necho\r\n", 0o755)),
        "bin/run.sh:1:1",
    ),
    "script-without-run-bit": (file("run.sh", "#!/bin/sh\n"), "run.sh:1:1"),
    "undeclared-executable": (file("run.sh", "#!/bin/sh\n", 0o755), "run.sh"),
    "target-missing": (code(CODE.replace("add", "sub")), "plugin.yaml:6:27"),
    "target-unread": (code("from math import fsum as add\n"), "plugin.yaml:6:27"),
    "tool-without-description": (code("def add(a: int): pass\n"), "plugin.yaml:6:27"),
    "tool-without-schema": (
        several(
            manifest(RUN.replace(", parameters: {type: object}", "")),
            file("bin/run.sh", "#!/bin/sh\n", 0o755),
        ),
        "plugin.yaml:6:7",
    ),
    "parameter-without-type": (code(CODE.replace("a: int", "a")), "plugin.yaml:6:27"),
    "parameter-by-position": (code(CODE.replace("a: int,", "a: int, /,")), "plugin.yaml:6:27"),
    "schema-unknown-argument": (
        entry("parameters: {type: object, properties: {a: {}, c: {}}, required: [a]}"),
        "plugin.yaml:6",
    ),
    "schema-missing-argument": (
        entry("parameters: {type: object, properties: {a: {}}}"),
        "plugin.yaml:6",
    ),
    "source-syntax": (file("b.py", "x = 1\ndef (\n"), "b.py:2:1"),
    "import-beside": (
        several(file("lib/a.py", "def f():\n    import helper\n"), file("lib/helper.py")),
        "lib/a.py:2:5",
    ),
    "import-shadowed": (
        several(file("lib/a.py", "import os\nfrom json import dumps\n"), file("lib/json.py")),
        "lib/a.py:2:1",
    ),
    "stdlib-name": (file("json.py"), "json.py"),
    "imports-unread": (file("b.py", "x = 1\n" * 11_000), "b.py"),
}  # fmt: skip

#: Rules whose breach takes more than a file: another moment, user or depth.
ELSEWHERE = {
    "more", "matcher", "unreadable", "name-form", "name-length", "too-many", "changed",
    "changed-while-copied",
}  # fmt: skip
