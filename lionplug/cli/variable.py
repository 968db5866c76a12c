"""The variable by which the scripts of ``lionplug completion`` ask for candidates."""

COMPLETE_VARIABLE = "_LIONPLUG_COMPLETE"
