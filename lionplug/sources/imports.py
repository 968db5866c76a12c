"""Which modules Python source imports by absolute names, read by the helper process."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen

from lionplug.sources.process import run_child
from lionplug.sources.reader import MAX_FILE, load_answer, request, why_not_parsed
from lionplug.sources.unread import Unread

#: Bytes of source that one helper is given, and that are read in all.
MAX_BATCH = 512 * 2**10
MAX_ALL = 8 * 2**20
#: Wall-clock seconds of one helper, and of all together.
BATCH_SECONDS = 2.5
ALL_SECONDS = 20.0

_MAX_NAME = 255
_MAX_PLACE = 2**31

_File = tuple[str, bytes, None]


@frozen(kw_only=True)
class Import:
    """An absolute import, or why the imports of a file are not known.

    :param name: First part of the module's name; of a file that was not read, the reason.
    :param line: Its line, from 1; 0 where there is none.
    :param column: Its column, from 1.
    """

    name: str
    line: int = 0
    column: int = 0


def read_imports(files: Mapping[str, bytes]) -> dict[str, tuple[Import, ...] | Import]:
    """Return the absolute imports of each file, without importing anything (S36).

    :param files: Path to bytes of Python source.
    :returns: By path the imports in the order of the file, at most 200; one
        :class:`Import` that holds the reason for a file that was not read.
    """
    found: dict[str, tuple[Import, ...] | Import] = {}
    deadline = time.monotonic() + ALL_SECONDS
    for batch in _batches(files, found):
        waiting: Sequence[_File] = batch
        while waiting:
            left = min(BATCH_SECONDS, deadline - time.monotonic())
            if left <= 0:
                break
            lines = run_child(request(waiting), left).split(b"\n")[:-1]
            done = 0
            for line, (path, _, _) in zip(lines, waiting, strict=False):
                try:
                    found[path] = _answer(load_answer(line))
                except (ValueError, RecursionError):
                    break
                done += 1
            # The first file without an answer is the one that ended the helper.
            waiting = waiting[done + 1 :]
    return found


def _batches(
    files: Mapping[str, bytes], found: dict[str, tuple[Import, ...] | Import]
) -> Iterator[list[_File]]:
    """Yield what one helper can do at a time; note why a file is given to none."""
    batch: list[_File] = []
    size = total = 0
    for path in sorted(files, key=lambda path: (len(files[path]), path)):
        data = files[path]
        reason = why_not_parsed(data)
        total += 0 if reason else len(data)
        if reason is None and total > MAX_ALL:
            reason = f"more than {MAX_ALL:,} bytes of source in all"
        found[path] = Import(name=reason or "the reader was stopped at its limits")
        if reason is not None:
            continue
        if batch and size + len(data) > MAX_BATCH:
            yield batch
            batch, size = [], 0
        batch.append((path, data, None))
        size += len(data)
    if batch:
        yield batch


def _answer(answer: object) -> tuple[Import, ...] | Import:
    """Read the helper's answer for one file, believing nothing of it.

    :raises ValueError: It is none.
    """
    if isinstance(answer, dict) and answer.get("unread") == "syntax":
        line = answer.get("line")
        reason = Unread.from_dict(answer, "").reason
        return Import(name=reason, line=line if type(line) is int and line > 0 else 1)
    if isinstance(answer, dict) and "unread" in answer:
        return Import(name=Unread.from_dict(answer, "").reason)
    if not isinstance(answer, dict) or answer.keys() != {"imports"}:
        raise ValueError("not an answer")
    items = answer["imports"]
    if not isinstance(items, list) or len(items) > MAX_FILE:
        raise ValueError("not an answer")
    return tuple(_import(item) for item in items)


def _import(item: object) -> Import:
    if not isinstance(item, list) or len(item) != 3:
        raise ValueError("not an import")
    name, line, column = item
    if not isinstance(name, str) or not name.isidentifier() or len(name) > _MAX_NAME:
        raise ValueError("not a name")
    for number in (line, column):
        if type(number) is not int or not 1 <= number <= _MAX_PLACE:
            raise ValueError("not a place")
    return Import(name=name, line=line, column=column)
