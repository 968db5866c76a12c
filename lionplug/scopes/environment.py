"""Environment variables as they were when the process started (security rule S6).

Many applications load a ``.env`` file of the working directory, so the values that are
found later may have been chosen by a repository. Linux keeps the first ones.
"""

from __future__ import annotations

import os

from lionplug.text import exact

#: Where Linux shows the environment that a process was started with.
START_ENVIRONMENT = "/proc/self/environ"


def environment_value(name: str) -> tuple[str | None, str | None]:
    """Return the value of a variable, and a warning if another one was set since the start.

    Where the first environment can't be read (no ``/proc``), the present value counts.
    An empty value counts as none.

    :param name: Name of the variable.
    :returns: The value or ``None``, and the text of the warning or ``None``.
    """
    present = os.environ.get(name) or None
    start = _start_environment()
    if start is None:
        return present, None
    value = start.get(os.fsencode(name)) or None
    first = None if value is None else os.fsdecode(value)
    if present is None or present == first:
        return first, None
    return first, (
        f"{name}={exact(present)} was set after this process had started, by a .env file "
        "perhaps, and is ignored; set it before the program starts"
    )


def _start_environment() -> dict[bytes, bytes] | None:
    try:
        with open(START_ENVIRONMENT, "rb") as file:
            data = file.read()
    except OSError:
        return None
    found: dict[bytes, bytes] = {}
    for item in data.split(b"\0"):
        name, equals, value = item.partition(b"=")
        if equals:
            found.setdefault(name, value)  # the first one counts, as for getenv
    return found
