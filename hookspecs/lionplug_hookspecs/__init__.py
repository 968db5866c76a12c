"""The contracts between hosts and plugins: one module of hook specifications per surface.

Nothing but pluggy is imported here, so that a plugin can depend on the contract alone.
Every surface follows one pattern: ``list_<surface>`` tells what there is, as data, and
``provide_<surface>`` hands one of it out.
"""
