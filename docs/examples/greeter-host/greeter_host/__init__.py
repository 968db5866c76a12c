"""An application that greets people, and lets plugins take part."""

from __future__ import annotations

from datetime import datetime

import lionplug
from greeter_host import hookspecs

__version__ = "1.0"

hookimpl = lionplug.hookimpl


class BuiltIns:
    """What the application answers where no plugin does."""

    @hookimpl(trylast=True)
    def choose_greeting(self, hour: int) -> str:
        return "Good morning" if 4 <= hour < 12 else "Hello"


def make_host(user_dir: str | None = None) -> lionplug.Host:
    """Return the host with all that belongs to it.

    :param user_dir: Absolute path of the user scope instead of ``~/.greeter``; for tests.
    """
    host = lionplug.Host(
        "greeter", version=__version__, command="greeter plugin", user_dir=user_dir
    )
    host.add_hookspecs(hookspecs)
    host.register(BuiltIns(), name="greeter built-ins")
    host.tools.reserve(["greet"])
    return host


def greet(host: lionplug.Host, name: str, hour: int | None = None) -> str:
    """Greet somebody.

    :param host: The application's host.
    :param name: Whom to greet.
    :param hour: Hour of the day; that of now by default.
    """
    hour = datetime.now().hour if hour is None else hour
    text = f"{host.hook.choose_greeting(name=name, hour=hour)}, {name}!"
    host.hook.greeted(name=name, text=text)
    return text
