"""The ``lionplug`` program."""

from __future__ import annotations

import os
import sys

from lionplug.cli.path import clean_path
from lionplug.cli.variable import COMPLETE_VARIABLE
from lionplug.imports import safe_imports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    :param argv: Arguments without the program's name; those of this process by default.
    :returns: The exit code: 0 done, 1 refused or failed, 2 usage, 130 interrupted,
        141 the reader of standard output went away.
    """
    clean_path()
    with safe_imports():
        from lionplug.cli.app import make_lionplug
        from lionplug.cli.completion import answer
        from lionplug.cli.group import run
        from lionplug.cli.output import stdout_to_stderr
    program = make_lionplug()
    question = os.environ.get(COMPLETE_VARIABLE)
    if question:
        return answer(program, question)
    if argv is not None:
        return run(program, "lionplug", list(argv))
    code = run(program, "lionplug", sys.argv[1:])
    stdout_to_stderr()  # what threads and exit handlers of a plugin print is no result
    return code
