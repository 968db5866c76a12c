"""The package below which the modules of approved bundles live; empty itself.

Importing it installs their finder, so that a pickle or a child process that names one
of these modules finds it, if an approval in force is behind it.
"""

from __future__ import annotations

from lionplug.activation.finder import finder

#: Nothing is ever searched for in a folder, whoever asks.
__path__ = []

finder.install()
