"""What a failure looks like: an exit code, lines of text, one JSON document."""

from __future__ import annotations

import traceback
from typing import Any

import click
from attrs import field, frozen

from lionplug.cli.output import ClosedOutputError
from lionplug.errors import LionplugError, Problem, UsageError
from lionplug.text import exact

DONE = 0
REFUSED = 1
USAGE = 2
INTERRUPTED = 130
CLOSED = 141

#: Attributes of errors that the JSON document repeats; absent ones are ``null``.
ATTRIBUTES = ("plugin", "file", "field", "command", "state", "surface", "name")

#: Raised since click 8.2 where a group is run without a command; earlier, click printed the
#: help itself.
_NoArguments: type[Exception] | tuple[()] = getattr(click.exceptions, "NoArgsIsHelpError", ())


class ToolFailure(Exception):
    """A tool raised; kept apart from errors of lionplug itself.

    :param tool: Name of the tool.
    :param plugin: Name of its plugin.
    """

    def __init__(self, tool: str, plugin: str) -> None:
        super().__init__(tool, plugin)
        self.tool = tool
        self.plugin = plugin


@frozen(kw_only=True)
class Failure:
    """How one failure is told.

    :param code: The exit code.
    :param lines: Text for standard error.
    :param error: The content of ``error`` in the JSON document.
    """

    code: int
    lines: tuple[str, ...] = ()
    error: dict[str, Any] = field(factory=dict)


def explain(error: BaseException, *, debug: bool = False) -> Failure:
    """Return how to tell a failure.

    :param error: What ended the command.
    :param debug: Whether to show the traceback.
    """
    # A tool's own broken pipe comes as a ToolFailure; any other is standard output's.
    if isinstance(error, (ClosedOutputError, BrokenPipeError)):
        return Failure(code=CLOSED)
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        failure = _failure(INTERRUPTED, error, "interrupted")
    elif isinstance(error, click.ClickException):
        failure = _of_click(error)
    elif isinstance(error, LionplugError):
        failure = _of_lionplug(error)
    elif isinstance(error, ToolFailure):
        failure = _of_tool(error)
    else:
        failure = _of_stranger(error)
    if debug and not isinstance(error, click.ClickException):
        lines = (*_traceback(error), *failure.lines)
        failure = Failure(code=failure.code, lines=lines, error=failure.error)
    return failure


def _failure(code: int, error: BaseException, message: str, **attributes: Any) -> Failure:
    document: dict[str, Any] = {"type": type(error).__name__, "message": message}
    document |= dict.fromkeys(ATTRIBUTES)
    document |= {"problems": [], "choices": []} | attributes
    first, *rest = message.split("\n")
    lines = [f"Error: {first}", *rest]
    if document["command"]:
        lines.append(f"Next: {document['command']}")
    return Failure(code=code, lines=tuple(lines), error=document)


def _of_click(error: click.ClickException) -> Failure:
    # click indents the choices of an argument by tabs, which would be shown as escapes.
    failure = _failure(error.exit_code, error, error.format_message().replace("\n\t", "\n  "))
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return failure
    if isinstance(error, _NoArguments):  # its message is the whole help text
        text = tuple(context.get_help().split("\n"))
        told = _failure(error.exit_code, error, f"{context.command_path} needs a command")
        return Failure(code=told.code, lines=text, error=told.error)
    usage = context.get_usage().split("\n")
    hint = f"Try '{context.command_path} --help' for help."
    return Failure(code=failure.code, lines=(*usage, hint, *failure.lines), error=failure.error)


def _of_lionplug(error: LionplugError) -> Failure:
    known = {name: getattr(error, name, None) for name in ATTRIBUTES}
    known["problems"] = [_problem(problem) for problem in getattr(error, "problems", ())]
    known["choices"] = list(getattr(error, "choices", ()))
    code = USAGE if isinstance(error, UsageError) else REFUSED
    return _failure(code, error, error.message, **known)


def _problem(problem: object) -> dict[str, Any]:
    return dict(problem.to_dict()) if isinstance(problem, Problem) else {"message": str(problem)}


def _of_tool(failure: ToolFailure) -> Failure:
    error = failure.__cause__ or failure
    text = exact_lines(f"{type(error).__name__}: {error}")
    text += [line for note in getattr(error, "__notes__", ()) for line in exact_lines(str(note))]
    told = _failure(
        REFUSED,
        error,
        "\n".join([f"tool {exact(failure.tool)} of {exact(failure.plugin)} failed:", *text]),
        plugin=failure.plugin,
        name=failure.tool,
        surface="tools",
    )
    hint = "Run again with --debug for the traceback."
    return Failure(code=told.code, lines=(*told.lines, hint), error=told.error)


def _of_stranger(error: BaseException) -> Failure:
    text = " ".join(exact_lines(str(error))).strip()
    message = f"{type(error).__name__}: {text}" if text else type(error).__name__
    told = _failure(REFUSED, error, message)
    hint = "This was not expected; run again with --debug for the traceback."
    return Failure(code=told.code, lines=(*told.lines, hint), error=told.error)


def _traceback(error: BaseException) -> list[str]:
    # Source lines and file names in it are foreign text.
    return exact_lines("".join(traceback.format_exception(error)).rstrip("\n"))


def exact_lines(text: str) -> list[str]:
    """Return the lines of a foreign text, each in printable ASCII."""
    return [exact(line) for line in text.split("\n")]
