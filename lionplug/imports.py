"""Deferred imports that never load a module from the working directory.

lionplug imports heavy modules only in the call that needs them, which may be the
moment when the working directory is a hostile repository. ``sys.path`` often names
that directory (``python -m``, an interactive interpreter, ``PYTHONPATH=.``), so an
ordinary ``import yaml`` there would run the repository's ``yaml.py``. Every import
inside a function therefore stands in a ``with safe_imports():`` block
(security rule S19).
"""

from __future__ import annotations

import os
import sys

# Only modules that every interpreter has loaded before the first line of any program:
# an ordinary import here would itself be searched for in the working directory.
from _frozen_importlib import BuiltinImporter, FrozenImporter
from _frozen_importlib_external import PathFinder
from _thread import get_ident

from lionplug.workdir import is_inside, project_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType, TracebackType


class SafePath:
    """The entries of ``sys.path`` from which code may be loaded, worked out once per change."""

    def __init__(self) -> None:
        self._known: tuple[object, list[str]] = ((), [])
        self._own: frozenset[str] = frozenset()
        self._learning: set[int] = set()

    def entries(self) -> list[str]:
        try:
            cwd: str | None = os.path.realpath(os.getcwd())
        except OSError:
            cwd = None
        entries = tuple(entry for entry in sys.path if isinstance(entry, str))
        key, path = self._known  # one tuple, so that threads see a key with its own path
        if key == (cwd, entries):
            return path
        if not self._own:
            thread = get_ident()
            if thread in self._learning:  # the imports that follow ask for it themselves
                return self._standard_library()
            self._learning.add(thread)
            try:
                self._own = self._own_folders()
            finally:
                self._learning.discard(thread)
        roots = [] if cwd is None else [cwd, project_root(cwd) or cwd]
        path = [entry for entry in entries if self._is_safe(entry, roots)]
        self._known = ((cwd, entries), path)
        return path

    def _is_safe(self, entry: str, roots: list[str]) -> bool:
        if not os.path.isabs(entry):
            return False
        real = os.path.realpath(entry)
        return real in self._own or not any(is_inside(real, root) for root in roots)

    def _standard_library(self) -> list[str]:
        library = os.path.dirname(os.path.abspath(os.__file__))
        return [library, os.path.join(library, "lib-dynload")]

    def _own_folders(self) -> frozenset[str]:
        """Return folders of this interpreter, and the one that this very code came from."""
        import site
        import sysconfig

        paths = sysconfig.get_paths()
        found = self._standard_library() + site.getsitepackages()
        found += [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
        if site.ENABLE_USER_SITE:
            found.append(site.getusersitepackages())
        found.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        return frozenset(map(os.path.realpath, found))


class _SafeFinder:
    """Stands first on ``sys.meta_path`` and answers only inside :func:`safe_imports`."""

    def __init__(self) -> None:
        self.path = SafePath()
        self._depth: dict[int, int] = {}

    def enter(self) -> None:
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)
        thread = get_ident()
        self._depth[thread] = self._depth.get(thread, 0) + 1

    def leave(self) -> None:
        thread = get_ident()
        self._depth[thread] -= 1
        if not self._depth[thread]:
            del self._depth[thread]

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is not None or get_ident() not in self._depth:
            return None
        safe = self.path.entries()
        for finder in (BuiltinImporter, FrozenImporter):
            spec = finder.find_spec(name)
            if spec is not None:
                return spec
        spec = PathFinder.find_spec(name, safe)
        if spec is not None:
            return spec
        # Editable installs bring finders of their own; the path finder is the one
        # that would search the working directory.
        for other in sys.meta_path:
            if other not in (self, BuiltinImporter, FrozenImporter, PathFinder):
                spec = other.find_spec(name, None, target)
                if spec is not None:
                    return spec
        raise ModuleNotFoundError(
            f"No module named {name!r} outside the working directory; "
            f"install it into this environment: {sys.executable}",
            name=name,
        )


_finder = _SafeFinder()


class safe_imports:  # noqa: N801 - reads as a statement: ``with safe_imports():``
    """Context in which this thread imports nothing from the working directory.

    Left out of the search are relative entries of ``sys.path`` and entries inside the
    working directory or its project root, except this interpreter's own folders and
    the folder that lionplug itself was loaded from.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        _finder.enter()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _finder.leave()


def safe_path() -> list[str]:
    """Return the entries of ``sys.path`` from which :class:`safe_imports` loads."""
    with safe_imports():
        return list(_finder.path.entries())
