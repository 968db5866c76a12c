"""The ``__import__`` that the modules of a bundle are given.

An absolute import of a name at the bundle's root gets the pinned sibling, without an
entry on ``sys.path`` and without touching anybody's entry in ``sys.modules``. The names
of the standard library keep their meaning, whatever files a bundle has.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lionplug.activation.locate import top_level_names
from lionplug.activation.namespace import PREFIX, Namespace
from lionplug.text import exact

_PARENT = PREFIX.rstrip(".")

# Makes __import__ return the module named last instead of the one named first.
_LEAF = ("__name__",)


def make_builtins(namespace: Namespace, plugin_of: Callable[[str], str]) -> dict[str, Any]:
    """Return the ``__builtins__`` for the modules of ``namespace``.

    :param plugin_of: Names the plugin behind a package, for messages.
    """
    package = namespace.package
    own = package + "."
    siblings: frozenset[str] | None = None

    def is_sibling(name: str) -> bool:
        nonlocal siblings
        if siblings is None:
            siblings = top_level_names(namespace.tree) - sys.stdlib_module_names - {"__main__"}
        return name in siblings

    def refuse_others(name: str, fromlist: Sequence[str]) -> None:
        names = [f"{PREFIX}{item}" for item in fromlist] if name == _PARENT else [name]
        for one in names:
            if one.startswith(PREFIX) and one != package and not one.startswith(own):
                other = PREFIX + one[len(PREFIX) :].partition(".")[0]
                raise ImportError(
                    f"plugin {exact(namespace.plugin)} can't import a module of plugin "
                    f"{exact(plugin_of(other))}: a bundle imports its own files and installed "
                    "packages. Copy the file into the bundle, or make it a package.",
                    name=one,
                )

    def __import__(
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        if level == 0:
            top = name.partition(".")[0]
            if is_sibling(top):
                module = builtins.__import__(own + name, globals, locals, fromlist or _LEAF, 0)
                if fromlist or name == top:
                    return module
                # Without names to take out, an import statement binds the first name.
                return builtins.__import__(own + top, globals, locals, _LEAF, 0)
            absolute = name
        else:
            parent = (globals or {}).get("__package__") or ""
            base = parent.rsplit(".", level - 1)[0]
            absolute = f"{base}.{name}" if name else base
        if absolute.startswith(_PARENT):
            refuse_others(absolute, fromlist or ())
        return builtins.__import__(name, globals, locals, fromlist or (), level)

    return {**vars(builtins), "__import__": __import__}
