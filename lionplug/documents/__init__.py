"""Reading documents that somebody else wrote: strict YAML, and fields that declare themselves.

:mod:`lionplug.documents.yaml` turns bytes into nodes that know their line and column,
:mod:`lionplug.documents.fields` says what a field may hold, and
:mod:`lionplug.documents.declare` reads nodes into attrs classes and describes the same
classes as JSON Schema, so that the two can't disagree.
"""
