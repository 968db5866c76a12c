"""Files: opened, walked, matched, written and locked so that nobody else decides what is read.

Nothing in this package knows plugins. Each module holds one idea: ``owners`` (who can
write it), ``opening`` (by descriptor, no links), ``trees`` (what a tree consists of),
``links`` and ``names`` (which trees are refused), ``exclude`` (what is left out),
``writing`` (old or new, never half), ``locks``.
"""
