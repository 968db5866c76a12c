"""What the user and a project say in ``settings.yaml``: closed lists (S26).

The file is only read. A project can switch off its own plugins and propose hooks, and
nothing else; every other key there is ignored with one warning. What can't be read is
never taken for "nothing said": of a key that can't be read the strictest reading holds,
so an unreadable ``disabled`` disables everything.
"""

from __future__ import annotations

from lionplug.settings.fields import PROJECT_KEYS, USER_KEYS
from lionplug.settings.model import Everything, ExternalHook, Settings
from lionplug.settings.reading import read_settings

__all__ = [
    "PROJECT_KEYS",
    "USER_KEYS",
    "Everything",
    "ExternalHook",
    "Settings",
    "read_settings",
]
