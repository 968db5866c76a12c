"""The ``lionplug`` command: presentation only, every decision is the host's.

``main`` is the program; ``app.make_cli`` gives the same commands as a click group, which
an application mounts under a command of its own. Exit codes: 0 done, 1 refused or failed,
2 usage, 130 interrupted, 141 the reader of standard output went away.
"""
