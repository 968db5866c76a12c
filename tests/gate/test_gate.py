"""The gate: one look, one record, closed for everybody when the call is over (S18)."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pluggy
import pytest

from lionplug.gate import NO_CALL, CallRecord, Gate, Policy, current_record, record_of
from tests.gate.support import Approvals, World, impl, own


def revoke_then(world: World, call: Callable[[], Any]) -> Any:
    """Revoke as another process does, and call."""
    world.approvals.file.clear()
    return call()


def test_a_call_looks_once_however_many_plugins_answer() -> None:
    world = World("p0", "p1", "p2")
    for name in ("p0", "p1", "p2"):
        world.add(name, world.lazy("ask", lambda a, n=name: (n, a), ("a",)))
    world.approvals.looks = 0
    assert world.hook.ask(a=1, b=2) == [("p2", 1), ("p1", 1), ("p0", 1)]
    assert world.approvals.looks == 1


def test_a_revocation_by_another_process_counts_at_once() -> None:
    world = World("p")
    world.add("p", world.lazy("ask", lambda a: a))
    assert world.hook.ask(a=1, b=2) == [1]
    assert revoke_then(world, lambda: world.hook.ask(a=1, b=2)) == []
    assert world.approvals.refusals == [("ask", ("p",))]


def test_the_record_of_a_call() -> None:
    world = World("p")
    key = world.approvals.policy.key("ask")
    seen: list[CallRecord] = []

    def f(a: Any) -> None:
        record = current_record()
        seen.append(record)
        assert record.open
        assert record is record_of(key)
        assert record_of(world.approvals.policy.key("other")) is None
        assert record.hook == "ask"
        assert repr(record) == "<CallRecord ask open>"

    world.add("p", world.lazy("ask", f))
    world.hook.ask(a=1, b=2)
    assert repr(seen[0]) == "<CallRecord ask closed>"
    assert not seen[0].open
    assert current_record() is NO_CALL
    assert not NO_CALL.open
    assert record_of(key) is None
    assert NO_CALL.refusals == NO_CALL.failures == ()


def test_the_record_is_closed_when_the_call_fails() -> None:
    world = World("p")
    seen: list[CallRecord] = []

    def f(a: Any) -> None:
        seen.append(current_record())
        raise KeyboardInterrupt

    world.add("p", world.lazy("ask", f))
    with pytest.raises(KeyboardInterrupt):
        world.hook.ask(a=1, b=2)
    assert not seen[0].open
    assert current_record() is NO_CALL


def test_s18_a_task_started_inside_a_hook_has_no_permission_from_it() -> None:
    world = World("p", "q")
    key = world.approvals.policy.key("ask")
    tasks: list[asyncio.Task[Any]] = []

    async def later() -> Any:
        assert current_record().hook == "ask"  # the context was copied
        assert record_of(key) is None  # and its record is closed
        return world.hook.ask.get_hookimpls()[0].function(1)

    def start(a: Any) -> None:
        tasks.append(asyncio.get_running_loop().create_task(later()))

    world.add("q", world.lazy("ask", lambda a: "ran"))
    world.add("p", world.lazy("ask", start))

    async def main() -> Any:
        world.hook.ask(a=1, b=2)
        world.approvals.file.clear()
        return await tasks[0]

    assert asyncio.run(main()) is None
    assert world.approvals.refusals == [("ask", ("q",))]


def test_s18_a_thread_with_the_context_has_no_permission_after_the_call() -> None:
    world = World("p")
    contexts: list[contextvars.Context] = []
    world.add(
        "p", world.lazy("ask", lambda a: contexts.append(contextvars.copy_context()) or "ran")
    )
    proxy = world.hook.ask.get_hookimpls()[0].function
    assert world.hook.ask(a=1, b=2) == ["ran"]
    found: list[Any] = []

    def work() -> None:
        found.append(contexts[0].run(proxy, 1))

    def run() -> None:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    run()
    revoke_then(world, run)
    assert found == ["ran", None]


def test_s18_a_thread_inside_the_call_shares_its_record() -> None:
    world = World("p", "q")
    looks: list[int] = []

    def f(a: Any) -> Any:
        before = world.approvals.looks
        context = contextvars.copy_context()
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(
                context.run, world.hook.ask.get_hookimpls()[0].function, 1
            ).result()
        looks.append(world.approvals.looks - before)
        return answer

    world.add("q", world.lazy("ask", lambda a: "ran"))
    world.add("p", world.lazy("ask", f))
    assert world.hook.ask(a=1, b=2) == ["ran", "ran"]
    assert looks == [0]


def test_s18_an_executor_thread_looks_itself() -> None:
    world = World("p")
    world.add("p", world.lazy("ask", lambda a: "ran"))
    proxy = world.hook.ask.get_hookimpls()[0].function
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(proxy, 1).result() == "ran"
        assert revoke_then(world, lambda: pool.submit(proxy, 1).result()) is None


def test_s18_a_generator_made_in_a_hook_runs_without_its_record() -> None:
    world = World("p", "q")
    key = world.approvals.policy.key("ask")

    def f(a: Any) -> Any:
        def later() -> Any:
            yield record_of(key)
            yield world.hook.ask.get_hookimpls()[0].function(1)

        return later()

    world.add("q", world.lazy("ask", lambda a: "ran"))
    world.add("p", world.lazy("ask", f))
    steps = world.hook.ask(a=1, b=2)[0]
    assert next(steps) is None
    assert revoke_then(world, lambda: next(steps)) is None


def test_s18_the_coroutine_of_an_async_implementation_runs_without_its_record() -> None:
    world = World("p", "q")
    key = world.approvals.policy.key("ask")

    async def f(a: Any) -> Any:
        return record_of(key), world.hook.ask.get_hookimpls()[0].function(1)

    world.add("q", world.lazy("ask", lambda a: "ran"))
    world.add("p", world.lazy("ask", f))
    coroutine = world.hook.ask(a=1, b=2)[0]
    assert revoke_then(world, lambda: asyncio.run(coroutine)) == (None, None)


def test_s18_nested_calls_have_records_of_their_own() -> None:
    world = World("p", "q")
    seen: list[tuple[str, bool]] = []

    def outer(a: Any) -> Any:
        mine = current_record()
        inner = world.hook.other(a=a)
        assert current_record() is mine
        world.approvals.file.discard("q")
        again = world.hook.other(a=a)
        assert current_record() is mine
        assert mine.open
        return inner, again

    def inner(a: Any) -> Any:
        record = current_record()
        seen.append((record.hook, record.open))
        return "ran"

    world.add("q", world.lazy("other", inner))
    world.add("p", world.lazy("ask", outer))
    assert world.hook.ask(a=1, b=2) == [(["ran"], [])]
    assert seen == [("other", True)]
    assert world.approvals.refusals == [("other", ("q",))]


def test_s18_a_record_of_another_hook_spares_no_look() -> None:
    world = World("p", "q")

    def outer(a: Any) -> Any:
        world.approvals.file.discard("q")
        return [world.hook.other.get_hookimpls()[0].function(1)]

    world.add("q", world.lazy("other", lambda a: "ran"))
    world.add("p", world.lazy("ask", outer))
    assert world.hook.ask(a=1, b=2) == [[None]]


def test_s18_a_record_of_another_host_spares_no_look() -> None:
    world, other = World("p"), World("q")

    def outer(a: Any) -> Any:
        other.approvals.file.discard("q")
        return [other.hook.ask.get_hookimpls()[0].function(1)]

    other.add("q", other.lazy("ask", lambda a: "ran"))
    world.add("p", world.lazy("ask", outer))
    assert world.hook.ask(a=1, b=2) == [[None]]


def test_s18_a_revocation_noticed_inside_counts_for_the_rest_of_the_call() -> None:
    world = World("p", "q")

    def outer(a: Any) -> Any:
        world.approvals.file.discard("q")
        world.hook.other(a=1)
        return "outer"

    world.add("q", world.lazy("ask", lambda a: "ran"))
    world.add("p", world.lazy("ask", outer), world.lazy("other", lambda a: "inner"))
    assert world.hook.ask(a=1, b=2) == ["outer"]


def test_a_closed_record_is_by_itself_no_refusal() -> None:
    world = World("p")
    contexts: list[contextvars.Context] = []
    world.add(
        "p", world.lazy("ask", lambda a: contexts.append(contextvars.copy_context()) or "ran")
    )
    world.hook.ask(a=1, b=2)
    assert contexts[0].run(world.hook.ask.get_hookimpls()[0].function, 1) == "ran"


def test_s18_impl_function_reaches_nothing_that_is_revoked() -> None:
    world = World("p")
    world.add("p", world.lazy("ask", lambda a: "ran"))
    proxy = world.hook.ask.get_hookimpls()[0].function
    assert proxy(1) == proxy(a=1) == "ran"
    assert revoke_then(world, lambda: proxy(1)) is None
    assert world.approvals.refusals == [("ask", ("p",))]


def test_s18_a_subset_reaches_nothing_that_is_revoked() -> None:
    world = World("p", "q")
    world.add("p", world.lazy("ask", lambda a: "p"))
    world.add("q", world.lazy("ask", lambda a: "q"))
    gate = world.hook.ask.get_hookimpls()[-1].plugin
    assert isinstance(gate, Gate)
    subset = world.manager.subset_hook_caller("ask", [gate, world.plugins[0]])
    assert subset(a=1, b=2) == ["q"]
    assert revoke_then(world, lambda: subset(a=1, b=2)) == []


def test_s18_a_later_outer_wrapper_neither_breaks_nor_slips_through() -> None:
    world = World("p")
    world.add("p", world.lazy("ask", lambda a: "ran"))
    proxy = world.hook.ask.get_hookimpls()[0].function

    @impl(wrapper=True, tryfirst=True)
    def ask(a: Any) -> Any:
        before = proxy(a)
        return [before, *(yield)]

    world.manager.register(own(ask=ask), "outer")
    assert world.impls("ask")[0] == "lionplug gate of ask"
    assert world.hook.ask(a=1, b=2) == ["ran", "ran"]
    assert revoke_then(world, lambda: world.hook.ask(a=1, b=2)) == [None]

    # One that pluggy was given behind our back, so that it does stand outside the gate.
    world.approvals.file.add("p")
    hidden = pluggy.HookImpl(
        object(),
        "hidden",
        ask,
        pluggy.HookimplOpts(
            wrapper=True,
            hookwrapper=False,
            optionalhook=False,
            tryfirst=True,
            trylast=False,
            specname=None,
        ),
    )
    world.hook.ask._add_hookimpl(hidden)
    assert world.impls("ask")[0] == "hidden"
    assert world.hook.ask(a=1, b=2) == ["ran", "ran", "ran"]
    assert revoke_then(world, lambda: world.hook.ask(a=1, b=2)) == [None, None]


def test_s18_historic_calls_have_no_gate_and_let_nothing_through() -> None:
    world = World("p")
    answers: list[Any] = []
    world.add("p", world.lazy("begun", lambda a: ("p", a)))
    assert world.impls("begun") == ["p"]
    world.hook.begun.call_historic(result_callback=answers.append, kwargs={"a": 1})
    revoke_then(world, lambda: world.hook.begun.call_historic(answers.append, kwargs={"a": 2}))
    assert answers == [("p", 1)]
    assert world.approvals.refusals == [("begun", ("p",))]


def test_s18_history_is_replayed_to_new_plugins_by_their_grant() -> None:
    world = World("p")
    answers: list[Any] = []
    world.hook.begun.call_historic(result_callback=answers.append, kwargs={"a": 1})
    world.add("p", world.lazy("begun", lambda a: "p"))
    world.add("q", world.lazy("begun", lambda a: "q"))
    assert answers == ["p"]


def test_what_was_refused_is_handed_over_once_per_call() -> None:
    world = World()
    world.add("p", world.lazy("ask", lambda a: a))
    world.add("q", world.lazy("ask", lambda a: a))
    world.hook.ask(a=1, b=2)
    (record,) = world.approvals.records
    assert (record.hook, record.refusals, record.open) == ("ask", ("q", "p"), False)
    assert record.failures == ()


def test_nothing_is_reported_if_nothing_was_refused() -> None:
    world = World("p")
    world.add("p", world.lazy("ask", lambda a: a))
    world.hook.ask(a=1, b=2)
    assert world.approvals.records == []


def test_a_gate_on_a_plain_pluggy_manager() -> None:
    approvals = Approvals()
    manager = pluggy.PluginManager("lionplug")
    marker = pluggy.HookspecMarker("lionplug")

    class Plain:
        @marker
        def ask(self) -> Any: ...

    manager.add_hookspecs(Plain)
    gate = Gate("ask", approvals.policy)
    manager.register(gate)
    assert manager.hook.ask() == []
    assert approvals.looks == 1
    assert repr(gate) == "<Gate ask>"


def test_a_failing_look_fails_the_call_and_opens_nothing() -> None:
    approvals = Approvals("p")

    def look() -> int:
        raise OSError("disk")

    steps = Gate("ask", Policy(look, approvals.records.append)).wrap()
    with pytest.raises(OSError, match="disk"):
        next(steps)
    assert current_record() is NO_CALL
