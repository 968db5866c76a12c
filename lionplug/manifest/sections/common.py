"""Kinds of fields that several sections share."""

from __future__ import annotations

from lionplug.documents.fields import Text
from lionplug.manifest.names import TOOL_NAME, TOOL_NAME_HINT
from lionplug.manifest.references import (
    MAX_PATH,
    why_not_directory,
    why_not_file,
    why_not_module,
    why_not_path,
    why_not_reference,
)

# For JSON Schema: relative, no empty, "." or ".." part, no colon, backslash or control
# character, nothing in a directory that is never part of a plugin.
PATH_PATTERN = (
    r"^(?!.*(?:^|/)\.{0,2}(?:/|$))(?!\.(?:git|hg|svn)/)(?!(?:.*/)?__pycache__/)"
    r"[^\\:\x00-\x1f\x7f-\x9f]+$"
)
_MODULE_PATTERN = r"(?!(?:.*/)?__pycache__/)(?:[A-Za-z0-9_-]+/)*[A-Za-z0-9_-]+\.py"

#: A name that reaches models and terminals.
NAME = Text(pattern=TOOL_NAME, hint=TOOL_NAME_HINT, max_length=64)

#: A description for people and models.
DESCRIPTION = Text(hint="a description", empty=True, max_length=4000)

#: A function of the bundle.
REFERENCE = Text(
    hint="'path.py:function'",
    check=why_not_reference,
    code="reference",
    max_length=MAX_PATH + 256,
    schema={"pattern": rf"^{_MODULE_PATTERN}:[^\s:./\\-]+$"},
)

#: A Python file of the bundle.
MODULE = Text(
    hint="the path of a Python file",
    check=why_not_module,
    code="path",
    max_length=MAX_PATH,
    schema={"pattern": f"^{_MODULE_PATTERN}$"},
)

#: A path of the bundle.
PATH = Text(
    hint="a path of the bundle",
    check=why_not_path,
    code="path",
    max_length=MAX_PATH,
    schema={"pattern": PATH_PATTERN},
)

#: A directory of the bundle whose name becomes a name.
DIRECTORY = Text(
    hint="the path of a directory",
    check=why_not_directory,
    code="path",
    max_length=MAX_PATH,
    schema={"pattern": PATH_PATTERN, "allOf": [{"pattern": "(?:^|/)[A-Za-z0-9_-]{1,64}$"}]},
)


def file_field(*suffixes: str) -> Text:
    """Return the kind of field that holds a file whose stem becomes a name.

    :param suffixes: The endings that the path may have.
    """
    endings = "|".join(suffix.replace(".", r"\.") for suffix in suffixes)
    return Text(
        hint=f"the path of a file that ends in {' or '.join(suffixes)}",
        check=lambda path: why_not_file(path, suffixes),
        code="path",
        max_length=MAX_PATH,
        schema={
            "pattern": PATH_PATTERN,
            "allOf": [{"pattern": f"(?:^|/)[A-Za-z0-9_-]{{1,64}}(?:{endings})$"}],
        },
    )
