"""Lazy implementations: functions that stand in pluggy for code not yet imported.

There are three templates, because pluggy looks at what kind of function it is given.
Each asks for the grant itself on every call, whether or not the gate stands around it,
and comes to the plugin's code only behind that answer (security rule S18).
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Generator
from types import CodeType, FunctionType
from typing import Any, Literal

import pluggy
from attrs import frozen

from lionplug.activation.adapter import PASSES_DEFAULTED, own_arguments
from lionplug.activation.notes import add_origin
from lionplug.errors import ActivationError, LionplugError, NotGrantedError
from lionplug.gate import CallRecord, Policy, Standing, current_record, record_of
from lionplug.markers import hookimpl
from lionplug.text import exact

Kind = Literal["plain", "wrapper", "hookwrapper"]

_logger = logging.getLogger("lionplug")


@frozen(kw_only=True)
class LazyHook:
    """One hook that a plugin implements by a function not yet imported.

    :ivar hook: Name of the hook.
    :ivar resolve: Imports and returns the function; raises a :class:`LionplugError`.
    :ivar arguments: Its argument names in order, from the record or the pinned source;
        ``None`` if neither tells, which means the arguments of the specification.
    :ivar defaults: Defaults of the last of them.
    :ivar kind: ``"plain"``, ``"wrapper"`` or ``"hookwrapper"``, as pluggy's options.
    """

    hook: str
    resolve: Callable[[], Callable[..., Any]]
    arguments: tuple[str, ...] | None = None
    defaults: tuple[Any, ...] = ()
    kind: Kind = "plain"
    tryfirst: bool = False
    trylast: bool = False
    optional: bool = False

    def options(self) -> pluggy.HookimplOpts:
        """Return pluggy's options for it."""
        return {
            "wrapper": self.kind == "wrapper",
            "hookwrapper": self.kind == "hookwrapper",
            "optionalhook": self.optional,
            "tryfirst": self.tryfirst,
            "trylast": self.trylast,
            "specname": self.hook,
        }


