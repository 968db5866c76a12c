"""The variable by which the scripts of ``lionplug completion`` ask for candidates."""

from __future__ import annotations

COMPLETE_VARIABLE = "_LIONPLUG_COMPLETE"
