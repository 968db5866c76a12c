"""The click classes of the command: errors in one voice, examples in every help text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

from lionplug.cli.failure import CLOSED, DONE, Failure, explain
from lionplug.cli.output import ClosedOutputError, Output, discard_stdout
from lionplug.cli.session import session_of

if TYPE_CHECKING:
    from lionplug.host import Host


class Command(click.Command):
    """A command whose help ends with examples.

    :param examples: Pairs of a command line and what it does. ``PROGRAM`` stands for what a
        person types before the command's name, such as ``li plugin``, and ``ROOT`` for the
        program alone. A line without ``PROGRAM`` begins with it.
    """

    def __init__(
        self, *args: Any, examples: Sequence[tuple[str, str]] = (), **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self.examples = tuple(examples)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples below the options."""
        with formatter.section("Examples"):
            for line, meaning in self.examples:
                # Not wrapped: it is there to be copied.
                formatter.write(f"{'':{formatter.current_indent}}{_typed(line, ctx)}\n")
                with formatter.indentation():
                    formatter.write_text(meaning)


def _typed(line: str, ctx: click.Context) -> str:
    """Return the command line of an example as a person of this program types it."""
    program = ctx.parent.command_path if ctx.parent else ctx.command_path
    if "PROGRAM" not in line:
        line = f"PROGRAM {line}"
    return line.replace("PROGRAM", program).replace("ROOT", program_of(ctx))


def program_of(ctx: click.Context) -> str:
    """Return the name of the program that runs, such as ``li`` for ``li plugin list``."""
    return ctx.find_root().info_name or "lionplug"


class PluginGroup(click.Group):
    """The group of plugin commands.

    :param make_host: Gives the host for one run, from the group's context; called once,
        when a command first needs it.
    :param knows_hooks: Whether that host has all its hook specifications, so that a plugin
        which implements another hook can be told to be incompatible.
    :param closes_host: Whether the host ends with the run; not where an application lent it.
    """

    def __init__(
        self,
        *args: Any,
        make_host: Callable[[click.Context], Host],
        knows_hooks: bool,
        closes_host: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self.make_host = make_host
        self.knows_hooks = knows_hooks
        self.closes_host = closes_host
        #: Where it is the whole of a program that is not run by click's ``main``: no words.
        self.forwarded: tuple[str, ...] | None = None

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which a person meets them."""
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Note early whether JSON is asked for: a later usage error must be JSON too."""
        session_of(ctx).output.as_json = asks_for_json(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; whatever ends it is told in one voice, here and when mounted."""
        try:
            return super().invoke(ctx)
        except (Exit, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - everything is told in one voice
            code = report(error, session_of(ctx).output, debug=bool(ctx.params.get("debug")))
            raise Exit(code) from None


def asks_for_json(args: Sequence[str]) -> bool:
    """Tell whether ``--json`` is among the arguments, before any ``--``."""
    for argument in args:
        if argument == "--":
            return False
        if argument == "--json":
            return True
    return False


def report(error: BaseException, output: Output, *, debug: bool) -> int:
    """Tell a failure and return the exit code for it."""
    failure = explain(error, debug=debug)
    output.note(failure.lines)
    try:
        if failure.error:
            output.document({"error": failure.error})
    except ClosedOutputError:
        failure = Failure(code=CLOSED)
    if failure.code == CLOSED:
        discard_stdout()
    return failure.code


def run(group: click.Group, program: str, args: list[str]) -> int:
    """Run a group as a whole program and return its exit code.

    click's own ``main`` would turn a closed pipe, Ctrl-C and a usage error under
    ``--json`` into texts and codes of its own.
    """
    output = Output()
    output.as_json = asks_for_json(args)
    try:
        with group.make_context(program, args) as ctx:
            group.invoke(ctx)
    except Exit as end:
        return end.exit_code
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - as above
        return report(error, output, debug="--debug" in args)
    return DONE
