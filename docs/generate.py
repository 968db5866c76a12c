"""Write those parts of the documentation that follow from the code.

``python docs/generate.py`` brings them up to date; a test compares. In a page, such a part
stands between ``<!-- generated: NAME -->`` and ``<!-- end of generated part -->``.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
from attrs import NOTHING

import lionplug.errors
from lionplug.authoring.rules import GROUPS
from lionplug.cli.app import make_lionplug
from lionplug.documents.declare import table_of
from lionplug.documents.fields import (
    Boolean,
    Choice,
    Integer,
    JsonValue,
    ListOf,
    MapOf,
    Nested,
    Number,
    Text,
)
from lionplug.manifest.head import Head
from lionplug.manifest.schema import manifest_schema
from lionplug.manifest.sections import SECTIONS
from lionplug.settings.fields import PROJECT_KEYS, USER_KEYS, SettingsFile
from lionplug.trust.layout import plural

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
SCHEMA_FILE = DOCS / "reference/plugin.schema.json"
VECTORS_FILE = ROOT / "tests/trust/vectors.json"

_PART = re.compile(
    r"(<!-- generated: (?P<name>[a-z0-9_.-]+) -->\n)(?P<body>.*?)(<!-- end of generated part -->)",
    re.DOTALL,
)
_RULE_TEST = re.compile(r"test_s(\d+)_")
_RULE_HEADING = re.compile(r"^## S(\d+): (.+)$", re.MULTILINE)


# -- declared keys -----------------------------------------------------------------------


def describe(kind: Any) -> str:
    """Say what a declared field takes, in words."""
    if isinstance(kind, Boolean):
        return "`true` or `false`"
    if isinstance(kind, Choice):
        return " or ".join(f"`{word}`" for word in kind.words)
    if isinstance(kind, Number):
        what = "a whole number" if isinstance(kind, Integer) else "a number"
        return f"{what} from {kind.minimum:,} to {kind.maximum:,}"
    if isinstance(kind, Text):
        return kind.hint
    if isinstance(kind, ListOf):
        inner = kind.item
        if isinstance(inner, Nested):
            return f"a list of {kind.what}"
        least = f"{kind.least} to {kind.most:,}" if kind.least else f"at most {kind.most:,}"
        of_each = "" if _same_words(kind.what, describe(inner)) else f": {describe(inner)}"
        return f"a list of {least} {kind.what}{of_each}"
    if isinstance(kind, MapOf):
        return f"a mapping; keys: {describe(kind.key)}; values: {describe(kind.value)}"
    if isinstance(kind, Nested):
        return "a mapping, see below"
    if isinstance(kind, JsonValue):
        return "any JSON data"
    known = {"ParametersSchema": "a JSON Schema", "AnyNode": "a mapping, see below"}
    return known.get(type(kind).__name__, type(kind).__name__)


def _same_words(one: str, other: str) -> bool:
    """Tell whether two texts say the same but for articles and number."""
    first, second = (
        [word.removesuffix("s") for word in text.split() if word not in ("a", "an", "the")]
        for text in (one, other)
    )
    return first == second


def key_table(cls: type, keys: Collection[str] | None = None) -> str:
    """Return the keys of a declared class, or some of them, as a Markdown table."""
    rows = ["| key | | takes | for |", "|---|---|---|---|"]
    for key, declaration in table_of(cls).keys.items():
        if keys is not None and key not in keys:
            continue
        default, meaning = declaration.default, declaration.doc
        if isinstance(default, (int, float)) and not isinstance(default, bool):
            meaning += f" Default: {default}."
        need = "required" if default is NOTHING else ""
        cells = [f"`{key}`", need, describe(declaration.type), meaning]
        rows.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return "\n".join(rows) + "\n"


def settings_section(keys: Collection[str]) -> str:
    """Describe keys of settings files; what ``hooks_external`` holds stands with the manifest."""
    text = key_table(SettingsFile, keys)
    if "limits" in keys:
        limits: Any = table_of(SettingsFile).keys["limits"].type
        text += f"\nIn `limits`:\n\n{key_table(limits.cls)}"
    return text


def nested_classes(cls: type) -> Iterator[type]:
    """Yield the declared classes that stand in the fields of one, outermost first."""
    for declaration in table_of(cls).keys.values():
        kind = declaration.type
        inner = getattr(kind, "item", None) or getattr(kind, "value", None) or kind
        if isinstance(inner, Nested):
            yield inner.cls
            yield from nested_classes(inner.cls)


def manifest_section(key: str) -> str:
    """Describe one key below ``capabilities``."""
    section = SECTIONS[key]
    text = f"{section.doc}\n\n"
    if section.bare:
        field = table_of(section.entry).keys[section.bare]
        if isinstance(field.type, Text):
            return text + f"A list; each entry is {describe(field.type)}.\n"
    else:
        text += key_table(section.entry)
    for cls in nested_classes(section.entry):
        text += f"\n{inspect.getdoc(cls)}\n\n{key_table(cls)}"
    return text


# -- errors, commands, vectors -------------------------------------------------------------


def error_classes() -> list[type[lionplug.errors.LionplugError]]:
    """Return the error classes in the order of their source."""
    return [
        cls
        for cls in vars(lionplug.errors).values()
        if isinstance(cls, type)
        and issubclass(cls, lionplug.errors.LionplugError)
        and cls.__module__ == lionplug.errors.__name__
    ]


def error_table() -> str:
    """Return the tree of errors as a Markdown table."""
    base = set(inspect.signature(lionplug.errors.LionplugError).parameters)
    rows = ["| error | also a | when | carries besides |", "|---|---|---|---|"]
    for cls in error_classes():
        own = [one for one in cls.__bases__ if issubclass(one, lionplug.errors.LionplugError)]
        depth = "" if not own else f" ({own[0].__name__})"
        builtin = [one.__name__ for one in cls.__bases__ if one.__module__ == "builtins"]
        mixed = [f"`{name}`" for name in builtin if name != "Exception"]
        carried = [
            f"`{name}`" for name in inspect.signature(cls).parameters if name not in base
        ] + [f"`{name}`" for name in inspect.get_annotations(cls) if name[:1] != "_"]
        when = (inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " ")
        rows.append(
            f"| `{cls.__name__}`{depth} | {', '.join(mixed)} | {_plain(when)} "
            f"| {', '.join(carried)} |"
        )
    return "\n".join(rows) + "\n"


def _plain(text: str) -> str:
    """Turn reST literals and roles into Markdown."""
    text = re.sub(r":\w+:`~?(?:[\w.]+\.)?(\w+)`", r"`\1`", text)
    return text.replace("``", "`")


def command_help() -> str:
    """Return the help of the program and of each command."""
    program = make_lionplug()
    root = click.Context(program, info_name="lionplug", terminal_width=80)
    parts = [f"```text\n$ lionplug --help\n{program.get_help(root)}\n```\n"]
    for name in program.list_commands(root):
        command = program.commands[name]
        context = click.Context(command, info_name=name, parent=root, terminal_width=80)
        text = command.get_help(context)
        parts.append(f"## {name}\n\n```text\n$ lionplug {name} --help\n{text}\n```\n")
    return "\n".join(parts)


def check_rules() -> str:
    """Return every rule of ``check``, by group."""
    text = ""
    for title, rules in GROUPS.items():
        text += f"## {title}\n\n| code | | what | how to mend it |\n|---|---|---|---|\n"
        for rule in rules:
            text += f"| `{rule.code}` | {rule.severity} | {rule.what} | {rule.mend} |\n"
        text += "\n"
    return text


def digest_vectors() -> str:
    """Return the published test vectors of the tree digest."""
    text = ""
    for vector in json.loads(VECTORS_FILE.read_text(encoding="utf-8")):
        text += f"**{_cell(vector['name'])}**\n\n"
        if vector["tree"]:
            text += "| kind | path | content or target |\n|---|---|---|\n"
        for entry in vector["tree"]:
            payload = [_json(entry[key]) for key in ("text", "target") if key in entry]
            text += f"| `{entry['kind']}` | {_json(entry['path'])} | {''.join(payload)} |\n"
        text += "\n" if vector["tree"] else ""
        text += f"```text\n{vector['digest']}\n```\n\n"
    return text


def _json(value: object) -> str:
    """Return a value as JSON in ASCII; the text of a file can be anything."""
    return f"`{_cell(json.dumps(value))}`"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


# -- security rules ------------------------------------------------------------------------


@cache
def rule_tests() -> dict[int, list[tuple[str, str]]]:
    """Return rule number to (file, test) for all tests that carry a rule in their names.

    Those are the functions that pytest collects; that the files can be imported, the run shows.
    A test is named as pytest does, with its class: ``TestFlags::test_s25_...``.
    """
    found: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for name in _test_names(tree.body, ""):
            match = _RULE_TEST.match(name.rpartition("::")[2])
            if match:
                found[int(match[1])].append((str(path.relative_to(ROOT)), name))
    return dict(found)


def _test_names(body: list[ast.stmt], inside: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from _test_names(node.body, f"{inside}{node.name}::")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield inside + node.name


def rules_of_page() -> dict[int, str]:
    """Return the rules that the page of security rules has, with their headings."""
    page = (DOCS / "security.md").read_text(encoding="utf-8")
    return {int(number): title for number, title in _RULE_HEADING.findall(page)}


def rule_overview() -> str:
    """Return the table of rules, with the number of tests that show each."""
    tests = rule_tests()
    rows = ["| rule | what it is about | tests |", "|---|---|---|"]
    for number, title in rules_of_page().items():
        rows.append(f"| [S{number}](#s{number}) | {title} | {len(tests.get(number, []))} |")
    return "\n".join(rows) + "\n"


def tests_of_rule(number: int) -> str:
    """Return the tests of one rule, by file, folded so that the page can be read."""
    by_file: dict[str, list[str]] = defaultdict(list)
    tests = rule_tests().get(number, [])
    for file, test in tests:
        by_file[file].append(test)
    lines = ["", "<details>", f"<summary>{plural(len(tests), 'test')}</summary>", ""]
    for file, names in by_file.items():
        lines += [f"- `{file}`", *(f"  - `::{name}`" for name in names)]
    return "".join(f"{line}\n" for line in [*lines, "", "</details>", ""])


# -- pages ---------------------------------------------------------------------------------


def part(name: str) -> str:
    """Return the text of one generated part.

    :raises KeyError: There is no part of this name.
    """
    if name.startswith("manifest.") and name != "manifest.top":
        return manifest_section(name.removeprefix("manifest."))
    if name.startswith("tests.s"):
        return tests_of_rule(int(name.removeprefix("tests.s")))
    parts: dict[str, Callable[[], str]] = {
        "manifest.top": lambda: key_table(Head),
        "settings.user": lambda: settings_section(USER_KEYS),
        "settings.project": lambda: settings_section(PROJECT_KEYS),
        "errors": error_table,
        "commands": command_help,
        "checks": check_rules,
        "vectors": digest_vectors,
        "rules": rule_overview,
    }
    return parts[name]()


def render(page: str) -> str:
    """Return the text of a page with its generated parts brought up to date."""
    return _PART.sub(lambda match: f"{match[1]}{part(match['name'])}{match[4]}", page)


def schema_text() -> str:
    """Return the published JSON Schema of ``plugin.yaml``."""
    return json.dumps(manifest_schema(), indent=2, ensure_ascii=False) + "\n"


def pages() -> list[Path]:
    """Return the pages that have generated parts."""
    return [path for path in sorted(DOCS.rglob("*.md")) if _PART.search(path.read_text("utf-8"))]


def main() -> None:
    """Write the parts that differ."""
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
    for path in pages():
        text = path.read_text(encoding="utf-8")
        if render(text) != text:
            path.write_text(render(text), encoding="utf-8")
            print("updated", path.relative_to(ROOT))


if __name__ == "__main__":
    main()
