"""The surface ``tools``: named functions that an agent or a program calls with JSON arguments."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Protocol

import lionplug_hookspecs.tools
from lionplug.activation.active import ActivePlugin
from lionplug.activation.notes import note_origin
from lionplug.errors import ArgumentsError, AsyncToolError, CapabilityNotFoundError
from lionplug.imports import safe_imports
from lionplug.inventory.plugin import Plugin, approved_signature
from lionplug.manifest.capability import Capability
from lionplug.manifest.parameters import validator
from lionplug.surfaces.surface import Surface
from lionplug.text import exact
from lionplug_hookspecs.tools import ToolDeclaration

_NAME = "tools"
_MAX_PROBLEMS = 20


def declare(plugin: Plugin, capability: Capability) -> ToolDeclaration:
    """Describe a declared tool; what the manifest leaves out comes from its source (S36)."""
    detail = capability.detail
    signature = approved_signature(plugin, capability.target)
    parameters = detail.get("parameters")
    if parameters is None and signature is not None:
        parameters = signature.to_parameters()
    return ToolDeclaration(
        name=capability.name,
        plugin=plugin.name,
        description=detail.get("description") or (signature.summary if signature else ""),
        parameters=parameters,
        is_async=signature.is_async if signature else None,
        needs="" if capability.target else "an executor",
    )


def provide(active: ActivePlugin, capability: Capability) -> Callable[..., Any]:
    """Import the tool's function."""
    if not capability.target:
        raise CapabilityNotFoundError(
            f"tool {exact(capability.name)} of {active.record.name} is a command, not a function; "
            "it needs an executor, and this host has none.",
            surface=_NAME,
            name=capability.name,
            plugin=active.record.name,
        )
    return active.load(capability.target, hook="provide_tools", what=f"tool {capability.name}")


SURFACE = Surface(
    name=_NAME,
    hookspecs=lionplug_hookspecs.tools,
    exclusive=True,
    declare=declare,
    provide=provide,
)


class DeclarationSource(Protocol):
    """What the view asks of the composition root."""

    def declaration(self, surface: str, name: str) -> Any | None:
        """Return the declaration of a name: the host's own, else an active plugin's."""

    def current(self, surface: str, name: str) -> Any | None:
        """Return the declaration of a name, after a look at the approvals."""

    def declarations(self, surface: str) -> list[Any]:
        """Return all declarations of a surface that stand now, one for each name."""

    def provided(self, surface: str, name: str) -> Any | None:
        """Call ``provide_<surface>`` and return the value."""

    def missing(self, surface: str, name: str) -> CapabilityNotFoundError:
        """Explain why nobody answers."""

    def reserve(self, surface: str, names: Iterable[str]) -> None:
        """Keep names for the host."""


class Validator(Protocol):
    """A compiled JSON Schema."""

    def problems(self, arguments: Mapping[str, Any]) -> list[str]:
        """Return one sentence for each thing that does not fit."""


class Tool:
    """A handle on one tool. It holds no function: every call is checked anew.

    :ivar name: Name of the tool.
    :ivar plugin: Name of the plugin that declares it; the host's name for its own tools.
    :ivar description: What it does, for a person or a model.
    :ivar parameters: JSON Schema of its arguments; ``None`` if not known.
    :ivar is_async: Whether it must be awaited; ``None`` if not known before its first call.
    :ivar needs: What is missing before it can be called; leave such a tool out of what a
        model is offered.
    """

    __slots__ = ("_tools", "description", "is_async", "name", "needs", "parameters", "plugin")

    def __init__(self, declaration: ToolDeclaration, tools: Tools) -> None:
        self.name = declaration.name
        self.plugin = declaration.plugin
        self.description = declaration.description
        self.parameters = declaration.parameters
        self.is_async = declaration.is_async
        self.needs = declaration.needs
        self._tools = tools

    def call(self, arguments: Mapping[str, Any] | None = None) -> Any:
        """Call the tool; see :meth:`Tools.call`."""
        return self._tools.call(self.name, arguments)

    async def acall(self, arguments: Mapping[str, Any] | None = None) -> Any:
        """Await the tool; see :meth:`Tools.acall`."""
        return await self._tools.acall(self.name, arguments)

    def __repr__(self) -> str:
        return f"<Tool {self.name} of {self.plugin}>"


