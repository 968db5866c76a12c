"""The answers that don't approve: one rule and one text, for programs and for the command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lionplug.errors import TrustError
from lionplug.text import exact, quote
from lionplug.trust.digest import is_digest, same_digest

if TYPE_CHECKING:
    from lionplug.inventory.plugin import Plugin


def digest_problem(expect: str) -> str | None:
    """Say why a text is no full tree digest; ``None`` if it is one."""
    if is_digest(expect):
        return None
    return f"{exact(expect)} is no full tree digest; expected lp1:sha256: and 64 hex digits."


def require_digest(plugin: Plugin, found: str, expect: str, command: str) -> None:
    """Compare the digest of a staged copy with the expected one.

    :param plugin: The copy that is to be approved.
    :param found: The digest of what was staged.
    :param expect: The digest that was asked for.
    :param command: The host's command.
    :raises TrustError: if they differ.
    """
    if same_digest(found, expect):
        return
    verb = "info" if plugin.record is None else "diff"
    raise TrustError(
        f"{exact(plugin.name)} is not approved: its tree is {found}, expected {expect}. "
        "Look at what it brings before you go on.",
        plugin=plugin.name,
        command=f"{command} {verb} {quote(plugin.address)}",
    )


def declined(plugin: Plugin) -> TrustError:
    """Return the error for an answer that was not yes."""
    return TrustError(
        f"{exact(plugin.name)} is not approved: the answer was no. Nothing of it runs.",
        plugin=plugin.name,
    )
