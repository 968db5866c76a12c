"""Running the source of one pinned module; no cached bytecode is read or written."""

from __future__ import annotations

import os
import sys
from contextvars import ContextVar
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from io import IncrementalNewlineDecoder
from time import perf_counter_ns
from types import CodeType, ModuleType
from typing import Any

from lionplug.activation.failures import failures
from lionplug.activation.locate import Located
from lionplug.activation.log import Activation
from lionplug.activation.namespace import Namespace
from lionplug.errors import StoreError
from lionplug.files.writing import make_private_directory
from lionplug.imports import safe_imports
from lionplug.sources.encoding import declared_encoding, is_utf8_name


class Loading:
    """One request for a module, on its way in this thread.

    :ivar namespace: The namespace as the asking host knows it.
    :ivar module: Full name of the module that is asked for.
    :ivar file: Path of its file relative to the root.
    :ivar hook: The hook whose call asks.
    """

    __slots__ = ("file", "hook", "module", "namespace")

    def __init__(self, namespace: Namespace, module: str, file: str, hook: str) -> None:
        self.namespace = namespace
        self.module = module
        self.file = file
        self.hook = hook


current_loading: ContextVar[Loading | None] = ContextVar("lionplug_loading", default=None)


class BundleLoader(Loader):
    """Loads one module from the approved tree.

    :param namespace: Whose module.
    :param found: Where it lies in the tree.
    :param builtins: The ``__builtins__`` of the bundle's modules.
    """

    def __init__(self, namespace: Namespace, found: Located, builtins: dict[str, Any]) -> None:
        self.namespace = namespace
        self._found = found
        self._builtins = builtins

    def spec(self, name: str) -> ModuleSpec:
        """Return the module's spec; its paths are those of the store."""
        spec = ModuleSpec(name, self, origin=self._file or None, is_package=self._found.is_package)
        if self._found.is_package:
            spec.submodule_search_locations = [self._folder]
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Leave it to the import system."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Run the pinned source in the module."""
        tree = self.namespace.tree
        space = module.__dict__
        space["__builtins__"] = self._builtins
        space["__plugin_root__"] = tree.root
        space["__plugin_data__"] = self.namespace.data_dir
        if not self._found.file:
            return
        space["__file__"] = self._file
        loading = current_loading.get()
        if loading is not None and loading.module != module.__name__:
            self._run(space, loading)
            return
        # The import system holds the lock of this module, so that of several threads
        # that ask for it at once one runs it and all learn how that ended.
        if loading is not None:
            failures.raise_known(self.namespace.package, self._found.file)
        try:
            self._run(space, loading)
        except (Exception, SystemExit) as error:
            if loading is not None and not isinstance(error, StoreError):
                failures.record(self.namespace, self._found.file, error)
            raise

    def _run(self, space: dict[str, Any], loading: Loading | None) -> None:
        began = perf_counter_ns()
        source = self.namespace.tree.read(self._found.file)
        if b"__plugin_data__" in source:
            make_private_directory(self.namespace.data_dir)
        exec(compile_source(source, self._file), space)
        host = self.namespace if loading is None else loading.namespace
        host.log.add(
            Activation(
                module=self._found.file,
                plugin=self.namespace.plugin,
                hook=loading.hook if loading else "",
                milliseconds=(perf_counter_ns() - began) / 1e6,
            )
        )

    def get_code(self, name: str) -> CodeType | None:
        """Return the compiled pinned source; ``None`` for a plain folder."""
        if not self._found.file:
            return None
        return compile_source(self.namespace.tree.read(self._found.file), self._file)

    def get_source(self, name: str) -> str | None:
        """Return the pinned source as text; ``None`` for a plain folder."""
        if not self._found.file:
            return None
        text = self.namespace.tree.read(self._found.file).decode("utf-8-sig")
        return IncrementalNewlineDecoder(None, True).decode(text)

    def get_filename(self, name: str) -> str:
        """Return the path of the module's file in the store."""
        if not self._found.file:
            raise ImportError("a folder without __init__.py has no file", name=name)
        return self._file

    def is_package(self, name: str) -> bool:
        """Tell whether the module can hold modules."""
        return self._found.is_package

    def get_data(self, path: str) -> bytes:
        """Return the pinned bytes of a file, as :func:`pkgutil.get_data` asks for them.

        :param path: A path in the store.
        :raises OSError: It is no file of this tree.
        """
        relative = os.path.relpath(path, self.namespace.tree.root).replace(os.sep, "/")
        try:
            return self.namespace.tree.read(relative)
        except (KeyError, StoreError) as error:
            raise OSError(f"{path} is no file of what was approved") from error

    def get_resource_reader(self, name: str) -> Any:
        """Return a reader of the files beside the module, for :mod:`importlib.resources`."""
        with safe_imports():
            from lionplug.activation.resources import FolderReader
        return FolderReader(self._folder)

    @property
    def _file(self) -> str:
        return os.path.join(self.namespace.tree.root, self._found.file) if self._found.file else ""

    @property
    def _folder(self) -> str:
        return os.path.join(self.namespace.tree.root, self._found.folder).rstrip(os.sep)


def compile_source(source: bytes, path: str) -> CodeType:
    """Compile a module, which must be UTF-8.

    :raises SyntaxError: It is not Python, not UTF-8, or declares another encoding: what
        a person reads must be what runs (security rule S25).
    """
    encoding = declared_encoding(source)
    if encoding is not None and not is_utf8_name(encoding):
        raise SyntaxError(
            f"the file declares the encoding {encoding!r}; expected UTF-8, save it as such "
            "and take the declaration out",
            (path, 1, 1, None),
        )
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise SyntaxError(
            f"byte {source[error.start]:#04x} is not valid UTF-8; save the file as UTF-8",
            (path, line, 1, None),
        ) from None
    # Text, not bytes: the compiler then looks for no declaration of its own.
    return compile(text, path, "exec", dont_inherit=True)


def forget_modules(package: str) -> None:
    """Take the modules of a package out of ``sys.modules``; code that runs goes on."""
    own = package + "."
    for name in list(sys.modules):
        if name == package or name.startswith(own):
            sys.modules.pop(name, None)
    parent, _, tail = package.rpartition(".")
    if parent in sys.modules:
        vars(sys.modules[parent]).pop(tail, None)
