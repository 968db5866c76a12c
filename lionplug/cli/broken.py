"""A bundle that can't be used: which copy it is, and everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lionplug.errors import ManifestError
from lionplug.text import exact
from lionplug.trust.layout import plural

if TYPE_CHECKING:
    from lionplug.inventory.plugin import Plugin


@contextmanager
def named_if_broken(plugin: Plugin, wanted: str) -> Iterator[None]:
    """Have an error of the manifest name the copy that it is about.

    :param plugin: The copy that is copied and read.
    :param wanted: What was to be done with it, such as ``approved``.
    :raises ManifestError: Its manifest can't be used; each problem is on a line of its own.
    """
    try:
        yield
    except ManifestError as error:
        raise ManifestError(
            error.problems,
            f"{exact(plugin.name)} at {exact(plugin.location)} can't be {wanted}: its manifest has "
            f"{plural(len(error.problems), 'problem')}. Mend first:",
            plugin=plugin.name,
        ) from None
