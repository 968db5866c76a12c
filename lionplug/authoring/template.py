"""The files of a new bundle: plain functions, a manifest, a test, and how to go on."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent

from packaging.version import InvalidVersion, Version

from lionplug.manifest.specifiers import contains
from lionplug.text import quote

#: Templates by name, with what each is for.
TEMPLATES: Mapping[str, str] = {"bundle": "a tool with its test"}


def files_of(name: str, *, host: str, version: str, command: str) -> dict[str, str]:
    """Return the files of a new bundle: path to text.

    :param name: Name of the plugin, which must be one.
    :param host: Name of the host that it is for.
    :param version: The host's version, from which on the bundle is for it.
    :param command: How a person calls the host's plugin commands.
    """
    module = module_name(name)
    words = {
        "NAME": name,
        "HOST": host,
        "RANGE": _range(version),
        "MODULE": module,
        "FUNCTION": f"{module.removesuffix('_plugin')}_count_words",
        "COMMAND": command,
        "TYPED": quote(name),
    }
    texts = {
        "plugin.yaml": _MANIFEST,
        f"{module}/tools.py": _TOOLS,
        f"test_{module}.py": _TEST,
        "README.md": _README,
    }
    return {path: _filled(text, words) for path, text in texts.items()}


def module_name(name: str) -> str:
    """Return the folder of the code of a plugin: a Python name that nobody else has."""
    stem = name.replace("-", "_")
    return f"{stem if stem[0].isalpha() else f'p{stem}'}_plugin"


def _range(version: str) -> str:
    """Return the range of versions that begins with a release, or with what comes before it."""
    try:
        release = f">={Version(version).base_version}"
    except InvalidVersion:
        return ">=0"
    return release if contains(release, version) else f">={version}"


def _filled(text: str, words: Mapping[str, str]) -> str:
    text = dedent(text)
    for word, value in words.items():
        text = text.replace(f"<{word}>", value)
    return text


_MANIFEST = """\
    name: <NAME>
    version: 0.1.0
    description: Counts the words of a text.
    <HOST>: "<RANGE>"

    # No part of the plugin: neither approved nor copied.
    exclude: ["README.md", "test_*.py", ".*"]

    capabilities:
      tools:
        - name: <FUNCTION>
          target: <MODULE>/tools.py:<FUNCTION>
"""

_TOOLS = '''\
    """Tools of <NAME>: plain functions, which import nothing of the host."""

    from __future__ import annotations


    def <FUNCTION>(text: str, unique: bool = False) -> int:
        """Count the words of a text.

        Args:
            text: The text.
            unique: Count each word once.
        """
        words = text.lower().split()
        return len(set(words) if unique else words)
'''

_TEST = '''\
    """Tests of <NAME>; run 'python -m pytest' in this directory."""

    from __future__ import annotations

    from <MODULE>.tools import <FUNCTION>


    def test_words_are_counted() -> None:
        assert <FUNCTION>("to be or not to be") == 6
        assert <FUNCTION>("") == 0


    def test_each_word_is_counted_once() -> None:
        assert <FUNCTION>("To be or not to be", unique=True) == 4
'''

_README = """\
    # <NAME>

    A plugin for <HOST>.

    | file | holds |
    |---|---|
    | `plugin.yaml` | what the plugin offers |
    | `<MODULE>/tools.py` | the functions that are called |
    | `test_<MODULE>.py` | their tests; no part of the plugin |

    In this directory:

    - `python -m pytest` runs the tests.
    - `<COMMAND> check .` finds what is wrong with the bundle, without running it.
    - `<COMMAND> digest .` prints the digest by which others approve exactly these files.

    To use it, put the directory where <HOST> looks for plugins, see `<COMMAND> list`, and
    approve it with `<COMMAND> trust <TYPED>`. The name, the description and the arguments of a
    tool come from the function's signature and docstring; keep them up to date.
"""
