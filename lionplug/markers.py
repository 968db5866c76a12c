"""The markers that name a function a hook specification or a hook implementation."""

from __future__ import annotations

import pluggy

#: Marks a function as a hook implementation for any lionplug host.
hookimpl = pluggy.HookimplMarker("lionplug")

#: Marks a function as a hook specification for any lionplug host.
hookspec = pluggy.HookspecMarker("lionplug")
