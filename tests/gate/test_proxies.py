"""Lazy implementations: what pluggy sees of them, and what reaches the plugin's code."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Generator
from typing import Any

import pluggy
import pytest

from lionplug.activation.adapter import PASSES_DEFAULTED, own_arguments
from lionplug.activation.proxies import LazyHook
from lionplug.errors import ActivationError, NotGrantedError
from tests.gate.support import World, own


def failing_with(error: BaseException) -> Any:
    def resolve() -> Any:
        raise error

    return resolve


# -- what pluggy reads


def test_arguments_and_defaults_are_those_of_the_implementation() -> None:
    world = World("p")
    seen: list[tuple[Any, Any]] = []

    def f(b: Any, a: Any = "default") -> None:
        seen.append((b, a))

    world.add("p", world.lazy("ask", f, ("b", "a"), defaults=("default",)))
    (one,) = world.hook.ask.get_hookimpls()[:1]
    assert (one.argnames, one.kwargnames) == (("b",), ("a",)) == own_arguments(f)
    assert str(inspect.signature(one.function)) == "(b, a='default')"
    world.hook.ask(a=1, b=2)
    assert seen == [(2, 1 if PASSES_DEFAULTED else "default")]
    # As pluggy would have called the function itself:
    world.manager.register(own(ask=pluggy.HookimplMarker("host")(f)))
    world.hook.ask(a=1, b=2)
    assert seen[1:] == [seen[0], seen[0]]


@pytest.mark.parametrize("names", [(), ("a",), ("b",), ("a", "b"), ("b", "a")])
def test_any_choice_of_arguments(names: tuple[str, ...]) -> None:
    world = World("p")
    seen: list[Any] = []
    functions: dict[tuple[str, ...], Any] = {
        (): lambda: seen.append(()),
        ("a",): lambda a: seen.append((a,)),
        ("b",): lambda b: seen.append((b,)),
        ("a", "b"): lambda a, b: seen.append((a, b)),
        ("b", "a"): lambda b, a: seen.append((b, a)),
    }
    world.add("p", world.lazy("ask", functions[names], names))
    world.hook.ask(a="a", b="b")
    assert seen == [names]


def test_without_known_names_those_of_the_specification_are_bridged() -> None:
    world = World("p", "q")
    world.add("p", world.lazy("ask", lambda b: ("p", b), None))
    world.add("q", world.lazy("ask", lambda b, a: ("q", b, a), None))
    assert world.hook.ask.get_hookimpls()[0].argnames == ("a", "b")
    assert world.hook.ask(a=1, b=2) == [("q", 2, 1), ("p", 2)]


def test_an_unknown_default_is_treated_as_pluggy_treats_one() -> None:
    world = World("p")
    world.add("p", world.lazy("ask", lambda b, a="default": (b, a), None))
    assert world.hook.ask(a=1, b=2) == [(2, 1 if PASSES_DEFAULTED else "default")]


def test_a_function_that_differs_from_its_record_is_called_by_name() -> None:
    world = World("p")
    world.add("p", world.lazy("ask", lambda b, a: (a, b), ("a", "b")))
    assert world.hook.ask(a=1, b=2) == [(1, 2)]


def test_an_argument_that_is_not_passed_is_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    world = World("p")
    world.add("p", world.lazy("ask", lambda a, c: 1, ("a",)))
    assert world.hook.ask(a=1, b=2) == []
    assert caplog.messages == [
        "plugin p: the implementation of hook ask asks for arguments that are not passed to it: "
        "c. Its author must correct the function or its entry in plugin.yaml."
    ]


def test_a_builtin_can_implement_a_hook() -> None:
    world = World("p")
    world.add("p", world.lazy("ask", max, ("a", "b")))
    assert world.hook.ask(a=1, b=2) == [2]


def test_kinds_are_real_functions_and_generator_functions() -> None:
    world = World("p")

    def steps(a: Any) -> Generator[None, Any, Any]:
        return (yield)

    world.add(
        "p",
        world.lazy("ask", len),
        world.lazy("other", steps, kind="wrapper"),
        world.lazy("first", steps, kind="hookwrapper"),
    )
    plugin = world.plugins[0]
    assert inspect.isfunction(plugin.ask)
    assert not inspect.isgeneratorfunction(plugin.ask)
    assert inspect.isgeneratorfunction(plugin.other)
    assert inspect.isgeneratorfunction(plugin.first)
    assert world.misfits == []


def test_options_are_those_of_the_manifest() -> None:
    world = World("p")
    lazy = LazyHook(hook="ask", resolve=lambda: len, arguments=("a",), tryfirst=True, optional=True)
    world.add("p", lazy, world.lazy("other", len, trylast=True))
    one = world.hook.ask.get_hookimpls()[0]
    assert (one.tryfirst, one.trylast, one.optionalhook) == (True, False, True)
    assert (one.wrapper, one.hookwrapper, one.opts["specname"]) == (False, False, "ask")
    assert world.hook.other.get_hookimpls()[0].trylast


# -- laziness


def test_the_function_is_resolved_on_the_first_call_and_once() -> None:
    world = World("p")
    world.add("p", world.lazy("ask", lambda a: a), world.lazy("other", lambda a: a))
    assert world.loads == []
    world.hook.ask(a=1, b=2)
    world.hook.ask(a=1, b=2)
    assert world.loads == ["ask"]


def test_nothing_is_resolved_without_a_grant() -> None:
    world = World()
    world.add("p", world.lazy("ask", lambda a: a))
    assert world.hook.ask(a=1, b=2) == []
    assert world.loads == []


def test_falsy_answers_are_answers() -> None:
    world = World("p", "q")
    world.add("p", world.lazy("first", lambda a: 0))
    world.add("q", world.lazy("first", lambda a: None))
    assert world.hook.first(a=1) == 0


# -- wrappers


def wrap(a: Any) -> Generator[None, Any, Any]:
    try:
        answer = yield
    except ValueError as error:
        return ["caught", str(error)]
    return ["wrapped", *answer]


def test_a_wrapper_wraps() -> None:
    world = World("p", "q")
    world.add("p", world.lazy("ask", lambda a: a))
    world.add("q", world.lazy("ask", wrap, kind="wrapper"))
    assert world.hook.ask(a=1, b=2) == ["wrapped", 1]


def test_a_wrapper_sees_exceptions() -> None:
    world = World("p", "q")
    world.add("p", world.lazy("ask", lambda a: int(a)))
    world.add("q", world.lazy("ask", wrap, kind="wrapper"))
    assert world.hook.ask(a="x", b=2)[0] == "caught"


def test_a_wrapper_without_a_grant_passes_answers_and_exceptions_through() -> None:
    world = World("p")
    world.add("p", world.lazy("ask", lambda a: int(a)))
    world.add("q", world.lazy("ask", wrap, kind="wrapper"))
    world.add("r", world.lazy("ask", wrap, kind="hookwrapper"))
    assert world.hook.ask(a=1, b=2) == [1]
    with pytest.raises(ValueError, match="invalid literal"):
        world.hook.ask(a="x", b=2)
    assert world.loads == ["ask"]
    assert world.approvals.refusals == [("ask", ("r", "q"))] * 2


@pytest.mark.parametrize("kind", ["wrapper", "hookwrapper"])
def test_s18_a_wrapper_without_a_gate_around_it_asks_itself(kind: Any) -> None:
    world = World("p")
    world.add("p", world.lazy("ask", wrap, kind=kind))
    proxy = world.hook.ask.get_hookimpls()[0].function
    world.approvals.file.clear()
    steps = proxy(1)
    assert next(steps) is None
    with pytest.raises(StopIteration):
        steps.send(["answer"])
    assert world.loads == []
    assert world.approvals.refusals == [("ask", ("p",))]


def test_a_wrapper_that_can_not_be_activated_passes_through() -> None:
    world = World("p", "q")
    world.add("p", world.lazy("ask", lambda a: a))
    error = ActivationError("q is broken", plugin="q")
    world.add("q", LazyHook(hook="ask", resolve=failing_with(error), kind="wrapper"))
    assert world.hook.ask(a=1, b=2) == [1]


def test_an_old_wrapper_gets_the_result_object() -> None:
    world = World("p", "q")

    def old(a: Any) -> Generator[None, Any, None]:
        result = yield
        result.force_result(["forced", *result.get_result()])

    world.add("p", world.lazy("ask", lambda a: a))
    world.add("q", world.lazy("ask", old, kind="hookwrapper"))
    assert world.hook.ask(a=1, b=2) == ["forced", 1]


def test_a_wrapper_keeps_running_when_it_is_revoked_meanwhile() -> None:
    world = World("p", "q")
    world.add("p", world.lazy("ask", lambda a: world.approvals.file.clear()))
    world.add("q", world.lazy("ask", wrap, kind="wrapper"))
    assert world.hook.ask(a=1, b=2) == ["wrapped"]
    assert world.hook.ask(a=1, b=2) == []


def test_a_wrapper_that_does_not_yield_or_yields_twice() -> None:
    world = World("p")

    def never(a: Any) -> Generator[None, Any, Any]:
        return None
        yield

    def twice(a: Any) -> Generator[None, Any, Any]:
        yield
        yield

    world.add(
        "p", world.lazy("ask", never, kind="wrapper"), world.lazy("other", twice, kind="wrapper")
    )
    with pytest.raises(RuntimeError, match="did not yield"):
        world.hook.ask(a=1, b=2)
    with pytest.raises(RuntimeError, match=r"^hook other: a wrapper of plugin p yielded twice"):
        world.hook.other(a=1)


@pytest.mark.parametrize("kind", ["wrapper", "hookwrapper"])
def test_a_wrapper_that_is_no_generator_function(
    kind: Any, caplog: pytest.LogCaptureFixture
) -> None:
    world = World("p")
    world.add("p", world.lazy("ask", lambda a: a, kind=kind))
    assert world.hook.ask(a=1, b=2) == []
    assert caplog.messages == [
        f"plugin p: the implementation of hook ask is declared as {kind} but has no yield. "
        "Its author must correct the function or its entry in plugin.yaml."
    ]


@pytest.mark.parametrize("kind", ["wrapper", "hookwrapper"])
def test_a_stop_iteration_inside_stays_one(kind: Any) -> None:
    world = World("p", "q")

    def stop(a: Any) -> None:
        raise StopIteration("enough")

    def steps(a: Any) -> Generator[None, Any, Any]:
        return (yield)

    world.add("p", world.lazy("ask", stop))
    world.add("q", world.lazy("ask", steps, kind=kind))
    with pytest.raises(StopIteration, match="enough"):
        world.hook.ask(a=1, b=2)


# -- failures


def test_a_failure_contributes_nothing_and_warns_once(caplog: pytest.LogCaptureFixture) -> None:
    world = World("good", "bad")
    error = ActivationError("plugin bad: can't be used.", plugin="bad")
    world.add("good", world.lazy("ask", lambda a: "good"))
    world.add("bad", LazyHook(hook="ask", resolve=failing_with(error), arguments=("a",)))
    assert world.hook.ask(a=1, b=2) == world.hook.ask(a=1, b=2) == ["good"]
    assert caplog.record_tuples == [("lionplug", logging.WARNING, "plugin bad: can't be used.")]
    assert [record.failures for record in world.approvals.records] == [(("bad", error),)] * 2


def test_a_failure_outside_a_gate_is_reported_as_well() -> None:
    world = World("bad")
    error = OSError("disk")
    world.add("bad", LazyHook(hook="ask", resolve=failing_with(error), arguments=("a",)))
    assert world.hook.ask.get_hookimpls()[0].function(1) is None
    (record,) = world.approvals.records
    assert (record.hook, record.failures, record.open) == ("ask", (("bad", error),), False)


def test_a_grant_that_ends_before_the_import_is_a_refusal() -> None:
    world = World("p")
    refusal = NotGrantedError("p was revoked", plugin="p")
    world.add("p", LazyHook(hook="ask", resolve=failing_with(refusal), arguments=("a",)))
    assert world.hook.ask(a=1, b=2) == []
    assert world.approvals.refusals == [("ask", ("p",))]


def test_a_keyboard_interrupt_while_resolving_passes() -> None:
    world = World("p")
    world.add("p", LazyHook(hook="ask", resolve=failing_with(KeyboardInterrupt()), arguments=()))
    with pytest.raises(KeyboardInterrupt):
        world.hook.ask(a=1, b=2)


def notes_of(error: BaseException) -> list[str]:
    return list(getattr(error, "__notes__", []))


def test_exceptions_pass_with_a_note_that_names_the_plugin() -> None:
    world = World("p")
    original = ValueError("mine")

    def f(a: Any) -> None:
        raise original

    world.add("p", world.lazy("ask", f))
    with pytest.raises(ValueError, match="mine") as caught:
        world.hook.ask(a=1, b=2)
    assert caught.value is original
    assert notes_of(original) == ["raised in hook ask of plugin p"]
    with pytest.raises(ValueError, match="mine"):
        world.hook.ask(a=1, b=2)
    assert notes_of(original) == ["raised in hook ask of plugin p"]


def test_a_wrapper_is_named_only_for_its_own_exceptions() -> None:
    world = World("inner", "passing", "failing", "old")

    def f(a: Any) -> None:
        raise ValueError("inner")

    def passing(a: Any) -> Generator[None, Any, Any]:
        return (yield)

    def failing(a: Any) -> Generator[None, Any, Any]:
        try:
            yield
        finally:
            raise KeyError("outer")

    world.add("inner", world.lazy("ask", f), world.lazy("other", f))
    world.add("passing", world.lazy("ask", passing, kind="wrapper"))
    world.add("failing", world.lazy("other", failing, kind="wrapper"))
    with pytest.raises(ValueError, match="inner") as caught:
        world.hook.ask(a=1, b=2)
    assert notes_of(caught.value) == ["raised in hook ask of plugin inner"]
    with pytest.raises(KeyError) as outer:
        world.hook.other(a=1)
    assert notes_of(outer.value) == ["raised in hook other of plugin failing"]


def test_an_old_wrapper_is_named_too() -> None:
    world = World("old")

    def old(a: Any) -> Generator[None, Any, None]:
        raise ValueError("old")
        yield

    world.add("old", world.lazy("ask", old, kind="hookwrapper"))
    with pytest.raises(ValueError, match="old") as caught:
        world.hook.ask(a=1, b=2)
    assert notes_of(caught.value) == ["raised in hook ask of plugin old"]


def test_an_exception_that_takes_no_notes_passes() -> None:
    world = World("p")

    class Closed(Exception):
        def __setattr__(self, name: str, value: object) -> None:
            raise AttributeError(name)

    def f(a: Any) -> None:
        raise Closed("x")

    world.add("p", world.lazy("ask", f))
    with pytest.raises(Closed):
        world.hook.ask(a=1, b=2)
