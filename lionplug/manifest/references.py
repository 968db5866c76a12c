"""Paths and references in a manifest: always inside the bundle, by their spelling alone.

Nothing is opened here. What the paths lead to, links included, is checked on the staged
copy when a person approves it.
"""

from __future__ import annotations

import re
from keyword import iskeyword
from unicodedata import is_normalized

from attrs import frozen

from lionplug.documents.nodes import shown
from lionplug.errors import UsageError
from lionplug.files.exclude import always_left_out
from lionplug.manifest.names import TOOL_NAME_HINT, is_tool_name

#: Longest path, in characters.
MAX_PATH = 1024

# Parts that begin with a letter or digit are none of those that are refused.
_plain_path = re.compile(
    r"(?=.{1,1024}\Z)[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)*", re.A
).fullmatch

_MODULE = re.compile(r"(?:[A-Za-z0-9_-]{1,128}/)*[A-Za-z0-9_-]{1,128}\.py").fullmatch


@frozen
class Reference:
    """A callable in a file of the bundle, ``tools/search.py:web_search``.

    :param path: Path of the file, relative to the bundle.
    :param attribute: Name of the callable in it.
    """

    path: str
    attribute: str

    def __str__(self) -> str:
        return f"{self.path}:{self.attribute}"

    @classmethod
    def parse(cls, text: str) -> Reference:
        """Read a reference.

        :raises UsageError: It is none; the message says why.
        """
        reason = why_not_reference(text)
        if reason:
            raise UsageError(f"{reason}, found {shown(text)}.")
        path, _, attribute = text.partition(":")
        return cls(path, attribute)


def why_not_path(path: str, is_dir: bool = False) -> str | None:
    """Return why a text is no path of the bundle, or ``None``.

    :param path: The text.
    :param is_dir: Whether it is to be the path of a directory.
    """
    if _plain_path(path):
        return None  # the usual path; below are the reasons
    if len(path) > MAX_PATH:
        return f"expected a path of at most {MAX_PATH} characters"
    if "\\" in path:
        return "expected '/' between the parts of a path, not a backslash"
    if path.startswith("/"):
        return "expected a path relative to the bundle, not an absolute one"
    if ":" in path:
        return "expected a path relative to the bundle, without a drive or any other colon"
    if not path.isprintable():
        return "expected a path without control or invisible characters"
    segments = path.split("/")
    if "" in segments:
        return "expected a path without empty parts"
    if "." in segments or ".." in segments:
        return "expected a path inside the bundle, without '.' or '..'"
    left_out = always_left_out(path, is_dir)
    if left_out:
        return f"expected a path outside {shown(left_out)}, which is never part of a plugin"
    return None


def why_not_directory(path: str) -> str | None:
    """Return why a text is no path of a directory whose name becomes a name, or ``None``."""
    reason = why_not_path(path, is_dir=True)
    if reason is None and not is_tool_name(stem_of(path, ())):
        return f"expected a directory whose name is {TOOL_NAME_HINT}"
    return reason


def why_not_file(path: str, suffixes: tuple[str, ...]) -> str | None:
    """Return why a text is no path of a file whose stem becomes a name, or ``None``.

    :param path: The text.
    :param suffixes: The endings that it may have.
    """
    reason = why_not_path(path)
    if reason:
        return reason
    if not path.endswith(suffixes):
        return f"expected a path that ends in {' or '.join(suffixes)}"
    if not is_tool_name(stem_of(path, suffixes)):
        return f"expected a file whose name before the suffix is {TOOL_NAME_HINT}"
    return None


def why_not_module(path: str) -> str | None:
    """Return why a text is no path of a Python file that can be imported, or ``None``."""
    reason = why_not_path(path)
    if reason:
        return reason
    if not path.endswith(".py"):
        return "expected a path that ends in .py"
    if not _MODULE(path):
        return "expected directories and a file named with A-Z, a-z, 0-9, '_' and '-' only"
    return None


def why_not_reference(text: str) -> str | None:
    """Return why a text is no reference ``path.py:function``, or ``None``."""
    path, colon, attribute = text.partition(":")
    if not colon or ":" in attribute:
        return "expected 'path.py:function' with exactly one colon"
    reason = why_not_module(path)
    if reason:
        return reason
    if not attribute.isidentifier() or iskeyword(attribute):
        return "expected one Python name after the colon"
    if not attribute.isascii() and not is_normalized("NFKC", attribute):
        return "expected a name in the form in which Python keeps it (NFKC)"
    if attribute.startswith("__") and attribute.endswith("__"):
        return "expected a name that does not belong to Python itself"
    return None


def path_of(reference: str) -> str:
    """Return the path in a reference for which :func:`why_not_reference` has no objection."""
    return reference.partition(":")[0]


def stem_of(path: str, suffixes: tuple[str, ...]) -> str:
    """Return the last part of a path, without the first of the suffixes that it has."""
    name = path.rpartition("/")[2]
    for suffix in suffixes:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name
