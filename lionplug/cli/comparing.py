"""``diff``, ``digest`` and ``show``: looking at the bytes themselves."""

from __future__ import annotations

import base64
import sys

import click

from lionplug.cli.broken import named_if_broken
from lionplug.cli.completion import complete_files
from lionplug.cli.group import Command
from lionplug.cli.options import json_option, plugin_argument
from lionplug.cli.output import shows
from lionplug.cli.progress import progress
from lionplug.cli.session import Session, pass_session
from lionplug.errors import LionplugError
from lionplug.text import exact, quote


@click.command(
    "diff",
    cls=Command,
    short_help="Compare a plugin's files with the approved ones.",
    help="""Compare the files of a plugin as they are now with those that were approved.

    The exit code is 0 whether or not they differ.
    """,
    examples=[
        ("diff web-research", "What changed since the approval."),
        ("diff web-research --json", "The same as one object."),
    ],
)
@plugin_argument
@json_option
@pass_session
def diff_command(session: Session, name: str) -> None:
    """Compare with what was approved."""
    output = session.output
    plugin = session.host.plugins.find(name)
    with progress(f"comparing {exact(name)}"), named_if_broken(plugin, "compared"):
        difference = session.host.diff(name)
    if output.as_json:
        output.document(difference.to_dict())
    elif difference.empty:
        output.text(f"{exact(name)} is what was approved.")
    else:
        show = f"{session.host.command} show {quote(name)}"
        output.text(difference.lines(output.width, show))


@click.command(
    "digest",
    cls=Command,
    short_help="Print the tree digest of a bundle directory.",
    help="""Print the tree digest of a bundle directory.

    An author publishes it; whoever trusts the author approves exactly these files by
    'trust NAME --expect DIGEST'.
    """,
    examples=[
        ("digest ./web-research", "Print lp1:sha256:... of the directory."),
        ("digest . --json", "The digest and the path as one object."),
    ],
)
@click.argument("path", metavar="PATH", type=click.Path())
@json_option
@pass_session
def digest_command(session: Session, path: str) -> None:
    """Print a tree digest."""
    output = session.output
    with progress(f"hashing {exact(path)}"):
        digest = session.host.digest(path)
    if output.as_json:
        output.document({"path": path, "digest": digest})
    else:
        output.text(digest)


@click.command(
    "show",
    cls=Command,
    short_help="Print a file of a plugin, with hidden characters made visible.",
    help=r"""Print a file of a plugin, with hidden characters made visible.

    It comes from a private copy of the files as they are now, or with --approved from the
    copy that was approved. Characters that do not show are printed as \u{hex}. A file that
    is not UTF-8 text is printed by --raw or --json only.
    """,
    examples=[
        ("show web-research tools/search.py", "Read a file before you approve it."),
        ("show web-research plugin.yaml --approved", "The file that was approved."),
        ("show web-research logo.png --raw > logo.png", "The bytes as they are."),
    ],
)
@plugin_argument
@click.argument("file", metavar="FILE", shell_complete=complete_files)
@click.option("--approved", is_flag=True, help="Show the approved copy, not the present one.")
@click.option("--raw", is_flag=True, help="Write the bytes unchanged; not to a terminal.")
@json_option
@pass_session
def show_command(session: Session, name: str, file: str, approved: bool, raw: bool) -> None:
    """Print a file."""
    output = session.output
    if raw and output.as_json:
        raise click.UsageError("--raw and --json exclude each other")
    if raw and sys.stdout is not None and sys.stdout.isatty():
        raise click.UsageError("--raw is for a file or a pipe, not for a terminal")
    plugin = session.host.plugins.find(name)
    with progress(f"copying {exact(name)}"), named_if_broken(plugin, "shown"):
        data = session.host.show(name, file, approved=approved)
    text = _decoded(data)
    if raw:
        output.raw(data)
    elif output.as_json:
        content = {"base64": base64.b64encode(data).decode("ascii"), "text": text}
        output.document({"plugin": name, "file": file, "size": len(data)} | content)
    elif text is None:
        raise LionplugError(
            f"{exact(file)} of {exact(name)} is not UTF-8 text ({len(data)} bytes); "
            "use --raw with a file or a pipe, or --json",
            plugin=name,
            file=file,
        )
    else:
        output.text(readable(text))


def _decoded(data: bytes) -> str | None:
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def readable(text: str) -> list[str]:
    r"""Return the lines of a file with everything that does not show escaped.

    Letters and signs of every script stay; invisible, directional and control characters
    become ``\u{hex}``, and so does a backslash that would begin such an escape. Tabs
    become spaces to the next multiple of eight. Lines end at LF only: a lone CR shows.

    :param text: Content of a file.
    """
    lines = text.removesuffix("\n").split("\n")
    return [_readable_line(line.removesuffix("\r")).expandtabs(8) for line in lines]


def _readable_line(line: str) -> str:
    return "".join(
        character
        if character == "\t" or (shows(character) and not line.startswith("\\u{", index))
        else f"\\u{{{ord(character):x}}}"
        for index, character in enumerate(line)
    )
