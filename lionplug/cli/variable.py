"""The variable by which the scripts of ``lionplug completion`` ask for candidates.

It is the one that click derives from the name of the program.
"""

from __future__ import annotations

COMPLETE_VARIABLE = "_LIONPLUG_COMPLETE"
