"""Ask the helper process for signatures and read its answer as hostile data."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from lionplug.sources.encoding import declared_encoding, is_utf8_name
from lionplug.sources.process import run_child
from lionplug.sources.signature import SourceSignature
from lionplug.sources.unread import Unread
from lionplug.text import exact

#: A source file above this many bytes is not parsed.
MAX_FILE = 64 * 2**10
#: Bytes of source that one call hands over at most.
MAX_REQUEST = 4 * 2**20
#: Wall-clock seconds of the first helper, and of both together.
FIRST_SECONDS = 2.2
ALL_SECONDS = 2.7

_File = tuple[str, bytes, list[str]]


class Signatures(dict[str, SourceSignature | None]):
    """What the source says about each function that was asked for, by ``path:name``.

    :ivar unread: Why there is ``None`` for a function, by ``path:name``.
    """

    def __init__(self) -> None:
        super().__init__()
        self.unread: dict[str, Unread] = {}

    def note(self, target: str, answer: SourceSignature | Unread) -> None:
        """Keep a signature, or the reason why there is none."""
        if isinstance(answer, Unread):
            self[target], self.unread[target] = None, answer
        else:
            self[target] = answer
            self.unread.pop(target, None)


def read_signatures(files: Mapping[str, bytes], targets: Sequence[tuple[str, str]]) -> Signatures:
    """Return what the source says about each function that is asked for.

    The source is parsed in a helper process and never imported. It takes less than
    three seconds whatever the files hold (security rule S36).

    :param files: Path to bytes of Python source; files without a target are ignored.
    :param targets: Pairs of path and function name.
    :returns: ``"path:name"`` to the signature; ``None``, to be shown as "not shown" with
        the reason in :attr:`Signatures.unread`, where there is no such function at the top
        level, the file is missing, larger than 64 KiB, not UTF-8 or declared to be in
        another encoding, or could not be parsed within the limits.
    """
    found = Signatures()
    for path, name in targets:
        reason = why_not_parsed(files.get(path)) or "the reader was stopped at its limits"
        found.note(f"{path}:{name}", Unread(reason=reason))
    waiting = _files_to_parse(files, targets, found)
    deadline = time.monotonic() + ALL_SECONDS
    for seconds in (FIRST_SECONDS, ALL_SECONDS):
        if not waiting:
            break
        left = min(seconds, deadline - time.monotonic())
        answers = decode_answers(run_child(request(waiting), left), waiting)
        for target, answer in answers.items():
            found.note(target, answer)
        done = sum(1 for path, _, names in waiting if f"{path}:{names[0]}" in answers)
        # The first file without an answer is the one that ended the helper.
        waiting = waiting[done + 1 :]
    return found


def _files_to_parse(
    files: Mapping[str, bytes], targets: Sequence[tuple[str, str]], found: Signatures
) -> list[_File]:
    """Return the files that are worth a try, small ones first: they cost least."""
    wanted: dict[str, list[str]] = {}
    for path, name in targets:
        if name not in wanted.setdefault(path, []) and not why_not_parsed(files.get(path)):
            wanted[path].append(name)
    chosen: list[_File] = []
    total = 0
    paths = [path for path, names in wanted.items() if names]
    for path in sorted(paths, key=lambda path: (len(files[path]), path)):
        total += len(files[path])
        if total <= MAX_REQUEST:
            chosen.append((path, files[path], wanted[path]))
            continue
        for name in wanted[path]:
            reason = f"more than {MAX_REQUEST:,} bytes of source in all"
            found.note(f"{path}:{name}", Unread(reason=reason))
    return chosen


def why_not_parsed(data: bytes | None) -> str | None:
    """Return why a file is not handed to the helper, or ``None``."""
    if data is None:
        return "there is no such file"
    if len(data) > MAX_FILE:
        return f"the file is too large: {len(data):,} bytes, {MAX_FILE:,} are read"
    encoding = declared_encoding(data)
    if encoding is not None and not is_utf8_name(encoding):
        return f"the file declares the source encoding {exact(encoding)}"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"the file is no text in UTF-8 at byte {error.start:,}"
    return None


def request(files: Sequence[tuple[str, bytes, list[str] | None]]) -> bytes:
    """Return what the helper reads: a header, then the bytes of all files.

    :param files: Path, bytes and names of each; ``None`` as names asks for its imports.
    """
    header = json.dumps([[len(data), names] for _, data, names in files])
    return b"".join([header.encode(), b"\n", *(data for _, data, _ in files)])


def decode_answers(
    output: bytes, files: Sequence[tuple[str, bytes, list[str]]]
) -> dict[str, SourceSignature | Unread]:
    """Read the helper's answer, believing nothing of it.

    One complete line is expected for each file, in order, and must hold exactly the
    names that were asked for. The first line that is anything else ends the reading.

    :param output: What the helper wrote.
    :param files: Path, bytes and names of the files that it was given.
    :returns: ``"path:name"`` to a signature or why there is none, for files answered in full.
    """
    found: dict[str, SourceSignature | Unread] = {}
    for line, (path, _, names) in zip(output.split(b"\n")[:-1], files, strict=False):
        try:
            answer = load_answer(line)
            if not isinstance(answer, dict) or list(answer) != names:
                break
            for name, data in answer.items():
                found[f"{path}:{name}"] = _answer(data, name)
        except (ValueError, RecursionError):
            for name in names:
                found.pop(f"{path}:{name}", None)
            break
    return found


def _answer(data: object, name: str) -> SourceSignature | Unread:
    if isinstance(data, dict) and "unread" in data:
        return Unread.from_dict(data, name)
    return SourceSignature.from_dict(data)


def load_answer(line: bytes) -> Any:
    """Read one line of the helper's answer.

    :raises ValueError: It is no JSON in ASCII, or holds a number beyond the limits.
    """
    return json.loads(line.decode("ascii"), parse_int=_integer, parse_constant=_refuse_constant)


def _integer(text: str) -> int:
    if len(text) > 17:  # 2**53 and a sign
        raise ValueError("integer out of range")
    return int(text)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")
