"""The ``lionplug`` program, and the same commands for an application that has no click."""

from __future__ import annotations

import os
import sys

from lionplug.cli.path import clean_path
from lionplug.cli.variable import COMPLETE_VARIABLE
from lionplug.imports import safe_imports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from lionplug.host import Host


def main(argv: Sequence[str] | None = None, *, host: Host | None = None) -> int:
    """Run the command.

    An application whose command line is made with argparse, or by hand, hands over what
    follows the words of its ``Host(command=…)``::

        sys.exit(lionplug.cli.main.main(sys.argv[2:], host=host))

    :param argv: Arguments without the program's name; those of this process by default.
    :param host: The application's host, with all its hook specifications. Messages, help
        and completion name its command. It stays open.
    :returns: The exit code: 0 done, 1 refused or failed, 2 usage, 130 interrupted,
        141 the reader of standard output went away.
    """
    if host is not None:
        return _main_of(host, list(sys.argv[1:] if argv is None else argv))
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


def _main_of(host: Host, arguments: list[str]) -> int:
    """Run the command below the words of an application's own.

    The search path is the application's and stays as it is.
    """
    with safe_imports():
        from lionplug.cli.app import make_program
        from lionplug.cli.completion import answer
        from lionplug.cli.group import run
    program = make_program(host)
    question = os.environ.get(COMPLETE_VARIABLE)
    if question:
        return answer(program, question)
    return run(program, program.name or host.name, [*(program.forwarded or ()), *arguments])
