"""Surfaces: the kinds of capability, each with a contract, a view on the host and a loader.

A surface is described by one :class:`lionplug.surfaces.surface.Surface`; everything
else (listing, disclosure, gate) follows from that description.
"""
