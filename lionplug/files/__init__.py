"""Files: opened, walked, matched, written and locked so that nobody else decides what is read.

Nothing in this package knows plugins. Each module holds one idea: ``owners`` (who can
write it), ``opening`` (by descriptor, no links), ``trees`` (what a tree consists of),
``links`` and ``names`` (which trees are refused), ``exclude`` (what is left out),
``writing`` (old or new, never half), ``locks``.
"""

import os

if os.name != "posix":
    raise ImportError(
        "lionplug needs owners, modes and descriptors as POSIX has them (Linux, macOS, BSD); "
        f"on this system ({os.name}) it can't tell who may change a plugin"
    )
