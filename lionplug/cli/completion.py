"""Shell completion: scripts for three shells, and candidates from data alone.

Completing imports nothing of a plugin and starts no program. Whatever goes wrong gives
no candidates: a shell that waits for them is no place for messages.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
)

from lionplug.cli.group import Command, program_of
from lionplug.cli.session import session_of
from lionplug.cli.variable import COMPLETE_VARIABLE
from lionplug.text import exact

if TYPE_CHECKING:
    from lionplug.inventory.plugin import Plugin

SHELLS: dict[str, type[ShellComplete]] = {
    "bash": BashComplete,
    "zsh": ZshComplete,
    "fish": FishComplete,
}

#: Files of a plugin that are looked at for completion.
MOST_FILES = 1_000

#: Directories that are never part of a plugin, see security rule S13.
_LEFT_OUT = frozenset({".git", ".hg", ".svn", "__pycache__"})

#: What a shell could take for something else is not offered.
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@+,=")

_Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def _completer(candidates: Callable[[click.Context], Iterable[str]]) -> _Completer:
    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
        try:
            found = [one for one in candidates(ctx) if one.startswith(incomplete)]
        except Exception:  # noqa: BLE001 - see above: no candidates
            return []
        return [CompletionItem(one) for one in found if _SAFE.issuperset(one)]

    return complete


def _plugins(ctx: click.Context) -> Iterator[str]:
    copies = session_of(ctx).host.plugins.all
    names = [plugin.name for plugin in copies]
    for plugin in copies:
        yield plugin.name if names.count(plugin.name) == 1 else plugin.address


def _tools(ctx: click.Context) -> Iterator[str]:
    return (declaration.name for declaration in session_of(ctx).host.tools)


def _files(ctx: click.Context) -> Iterator[str]:
    plugin = session_of(ctx).host.plugins.find(ctx.params["name"])
    yield from _tree(plugin)


def _tree(plugin: Plugin) -> Iterator[str]:
    root, left = plugin.location, MOST_FILES
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(set(folders) - _LEFT_OUT)
        for file in sorted(files):
            yield os.path.relpath(os.path.join(folder, file), root)
        left -= len(files) + 1
        if left < 0:
            return


complete_plugins = _completer(_plugins)
complete_tools = _completer(_tools)
complete_files = _completer(_files)


@click.command(
    "completion",
    cls=Command,
    short_help="Print a script that completes this command in a shell.",
    help="""Print a script that completes commands, plugins, tools and files in a shell.

    Write it to the directory from which the shell loads completions; make that directory
    first if there is none. New shells use it. Completing imports nothing of a plugin.
    """,
    examples=[
        (
            "completion bash > ~/.local/share/bash-completion/completions/ROOT",
            "For bash with its package bash-completion.",
        ),
        ('completion zsh > "${fpath[1]}/_ROOT"', "For zsh."),
        ("completion fish > ~/.config/fish/completions/ROOT.fish", "For fish."),
    ],
)
@click.argument("shell", metavar="SHELL", type=click.Choice(sorted(SHELLS)))
@click.option("--json", "as_json", is_flag=True, help="Print the script as one JSON object.")
@click.pass_context
def completion_command(ctx: click.Context, shell: str, as_json: bool) -> None:
    """Print a completion script."""
    output = session_of(ctx).output
    output.as_json = as_json
    script = script_for(shell, ctx.find_root().command, program_of(ctx))
    if as_json:
        output.document({"shell": shell, "script": script})
    else:
        output.text(script)


def script_for(shell: str, program: click.Command, name: str) -> str:
    """Return the completion script for a shell.

    It is the script of click, and asks by the variable that click's own ``main`` reads, so
    that it completes the whole of an application that mounts the group. click's own way to
    print it starts the first ``bash`` on the search path to ask for its version, which in a
    hostile directory may be anything.

    A program that hands the plugin commands over by itself (``forwarded``, the words behind
    which it does) is asked with these words, by the variable of lionplug.

    :param shell: One of :data:`SHELLS`.
    :param program: The outermost command.
    :param name: Name of the program.
    :raises click.UsageError: It was not run by a name that a shell could complete.
    """
    forwarded: tuple[str, ...] | None = getattr(program, "forwarded", None)
    if "/" in name or not all(map(_SAFE.issuperset, (name, *(forwarded or ())))):
        raise click.UsageError(
            f"a shell completes a command by its name, and this program was run as "
            f"{exact(name)}; install it as a command and run that"
        )
    variable = f"_{name.replace('-', '_').replace('.', '_')}_COMPLETE".upper()
    if forwarded is not None:
        variable = COMPLETE_VARIABLE
    completer = SHELLS[shell](program, {}, name, variable)
    script = str(completer.source_template % completer.source_vars())
    return _asking_with(forwarded, script, name) if forwarded else script


def _asking_with(words: Sequence[str], script: str, name: str) -> str:
    """Return a script that runs the program with some words to ask it."""
    typed = r"(?: COMP_\w+=\(commandline -\w+\))*"
    call = re.compile(rf"(=(?:bash|zsh|fish)_complete{typed} (?:\$1|{re.escape(name)}))\)")
    changed, count = call.subn(lambda match: f"{match[1]} {' '.join(words)})", script)
    if count != 1:
        raise click.UsageError(
            "the completion scripts of this version of click are not known to lionplug; "
            "update lionplug"
        )
    return changed


def answer(program: click.Command, question: str) -> int:
    """Print the candidates that a script asks for by its variable.

    :param program: The command to complete.
    :param question: The value of the variable, such as ``bash_complete``.
    :returns: The exit code.
    """
    shell, _, verb = question.partition("_")
    if shell not in SHELLS or verb != "complete":
        return 1
    try:
        lines = SHELLS[shell](program, {}, "lionplug", COMPLETE_VARIABLE).complete()
        sys.stdout.write(lines + "\n")
        sys.stdout.flush()
    except Exception:  # noqa: BLE001 - see above: no candidates
        return 1
    return 0
