"""lionplug: plugins that are visible before they are trusted, and trusted before they run.

The names below are loaded on first use, so that importing the package costs next to
nothing and loads nothing but itself.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lionplug.errors import LionplugError as LionplugError
    from lionplug.host import Host as Host
    from lionplug.markers import hookimpl as hookimpl
    from lionplug.markers import hookspec as hookspec

__version__ = "0.1.0"
__all__ = ["Host", "LionplugError", "__version__", "hookimpl", "hookspec"]

if not TYPE_CHECKING:  # type checkers report a misspelt name only if they don't see this

    def __getattr__(name):
        homes = {
            "Host": "lionplug.host",
            "LionplugError": "lionplug.errors",
            "hookimpl": "lionplug.markers",
            "hookspec": "lionplug.markers",
        }
        if name not in homes:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from lionplug.imports import safe_imports

        with safe_imports():
            home = __import__(homes[name], fromlist=(name,))
        value = globals()[name] = getattr(home, name)
        return value

    def __dir__():
        return list(__all__)
