"""What is read out of the files that surfaces serve: text, front matter, data."""

from __future__ import annotations

from typing import Any

from lionplug.documents.characters import decode_text
from lionplug.documents.fieldtype import INVALID
from lionplug.documents.jsonvalues import read_json
from lionplug.documents.problems import Problems
from lionplug.documents.yaml import read_yaml
from lionplug.errors import ContentError, Problem
from lionplug.text import exact

#: Bytes that a served file may have.
MAX_BYTES = 2**20

_FENCE = "---"


def read_text(data: bytes, file: str) -> str:
    """Decode a text file: UTF-8 with or without a byte-order mark; line ends become ``\\n``.

    :param file: Path for messages.
    :raises ContentError: it is no such text.
    """
    problems = Problems(file)
    text = decode_text(data, problems)
    if text is None:
        raise ContentError(problems.found, f"{exact(file)} can't be read as text; save it as UTF-8")
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def read_data(data: bytes, file: str) -> dict[str, Any]:
    """Read a YAML file that is one mapping, as JSON data.

    :raises ContentError: it is none, with the place of each problem.
    """
    problems = Problems(file)
    value = read_json(read_yaml(data, file, ContentError), problems)
    if value is INVALID:
        raise ContentError(problems.found, f"{exact(file)} can't be read as data")
    found: dict[str, Any] = value
    return found


def split_front_matter(text: str, file: str) -> tuple[dict[str, Any], str]:
    """Split Markdown into the data of its front matter and its body.

    Front matter stands between a first line ``---`` and the next line that is ``---``; a
    text that does not begin with such a line has none.

    :raises ContentError: the fence is not closed, or what it holds is no mapping.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        return {}, text
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() == _FENCE:
            inner = "\n".join(lines[1:number])
            body = "\n".join(lines[number + 1 :])
            # An empty first line keeps the numbers of lines those of the file.
            data = read_data(("\n" + inner).encode(), file) if inner.strip() else {}
            return data, body
    problem = Problem(
        "front-matter",
        "the front matter is not closed: expected a line '---' after it; add one, or take the "
        "first line out",
        file=file,
        line=1,
        column=1,
    )
    raise ContentError([problem], f"{exact(file)} can't be read")
