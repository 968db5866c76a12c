"""What the commands of one run share: the host, made on first need, and the output."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import click

from lionplug.cli.output import Output

if TYPE_CHECKING:
    from lionplug.host import Host

Function = TypeVar("Function", bound=Callable[..., Any])


class HostMaker(Protocol):
    """A group that knows the host of its commands."""

    knows_hooks: bool
    closes_host: bool

    def make_host(self, ctx: click.Context) -> Host:
        """Return a new host."""


class Session:
    """One run of the command.

    :param ctx: The context of the group.
    """

    def __init__(self, ctx: click.Context) -> None:
        self.output = Output()
        #: Whether the host's announcement names its hooks.
        self.hooks_announced = False
        self._ctx = ctx
        self._host: Host | None = None

    @property
    def host(self) -> Host:
        """The host, made when it is first asked for and closed with the group's context."""
        if self._host is None:
            self._host = self._maker.make_host(self._ctx)
            if self._maker.closes_host:
                self._ctx.call_on_close(self._host.close)
        return self._host

    def renew(self) -> None:
        """Have the next question make a host that looks at everything anew."""
        self._host = None

    @property
    def knows_hooks(self) -> bool:
        """Whether the host has all its hook specifications."""
        return self._maker.knows_hooks or self.hooks_announced

    @property
    def _maker(self) -> HostMaker:
        return cast(HostMaker, self._ctx.command)


def session_of(ctx: click.Context) -> Session:
    """Return the session of the group that a context belongs to, made on first need.

    It is found by the group and not kept in ``ctx.obj``, which belongs to the application
    that mounts the group.
    """
    group = ctx
    while not hasattr(group.command, "make_host"):
        if group.parent is None:
            raise RuntimeError("a lionplug command runs only within its group")
        group = group.parent
    sessions = group.meta.setdefault("lionplug.sessions", {})
    if id(group.command) not in sessions:
        sessions[id(group.command)] = Session(group)
    return cast(Session, sessions[id(group.command)])


def pass_session(function: Function) -> Function:
    """Give a command its session as the first argument."""

    @click.pass_context
    @wraps(function)
    def with_session(ctx: click.Context, /, *args: Any, **options: Any) -> Any:
        return ctx.invoke(function, session_of(ctx), *args, **options)

    return cast(Function, with_session)
