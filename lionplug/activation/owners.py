"""Whose code is running: read off the stack, so that calls cost nothing for it.

The nearest frame counts that runs the code of a bundle, or a function of ours that
runs a plugin. It holds for threads, tasks and callbacks of a bundle as well, whose
context tells nothing.
"""

from __future__ import annotations

import sys

from lionplug.activation.loader import BundleLoader
from lionplug.activation.proxies import attributing_codes


def running_plugin() -> str | None:
    """Return the name of the plugin whose code called, however indirectly."""
    frame = sys._getframe(1)
    while frame is not None:
        loader = frame.f_globals.get("__loader__")
        if isinstance(loader, BundleLoader):
            return loader.namespace.plugin
        if frame.f_code in attributing_codes:
            return str(frame.f_locals["plugin"])
        frame = frame.f_back  # type: ignore[assignment]
    return None