class Tools:
    """``host.tools``: look tools up, list them, call them."""

    def __init__(self, source: DeclarationSource) -> None:
        self._source = source
        self._validators: dict[str, tuple[object, Validator]] = {}

    def __getitem__(self, name: str) -> Tool:
        """Return a handle; imports nothing.

        :raises CapabilityNotFoundError: a ``KeyError`` that says which plugin would offer it.
        """
        declaration = self._source.current(_NAME, name)
        if declaration is None:
            raise self._source.missing(_NAME, name)
        return Tool(declaration, self)

    def __iter__(self) -> Iterator[Tool]:
        """Yield a handle for each tool, in order of name; imports nothing."""
        found = sorted(self._source.declarations(_NAME), key=lambda one: str(one.name))
        return iter([Tool(declaration, self) for declaration in found])

    def __len__(self) -> int:
        return len(self._source.declarations(_NAME))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._source.current(_NAME, name) is not None

    def reserve(self, names: Iterable[str]) -> None:
        """Keep names for the host: a plugin that declares one is refused for that name."""
        self._source.reserve(_NAME, names)

    def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """Check the arguments, import the tool if this is its first call, and call it.

        :param name: Name of the tool.
        :param arguments: JSON values by parameter name.
        :returns: What the tool returns.
        :raises CapabilityNotFoundError: if no active plugin offers it, with the reason.
        :raises ArgumentsError: if the arguments don't fit the schema.
        :raises ActivationError: if its code can't be imported.
        :raises AsyncToolError: if it must be awaited.
        """
        declaration, function = self._resolve(name, arguments)
        if inspect.iscoroutinefunction(function):
            raise _must_be_awaited(declaration)
        with note_origin("tool", name, declaration.plugin):
            result = function(**(arguments or {}))
        if inspect.isawaitable(result):
            close = getattr(result, "close", None)
            if close is not None:
                close()
            raise _must_be_awaited(declaration)
        return result

    async def acall(self, name: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """Like :meth:`call`, awaited; an ordinary function runs in a worker thread.

        Nothing is checked or imported before the coroutine is awaited, and the grant is
        checked again just before the tool's own code runs (security rule S18).
        """
        declaration, function = self._resolve(name, arguments)
        with note_origin("tool", name, declaration.plugin):
            if inspect.iscoroutinefunction(function):
                result = function(**(arguments or {}))
            else:
                with safe_imports():
                    from anyio import to_thread

                    # Which backend runs is known only now, and anyio imports it only here.
                    to_thread.current_default_thread_limiter()
                result = await to_thread.run_sync(
                    partial(self._recheck_and_run, name, dict(arguments or {}))
                )
            return await _finish(result)

    def _recheck_and_run(self, name: str, arguments: dict[str, Any]) -> Any:
        # The worker thread may have waited for long in a queue. What runs is what is approved
        # now: the function from before may be of bytes that were replaced meanwhile.
        _, function = self._resolve(name, arguments)
        return function(**arguments)

    def _resolve(
        self, name: str, arguments: Mapping[str, Any] | None
    ) -> tuple[ToolDeclaration, Callable[..., Any]]:
        # A round may be what notices that it was approved anew: what was checked would then
        # be the arguments of another function.
        for _ in range(3):
            declaration = self._source.declaration(_NAME, name)
            if declaration is None:
                break
            self._check_arguments(declaration, arguments or {})
            function = self._source.provided(_NAME, name)
            if function is not None and self._source.declaration(_NAME, name) == declaration:
                return declaration, function
        raise self._source.missing(_NAME, name)

    def _check_arguments(self, declaration: ToolDeclaration, arguments: Mapping[str, Any]) -> None:
        schema = declaration.parameters
        if schema is None:
            return
        known = self._validators.get(declaration.name)
        if known is None or known[0] is not schema:
            known = (schema, validator(dict(schema)))
            self._validators[declaration.name] = known
        problems = known[1].problems(arguments)
        if problems:
            shown = problems[:_MAX_PROBLEMS]
            raise ArgumentsError(
                f"the arguments of tool {exact(declaration.name)} "
                f"({exact(declaration.plugin)}) don't fit its parameters:\n  "
                + "\n  ".join(shown)
                + "\nLook at the tool's parameters and call it again.",
                problems=shown,
                plugin=declaration.plugin,
            )


async def _finish(result: Any) -> Any:
    return await result if isinstance(result, Awaitable) else result


def _must_be_awaited(declaration: ToolDeclaration) -> AsyncToolError:
    return AsyncToolError(
        f"tool {exact(declaration.name)} of {exact(declaration.plugin)} is asynchronous; "
        "use 'await host.tools.acall(...)'.",
        plugin=declaration.plugin,
    )
