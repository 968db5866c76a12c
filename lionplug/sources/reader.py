"""Ask the helper process for signatures and read its answer as hostile data."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from lionplug.sources.encoding import declared_encoding, is_utf8_name
from lionplug.sources.process import run_child
from lionplug.sources.signature import SourceSignature

#: A source file above this many bytes is not parsed.
MAX_FILE = 64 * 2**10
#: Bytes of source that one call hands over at most.
MAX_REQUEST = 4 * 2**20
#: Wall-clock seconds of the first helper, and of both together.
FIRST_SECONDS = 2.2
ALL_SECONDS = 2.7

_File = tuple[str, bytes, list[str]]


def read_signatures(
    files: Mapping[str, bytes], targets: Sequence[tuple[str, str]]
) -> dict[str, SourceSignature | None]:
    """Return what the source says about each function that is asked for.

    The source is parsed in a helper process and never imported. It takes less than
    three seconds whatever the files hold (SECURITY-RULES S36).

    :param files: Path to bytes of Python source; files without a target are ignored.
    :param targets: Pairs of path and function name.
    :returns: ``"path:name"`` to the signature; ``None``, to be shown as "not shown",
        where there is no such function at the top level, the file is missing, larger
        than 64 KiB, not UTF-8 or declared to be in another encoding, or could not be
        parsed within the limits.
    """
    found: dict[str, SourceSignature | None] = {f"{path}:{name}": None for path, name in targets}
    waiting = _files_to_parse(files, targets)
    deadline = time.monotonic() + ALL_SECONDS
    for seconds in (FIRST_SECONDS, ALL_SECONDS):
        if not waiting:
            break
        left = min(seconds, deadline - time.monotonic())
        answers = decode_answers(run_child(_request(waiting), left), waiting)
        found.update(answers)
        done = sum(1 for path, _, names in waiting if f"{path}:{names[0]}" in answers)
        # The first file without an answer is the one that ended the helper.
        waiting = waiting[done + 1 :]
    return found


def _files_to_parse(files: Mapping[str, bytes], targets: Sequence[tuple[str, str]]) -> list[_File]:
    """Return the files that are worth a try, small ones first: they cost least."""
    wanted: dict[str, list[str]] = {}
    for path, name in targets:
        data = files.get(path)
        if data is not None and name not in wanted.setdefault(path, []):
            wanted[path].append(name)
    chosen: list[_File] = []
    total = 0
    for path in sorted(wanted, key=lambda path: (len(files[path]), path)):
        total += len(files[path])
        if total <= MAX_REQUEST and _is_parsable(files[path]):
            chosen.append((path, files[path], wanted[path]))
    return chosen


def _is_parsable(data: bytes) -> bool:
    if len(data) > MAX_FILE:
        return False
    encoding = declared_encoding(data)
    return encoding is None or is_utf8_name(encoding)


def _request(files: Sequence[_File]) -> bytes:
    header = json.dumps([[len(data), names] for _, data, names in files])
    return b"".join([header.encode(), b"\n", *(data for _, data, _ in files)])


def decode_answers(
    output: bytes, files: Sequence[tuple[str, bytes, list[str]]]
) -> dict[str, SourceSignature | None]:
    """Read the helper's answer, believing nothing of it.

    One complete line is expected for each file, in order, and must hold exactly the
    names that were asked for. The first line that is anything else ends the reading.

    :param output: What the helper wrote.
    :param files: Path, bytes and names of the files that it was given.
    :returns: ``"path:name"`` to a signature or ``None``, for files answered in full.
    """
    found: dict[str, SourceSignature | None] = {}
    for line, (path, _, names) in zip(output.split(b"\n")[:-1], files, strict=False):
        try:
            answer = _load(line)
            if not isinstance(answer, dict) or list(answer) != names:
                break
            for name, data in answer.items():
                signature = None if data is None else SourceSignature.from_dict(data)
                found[f"{path}:{name}"] = signature
        except (ValueError, RecursionError):
            for name in names:
                found.pop(f"{path}:{name}", None)
            break
    return found


def _load(line: bytes) -> Any:
    return json.loads(line.decode("ascii"), parse_int=_integer, parse_constant=_refuse_constant)


def _integer(text: str) -> int:
    if len(text) > 17:  # 2**53 and a sign
        raise ValueError("integer out of range")
    return int(text)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")
