"""The gate: the outermost wrapper around each hook that a plugin implements lazily.

On entry it looks at the file of approvals once and opens a call record; on exit it
closes the record and hands over what was refused, so that a miss can be explained.
It holds policy and is no boundary: a historic call, ``impl.function(...)`` or a subset
reaches a plugin without it. Whatever runs a plugin therefore asks for the grant itself
and uses the record only to be spared a second look (security rule S18).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextvars import ContextVar
from typing import Any, Protocol

from attrs import field, frozen

from lionplug.markers import hookimpl


class HookKey:
    """Identity of one hook of one host; calls of a namesake in another host don't match it.

    :ivar hook: Name of the hook.
    """

    __slots__ = ("hook",)

    def __init__(self, hook: str) -> None:
        self.hook = hook


class CallRecord:
    """One call of one gated hook, shared by everything that the call runs.

    A record counts while it is open and for its own hook of its own host only. Tasks and
    threads that copied the context keep the object, and see it closed once the call is over.

    :ivar key: Which hook is called.
    :ivar open: Whether the call is still running.
    :ivar noted: What was refused or failed, in order: a plugin, and its error if it failed.
    """

    # One slot for all that is noted: a record is made for every gated call.
    __slots__ = ("key", "noted", "open")

    def __init__(self, key: HookKey) -> None:
        self.key = key
        self.open = False
        self.noted: tuple[tuple[Any, Exception | None], ...] = ()

    @property
    def hook(self) -> str:
        """Name of the hook."""
        return self.key.hook

    @property
    def refusals(self) -> tuple[Any, ...]:
        """What asked for a grant in this call and got none, in order."""
        return tuple(plugin for plugin, error in self.noted if error is None)

    @property
    def failures(self) -> tuple[tuple[Any, Exception], ...]:
        """Pairs of a plugin that could not be activated and its error, in order."""
        return tuple((plugin, error) for plugin, error in self.noted if error is not None)

    def note(self, plugin: Any, error: Exception | None = None) -> None:
        """Note that a plugin was kept out, or that it failed."""
        self.noted += ((plugin, error),)

    def __repr__(self) -> str:
        return f"<CallRecord {self.hook} {'open' if self.open else 'closed'}>"


#: Stands for "no call": it is never open.
NO_CALL = CallRecord(HookKey(""))

_current: ContextVar[CallRecord] = ContextVar("lionplug_call", default=NO_CALL)

#: Returns the record that this context was given last, open or closed.
current_record: Callable[[], CallRecord] = _current.get


def record_of(key: HookKey) -> CallRecord | None:
    """Return the open record of a call of a hook in this context, if there is one."""
    record = _current.get()
    return record if record.open and record.key is key else None


class Standing(Protocol):
    """What a proxy asks of the grant of its plugin, after a look."""

    @property
    def stands(self) -> bool:
        """Whether the plugin may run, by the last look at the approvals."""


@frozen
class Policy:
    """What the gate and the proxies of one host ask.

    :ivar look: Notices a change of the approvals with one ``stat``.
    :ivar report: Given the record of a call, closed, in which something was refused or
        could not be activated.
    """

    look: Callable[[], object]
    report: Callable[[CallRecord], None]
    _keys: dict[str, HookKey] = field(factory=dict, init=False, eq=False, repr=False)

    def key(self, hook: str) -> HookKey:
        """Return the identity of a hook of this host, the same object every time."""
        return self._keys.setdefault(hook, HookKey(hook))


class Gate:
    """A plugin object whose one implementation stands around one hook.

    :param hook: Name of the hook.
    :param policy: What to ask, and whom to tell.
    """

    def __init__(self, hook: str, policy: Policy) -> None:
        self.hook = hook
        self.wrap = _make_wrapper(hook, policy)

    def __repr__(self) -> str:
        return f"<Gate {self.hook}>"


def _make_wrapper(hook: str, policy: Policy) -> Callable[[], Generator[None, Any, Any]]:
    enter, leave, look, report = _current.set, _current.reset, policy.look, policy.report
    new, key = object.__new__, policy.key(hook)

    @hookimpl(wrapper=True, tryfirst=True, specname=hook)
    def gate() -> Generator[None, Any, Any]:
        look()
        # Filled in here: calling __init__ would cost as much as all of this.
        record = new(CallRecord)
        record.key = key
        record.open = True
        record.noted = ()
        token = enter(record)
        try:
            return (yield)
        finally:
            record.open = False
            leave(token)
            if record.noted:
                report(record)

    return gate
