"""Optional parts of lionplug, each in a module of its own.

A module here may need packages that lionplug itself does not: it is imported only
when a host asks for it, and its dependencies come with an extra of the same name.
"""