class Target:
    """What a proxy calls: nothing at first, the plugin's function once it was needed.

    :param lazy: The implementation.
    :param plugin: Name of the plugin.
    :param grant: What to ask whether the plugin may run.
    :param policy: What to ask, and whom to tell.
    :param given: The argument names that pluggy is told.
    """

    __slots__ = (
        "_given",
        "_lazy",
        "_warned",
        "function",
        "grant",
        "hook",
        "key",
        "plugin",
        "policy",
    )

    def __init__(
        self, lazy: LazyHook, plugin: str, grant: Standing, policy: Policy, given: tuple[str, ...]
    ) -> None:
        self.function: Callable[..., Any] | None = None
        self.hook = lazy.hook
        self.key = policy.key(lazy.hook)
        self.plugin = plugin
        self.grant = grant
        self._lazy = lazy
        self.policy = policy
        self._given = given
        self._warned: set[str] = set()

    def refuse(self) -> None:
        """Note that the grant was asked for and refused."""
        record = self._open_record()
        record.note(self.grant)
        if not record.open:
            self.policy.report(record)

    def activate(self) -> Callable[..., Any] | None:
        """Import the function; ``None``, with one warning, if that fails."""
        try:
            self.function = self._fitted(self._lazy.resolve())
        except NotGrantedError:
            self.refuse()
        except (LionplugError, OSError) as error:
            self._fail(error)
        return self.function

    def _fail(self, error: Exception) -> None:
        record = self._open_record()
        record.note(self.grant, error)
        if not record.open:
            self.policy.report(record)
        message = str(error)
        if message not in self._warned:
            self._warned.add(message)
            _logger.warning("%s", message)

    def _open_record(self) -> CallRecord:
        return record_of(self.key) or CallRecord(self.key)

    def _fitted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Check what was imported against what pluggy was told, and bridge a difference."""
        if self._lazy.kind != "plain" and not inspect.isgeneratorfunction(function):
            raise self._misfit(f"is declared as {self._lazy.kind} but has no yield")
        if inspect.isbuiltin(function):  # its arguments are not to be seen
            return function
        required, optional = own_arguments(function)
        defaulted = len(self._lazy.defaults)
        count = len(self._given) - defaulted
        if (required, optional) == (self._given[:count], self._given[count:]):
            return function
        unknown = [name for name in required if name not in self._given]
        if unknown:
            names = ", ".join(map(exact, unknown))
            raise self._misfit(f"asks for arguments that are not passed to it: {names}")
        return _by_name(function, self._given, required, optional if PASSES_DEFAULTED else ())

    def _misfit(self, what: str) -> ActivationError:
        return ActivationError(
            f"plugin {exact(self.plugin)}: the implementation of hook {exact(self.hook)} "
            f"{what}. Its author must correct the function or its entry in plugin.yaml.",
            plugin=self.plugin,
        )


def _by_name(
    function: Callable[..., Any],
    given: tuple[str, ...],
    required: tuple[str, ...],
    optional: tuple[str, ...],
) -> Callable[..., Any]:
    def values_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        values = {**dict(zip(given, args, strict=False)), **kwargs}
        return {name: values[name] for name in required + optional if name in values}

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(**values_of(args, kwargs))

    return call


def make_proxy(target: Target, lazy: LazyHook, given: tuple[str, ...]) -> Callable[..., Any]:
    """Return the function that stands in pluggy for a lazy implementation.

    :param given: Names of its arguments; the last ones have ``lazy.defaults``.
    """
    template = {"plain": _plain, "wrapper": _wrapper, "hookwrapper": _old_wrapper}[lazy.kind]
    proxy: Any = template(target)
    proxy.__name__ = proxy.__qualname__ = lazy.hook
    # pluggy reads the arguments off the function that is wrapped: 1.6 from its signature,
    # 1.7 from its code.
    proxy.__wrapped__ = _stub(lazy.hook, given, lazy.defaults)
    marked: Callable[..., Any] = hookimpl(
        wrapper=lazy.kind == "wrapper",
        hookwrapper=lazy.kind == "hookwrapper",
        optionalhook=lazy.optional,
        tryfirst=lazy.tryfirst,
        trylast=lazy.trylast,
        specname=lazy.hook,
    )(proxy)
    attributing_codes.add(proxy.__code__)
    return marked


#: Code of functions that run a plugin's code and have its name in a variable ``plugin``.
attributing_codes: set[CodeType] = set()


def _plain(target: Target) -> Callable[..., Any]:
    hook, plugin, grant = target.hook, target.plugin, target.grant
    look, key = target.policy.look, target.key

    def proxy(*args: Any, **kwargs: Any) -> Any:
        record = current_record()
        if not record.open or record.key is not key:
            look()
        if not grant.stands:
            target.refuse()
            return None
        function = target.function or target.activate()
        if function is None:
            return None
        try:
            # Without the dictionary the call is a good deal cheaper.
            return function(*args, **kwargs) if kwargs else function(*args)
        except Exception as error:
            add_origin(error, "hook", hook, plugin)
            raise

    return proxy


def _admitted(target: Target) -> Callable[..., Any] | None:
    """Return the plugin's function if it may run now."""
    record = current_record()
    if not record.open or record.key is not target.key:
        target.policy.look()
    if not target.grant.stands:
        target.refuse()
        return None
    return target.function or target.activate()


def _wrapper(target: Target) -> Callable[..., Any]:
    hook, plugin = target.hook, target.plugin

    def proxy(*args: Any, **kwargs: Any) -> Generator[None, Any, Any]:
        function = _admitted(target)
        if function is None:
            return (yield)
        passing: BaseException | None = None
        try:
            steps = function(*args, **kwargs)
            steps.send(None)
            # Driven by hand: what the inner implementations raise only passes through,
            # and must not be said to come from here.
            try:
                value = yield
            except BaseException as error:  # noqa: BLE001 - thrown on at once
                passing = error
                steps.throw(error)
            else:
                steps.send(value)
            steps.close()
            raise RuntimeError(f"hook {hook}: a wrapper of plugin {plugin} yielded twice")
        except StopIteration as stop:
            return stop.value
        except Exception as error:
            if error is not passing:
                add_origin(error, "hook", hook, plugin)
            raise

    return proxy


def _old_wrapper(target: Target) -> Callable[..., Any]:
    hook, plugin = target.hook, target.plugin

    def proxy(*args: Any, **kwargs: Any) -> Generator[None, Any, None]:
        function = _admitted(target)
        if function is None:
            yield
            return
        try:
            yield from function(*args, **kwargs)
        except Exception as error:
            add_origin(error, "hook", hook, plugin)
            raise

    return proxy


def _stub(name: str, arguments: tuple[str, ...], defaults: tuple[Any, ...]) -> FunctionType:
    """Return a function with the given signature, made from data and not from source text."""

    def stub() -> None: ...

    code = stub.__code__.replace(
        co_argcount=len(arguments),
        co_nlocals=len(arguments),
        co_varnames=arguments,
        co_name=name,
    )
    made = FunctionType(code, {}, name, defaults or None)
    made.__qualname__ = name
    return made
