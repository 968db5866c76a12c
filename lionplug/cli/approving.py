"""``trust`` and ``revoke``: giving an approval and taking it back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import click

from lionplug.cli.broken import named_if_broken
from lionplug.cli.describe import scope_line, state_of, typed_name, wrapped
from lionplug.cli.group import Command
from lionplug.cli.options import TYPED_ONLY, json_option, plugin_argument
from lionplug.cli.progress import progress
from lionplug.cli.prompt import (
    NoTerminalError,
    Terminal,
    controlling_terminal,
    signals_are_no,
)
from lionplug.cli.session import Session, pass_session
from lionplug.errors import PluginNotFoundError, TrustError
from lionplug.host.answers import declined, digest_problem, require_digest
from lionplug.inventory import states
from lionplug.manifest.capability import label
from lionplug.text import exact, quote
from lionplug.trust.digest import PREFIX, same_digest

if TYPE_CHECKING:
    from lionplug.host import Host
    from lionplug.host.review import Review
    from lionplug.inventory.plugin import Plugin

#: Hex characters of the digest that are asked for when the plugin can run something.
TYPED_DIGITS = 6


@click.command(
    "trust",
    cls=Command,
    context_settings=TYPED_ONLY,
    short_help="Read what a plugin brings and approve exactly that.",
    help="""Read what a plugin brings and approve exactly that.

    A private copy of the plugin is made and shown: the difference from what was approved
    before, then all that it brings. The question is asked on the terminal; what can run
    code asks for the first six characters of the digest. Without a terminal only --expect
    approves. Approving a plugin with code is trusting its author with your account.
    """,
    examples=[
        ("trust web-research", "Read, then answer."),
        ("trust web-research --expect lp1:sha256:...", "Approve one tree and no other."),
        ("trust web-research --yes", "Print it all and approve; needs a terminal."),
    ],
)
@plugin_argument
@click.option(
    "--expect",
    metavar="DIGEST",
    allow_from_autoenv=False,
    help="Approve without a question if the full digest (lp1:sha256:...) is this one.",
)
@click.option(
    "--yes",
    is_flag=True,
    allow_from_autoenv=False,
    help="Approve without a question; everything is printed all the same.",
)
@json_option
@pass_session
def trust_command(session: Session, name: str, expect: str | None, yes: bool) -> None:
    """Approve a plugin."""
    host = session.host
    _check_usage(expect, yes)
    plugin = host.plugins.find(name)
    with ExitStack() as stack:
        stack.enter_context(signals_are_no())
        doing = f"copying and hashing {exact(plugin.name)}"
        with progress(doing), named_if_broken(plugin, "approved"):
            review = stack.enter_context(host.review(plugin))
        if expect is not None:
            require_digest(plugin, review.disclosure.digest, expect, host.command)
        if _is_approved(plugin, review):
            _tell(session, plugin, review, approved=False)
            return
        terminal = None if expect else stack.enter_context(_terminal(host, plugin))
        _disclose(session, review, terminal)
        if terminal is not None and not yes and not review.disclosure.refusals:
            _ask(terminal, review)
        plugin = review.approve()
        _tell(session, plugin, review, approved=True)


def _check_usage(expect: str | None, yes: bool) -> None:
    if expect is not None and yes:
        raise click.UsageError("--expect and --yes exclude each other")
    problem = digest_problem(expect) if expect is not None else None
    if problem:
        raise click.UsageError(f"--expect: {problem}")


@contextmanager
def _terminal(host: Host, plugin: Plugin) -> Iterator[Terminal]:
    """Open the terminal, or say how to approve without one."""
    try:
        with controlling_terminal() as terminal:
            yield terminal
    except NoTerminalError:
        raise TrustError(
            f"{exact(plugin.name)} is not approved: there is no terminal to ask on, or this is a "
            "background job of it. Run the command on a terminal, or approve one exact tree "
            "with --expect DIGEST; the author tells the digest, and 'digest PATH' prints it.",
            plugin=plugin.name,
            command=f"{host.command} info {quote(typed_name(plugin, host.plugins.all))}",
        ) from None


def _is_approved(plugin: Plugin, review: Review) -> bool:
    """Tell whether exactly this tree is approved already, as it would be shown now."""
    return (
        plugin.record is not None
        and same_digest(plugin.record.tree, review.disclosure.digest)
        and plugin.state not in (states.UNTRUSTED, states.CHANGED)
    )


def _disclose(session: Session, review: Review, terminal: Terminal | None) -> None:
    """Print the difference and the disclosure, also where the question will stand."""
    output = session.output
    width = output.width
    moved = scope_line(session.host)
    show = f"{session.host.command} show {quote(review.plugin.address)}"
    lines = [moved, ""] if moved else []
    if review.diff is not None:
        lines += ["What changed since the approval:", "", *review.diff.lines(width, show), ""]
    lines += review.disclosure.lines(width)
    output.text(lines)
    stream = output.text_stream
    if terminal is not None and (stream is None or not stream.isatty()):
        terminal.show("".join(f"{line}\n" for line in lines))


def _ask(terminal: Terminal, review: Review) -> None:
    """Ask; anything but the right answer refuses."""
    disclosure = review.disclosure
    if disclosure.executes:
        question = (
            f"\nTo approve, type the first {TYPED_DIGITS} characters after 'lp1:sha256:' of the "
            "digest above\n(anything else refuses): "
        )
        wanted = disclosure.digest.removeprefix(PREFIX)[:TYPED_DIGITS]
        agreed = terminal.ask(question) == wanted
    else:
        agreed = terminal.ask("\nApprove? [y/N] ").lower() in ("y", "yes")
    if not agreed:
        raise declined(review.plugin)


def _tell(session: Session, plugin: Plugin, review: Review, *, approved: bool) -> None:
    output = session.output
    digest = review.disclosure.digest
    if output.as_json:
        data = {"approved": True, "changed": approved, "digest": digest}
        output.document(plugin.to_dict() | data)
        return
    name = f"{exact(plugin.name)} {exact(plugin.version)}"
    if approved:
        output.text(f"Approved {name}: {digest}")
        output.text(f"It is {state_of(plugin)} now.")
        for key, why in plugin.refused_names:
            output.text(
                wrapped(f"But {label(*key.split(':', 1))} is refused: {why}.", output.width)
            )
    else:
        output.text(f"Nothing to approve: exactly these files of {name} are approved already.")
        output.text(f"It is {state_of(plugin)}: {digest}")
    if plugin.state != states.ACTIVE:
        output.text(wrapped(plugin.reason, output.width, "  "))
        if plugin.next_command:
            output.text(f"Next: {plugin.next_command}")


@click.command(
    "revoke",
    cls=Command,
    short_help="Take an approval back.",
    help="""Take an approval back: no new call enters the plugin, in any process.

    Works also when the plugin's directory is gone or broken. Nothing of it is imported.
    Code that a running program has already loaded stays there until it is restarted.
    """,
    examples=[
        ("revoke web-research", "It is untrusted again."),
        ("revoke /path/to/web-research", "The approval of one copy."),
    ],
)
@plugin_argument
@json_option
@pass_session
def revoke_command(session: Session, name: str) -> None:
    """Take an approval back."""
    host, output = session.host, session.output
    try:
        revoked = host.revoke(name)
    except PluginNotFoundError:
        plugin = host.plugins.find(name)  # raises again if there is no such plugin
        if output.as_json:
            output.document(_revocation(plugin.name, plugin.location, False, False))
        else:
            output.text(f"Nothing changed: {exact(plugin.name)} is not approved.")
        return
    if output.as_json:
        told = _revocation(revoked.name, revoked.location, True, revoked.was_imported)
        output.document(told)
        return
    output.text(f"Revoked {exact(revoked.name)} at {exact(revoked.location)}.")
    output.text(
        wrapped(
            f"No new call enters it. A running program that has loaded its code keeps that "
            f"code: restart {host.name} to be rid of it.",
            output.width,
        )
    )


def _revocation(name: str, location: str, revoked: bool, was_imported: bool) -> dict[str, Any]:
    return {
        "name": name,
        "location": location,
        "revoked": revoked,
        "was_imported": was_imported,
    }
