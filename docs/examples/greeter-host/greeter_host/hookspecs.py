"""The hooks that plugins of this application can implement."""

from __future__ import annotations

import lionplug

hookspec = lionplug.hookspec


@hookspec(firstresult=True)
def choose_greeting(name: str, hour: int) -> str | None:
    """Return the words to greet somebody with, or None to leave that to others.

    :param name: Whom the application greets.
    :param hour: Hour of the day, 0 to 23.
    """


@hookspec
def greeted(name: str, text: str) -> None:
    """Take note that somebody was greeted.

    :param name: Who was greeted.
    :param text: The whole greeting.
    """
