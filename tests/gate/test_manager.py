"""The hook manager: order, gates, late specifications, what plugins register."""

from __future__ import annotations

import itertools
import random
import threading
from types import ModuleType
from typing import Any

import pluggy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lionplug.activation.manager import HookManager
from lionplug.activation.stand_in import LazyPlugin
from lionplug.gate import Gate
from lionplug.markers import hookimpl, hookspec
from tests.activation.support import Bundles
from tests.gate.support import LateSpecs, Specs, World, impl, own, spec

GATE = "lionplug gate of ask"


# -- markers


def test_the_hosts_markers_and_lionplugs_are_accepted() -> None:
    world = World()

    class More:
        @hookspec
        def more(self, a: Any) -> Any: ...

    world.manager.add_hookspecs(More)
    world.manager.register(own(more=hookimpl(lambda a: "lionplug")), "one")
    world.manager.register(own(more=impl(lambda a: "host"), ask=impl(lambda a: a)), "two")
    assert world.hook.more(a=1) == ["host", "lionplug"]
    assert world.hook.ask(a=1, b=2) == [1]
    with pytest.raises(ValueError, match="did not find any 'host' hooks"):
        world.manager.add_hookspecs(object)


def test_a_marker_of_another_project_is_ignored() -> None:
    world = World()
    world.manager.register(own(ask=pluggy.HookimplMarker("foreign")(lambda a: a)), "one")
    assert world.hook.ask(a=1, b=2) == []


# -- order


def fresh_order(build: Any) -> dict[str, list[str]]:
    world = World()
    build(world)
    return {name: world.impls(name) for name in ("ask", "other", "begun")}


def test_the_hosts_own_objects_stand_before_plugins_whenever_they_come() -> None:
    world = World("p", "q")
    world.manager.register(own(ask=impl(lambda a: "early")), "early")
    world.add("p", world.lazy("ask", lambda a: "p"))
    world.add("q", world.lazy("ask", lambda a: "q"))
    world.manager.register(own(ask=impl(lambda a: "late")), "late")
    assert world.impls("ask") == [GATE, "q", "p", "late", "early"]
    assert world.hook.ask(a=1, b=2) == ["q", "p", "late", "early"]


OPTIONS = st.sampled_from(
    [
        {},
        {"tryfirst": True},
        {"trylast": True},
        {"kind": "wrapper"},
        {"kind": "wrapper", "tryfirst": True},
        {"kind": "hookwrapper", "trylast": True},
    ]
)
HOOKS = st.lists(st.sampled_from(["ask", "other"]), max_size=2, unique=True)
ONE = st.tuples(HOOKS, OPTIONS)


def steps(a: Any) -> Any:
    return (yield)


def fill(world: World, plan: list[Any]) -> list[LazyPlugin]:
    return [
        world.plugin(
            f"p{number:02}",
            *[world.lazy(hook, steps if "kind" in options else len, **options) for hook in hooks],
        )
        for number, (hooks, options) in plan
    ]


def host_object(hooks: list[str], options: dict[str, Any]) -> Any:
    kind = options.get("kind")
    marked = {k: v for k, v in options.items() if k != "kind"}
    if kind:
        marked[kind] = True
    function = steps if kind else len

    def copy() -> Any:
        if kind:

            def f(a: Any) -> Any:
                return (yield from steps(a))
        else:

            def f(a: Any) -> Any:
                return function(a)

        return impl(**marked)(f)

    return own(**{hook: copy() for hook in hooks})


@settings(max_examples=60, deadline=None)
@given(
    st.lists(ONE, max_size=5),
    st.lists(ONE, max_size=6),
    st.lists(st.sets(st.integers(0, 5), max_size=6), max_size=3),
    st.randoms(use_true_random=False),
)
def test_order_after_any_change_equals_a_fresh_process(
    host: list[Any], lazies: list[Any], detours: list[set[int]], rng: random.Random
) -> None:
    numbered = list(enumerate(lazies))
    world = World()
    plugins = fill(world, numbered)
    objects = [(f"h{number:02}", host_object(*one)) for number, one in enumerate(host)]
    moves: list[Any] = [("host", item) for item in objects]
    moves = [
        move
        for pair in itertools.zip_longest(moves, [("lazy", kept) for kept in detours])
        for move in pair
        if move is not None
    ]
    for kind, what in moves:
        if kind == "host":
            world.manager.register(what[1], what[0])
        else:
            world.set([plugin for number, plugin in enumerate(plugins) if number in what])
    world.set(plugins)

    fresh = World()
    again = fill(fresh, numbered)
    for name, one in objects:
        fresh.manager.register(one, name)
    fresh.set(again)
    for hook in ("ask", "other"):
        assert world.impls(hook) == fresh.impls(hook)
        gates = [name for name in world.impls(hook) if "gate" in name]
        lazy = any(hook in hooks for hooks, _ in lazies)
        assert gates == ([f"lionplug gate of {hook}"] if lazy else [])
        assert not lazy or world.impls(hook)[0] == gates[0]

    # And it is what pluggy itself makes of registrations in canonical order.
    plain = pluggy.PluginManager("host")
    plain.add_hookspecs(Specs)
    for name, one in objects:
        plain.register(one, name)
    for number, (hooks, options) in numbered:
        plain.register(host_object(hooks, options), f"p{number:02}")
    for hook in ("ask", "other"):
        expected = [one.plugin_name for one in reversed(getattr(plain.hook, hook).get_hookimpls())]
        assert [name for name in world.impls(hook) if "gate" not in name] == expected


def test_two_functions_for_one_hook_keep_the_order_of_the_manifest() -> None:
    world = World("p")
    functions = [world.lazy("ask", lambda a, n=n: n, ("a",)) for n in range(12)]
    plugin = world.add("p", *functions)
    assert world.hook.ask(a=1, b=2) == list(reversed(range(12)))
    world.manager.unregister(plugin)
    world.manager.register(plugin, "p")
    assert world.hook.ask(a=1, b=2) == list(reversed(range(12)))


# -- gates


def test_gates_come_with_the_first_and_go_with_the_last() -> None:
    world = World("p", "q")
    world.manager.register(own(ask=impl(lambda a: a)), "own")
    assert world.impls("ask") == ["own"]
    p = world.add("p", world.lazy("ask", len), world.lazy("begun", len))
    q = world.add("q", world.lazy("ask", len), world.lazy("other", len))
    assert world.impls("ask") == [GATE, "q", "p", "own"]
    assert world.impls("other") == ["lionplug gate of other", "q"]
    assert world.impls("begun") == ["p"]
    world.set([p])
    assert world.impls("ask") == [GATE, "p", "own"]
    assert world.impls("other") == []
    world.manager.unregister(p)
    assert world.impls("ask") == ["own"]
    world.set([p, q])
    assert world.impls("ask") == [GATE, "q", "own"]  # the host took p out itself
    world.set([])
    assert world.impls("ask") == ["own"]


def test_every_registration_moves_the_gate_outermost() -> None:
    world = World("p")
    world.add("p", world.lazy("ask", len))
    outer = own(ask=impl(wrapper=True, tryfirst=True)(steps))
    world.manager.register(outer, "outer")
    assert world.impls("ask") == [GATE, "outer", "p"]
    world.manager.unregister(outer)
    assert world.impls("ask") == [GATE, "p"]


def test_hosts_see_plugins_and_no_machinery() -> None:
    world = World("p")
    plugin = world.plugin("p", world.lazy("ask", len))
    loader = own(ask=impl(lambda a: "from the loader"))
    thing = own()
    world.manager.register(thing, "thing")
    world.manager.set_lazy([("lionplug loader", loader), ("p", plugin)])
    assert world.manager.get_plugins() == {plugin, thing}
    assert world.manager.list_name_plugin() == [("thing", thing), ("p", plugin)]
    assert world.impls("ask") == [GATE, "p", "lionplug loader"]
    gate = world.hook.ask.get_hookimpls()[-1].plugin
    assert isinstance(gate, Gate)
    assert world.manager.get_name(gate) == GATE
    world.manager.set_lazy([])
    assert world.impls("ask") == []


def test_blocked_plugins_stay_out() -> None:
    world = World("p")
    world.manager.set_blocked("p")
    world.add("p", world.lazy("ask", len))
    assert world.impls("ask") == []
    assert world.manager.is_blocked("p")
    assert ("p", None) in world.manager.list_name_plugin()
    world.manager.unblock("p")
    world.set([world.plugin("p", world.lazy("ask", len))])
    assert world.impls("ask") == [GATE, "p"]
    world.manager.set_blocked("p")
    assert world.impls("ask") == []


def test_a_blocked_name_of_the_host_is_not_registered() -> None:
    world = World()
    world.manager.set_blocked("thing")
    assert world.manager.register(own(), "thing") is None
    assert world.manager.get_plugins() == set()


def test_a_manager_tells_nobody_if_nobody_asked() -> None:
    world = World("p")
    manager = HookManager("host", world.approvals.policy)
    loader = own(ask=impl(lambda a: "loader"))
    bad = world.plugin("p", world.lazy("ask", len, ("nope",)), world.lazy("late", lambda a: a))
    manager.add_hookspecs(Specs)
    manager.set_lazy([("loader", loader), ("p", bad)])
    manager.add_hookspecs(LateSpecs)
    assert manager.hook.ask(a=1, b=2) == ["loader"]
    assert manager.hook.late(a=1) == [1]


def test_setting_the_same_plugins_again_registers_nobody_anew() -> None:
    world = World("p", "q")
    p = world.add("p", world.lazy("begun", lambda a: "p"))
    world.hook.begun.call_historic(kwargs={"a": 1})
    q = world.plugin("q", world.lazy("begun", lambda a: "q"))
    before = world.hook.begun.get_hookimpls()
    loads = list(world.loads)
    world.set([q, p])
    world.set([p, q])
    world.set([p, q])
    assert world.hook.begun.get_hookimpls()[0] is before[0]
    assert world.loads == [*loads, "begun"]  # q heard of history, and once
    assert world.impls("begun") == ["q", "p"]


def test_no_call_of_another_thread_misses_a_plugin() -> None:
    world = World("p", "q")
    world.add("p", world.lazy("ask", lambda a: "p"))
    plugins = [world.plugins[0], world.plugin("q", world.lazy("ask", lambda a: "q"))]
    done = threading.Event()
    missed: list[Any] = []

    def call() -> None:
        while not done.is_set():
            answer = world.hook.ask(a=1, b=2)
            if "p" not in answer:
                missed.append(answer)

    thread = threading.Thread(target=call)
    thread.start()
    for _ in range(60):
        world.set(plugins)
        world.manager.register(mine := own(ask=impl(lambda a: None)))
        world.set(plugins[:1])
        world.manager.unregister(mine)
    done.set()
    thread.join()
    assert missed == []


# -- specifications that come later, and those that don't fit


def test_hooks_wait_for_their_specification() -> None:
    world = World("p")
    plugin = world.add("p", world.lazy("late", lambda a: ("late", a)), world.lazy("ask", len))
    assert not world.manager.has_spec("late")
    assert not hasattr(world.hook, "late")
    world.manager.check_pending()
    world.manager.add_hookspecs(LateSpecs)
    assert world.manager.has_spec("late")
    assert world.hook.late(a=1) == [("late", 1)]
    assert world.impls("late") == ["lionplug gate of late", "p"]
    assert world.impls("ask") == [GATE, "p"]
    assert world.spec_changes == [1]
    assert plugin.late is world.hook.late.get_hookimpls()[0].function


def test_a_late_historic_specification_and_history() -> None:
    world = World("p")
    answers: list[Any] = []
    world.add("p", world.lazy("late_begun", lambda a: a))
    world.manager.add_hookspecs(LateSpecs)
    world.hook.late_begun.call_historic(answers.append, kwargs={"a": 1})
    world.manager.register(own(late_begun=impl(lambda a: -a)), "own")
    assert answers == [1, -1]


def test_a_plugin_that_fails_in_its_history_keeps_nobody_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World("p", "q")
    world.hook.begun.call_historic(kwargs={"a": 1})
    p = world.plugin("p", world.lazy("begun", lambda a: 1 // 0), world.lazy("ask", lambda a: "p"))
    q = world.plugin("q", world.lazy("ask", lambda a: "q"))
    world.set([p, q])
    assert world.hook.ask(a=1, b=2) == ["q", "p"]
    assert world.impls("begun") == ["p"]
    assert caplog.messages == [
        "plugin p: an earlier call of hook begun was replayed to it and raised "
        "ZeroDivisionError: integer division or modulo by zero"
    ]


def test_a_plugin_that_asks_for_an_unknown_argument_is_left_out_alone() -> None:
    world = World("p", "q")
    world.add("p", world.lazy("ask", lambda nope: 1, ("nope",)), world.lazy("other", lambda a: "p"))
    world.add("q", world.lazy("ask", lambda a: "q"))
    assert world.hook.ask(a=1, b=2) == ["q"]
    assert world.hook.other(a=1) == ["p"]
    ((plugin, hook, reason),) = world.misfits
    assert (plugin, hook) == ("p", "ask")
    assert reason == (
        "its function takes nope, and the hook gives a, b; its author must correct the function "
        "or its entry in plugin.yaml"
    )


def test_a_historic_wrapper_is_left_out() -> None:
    world = World("p")
    world.add("p", world.lazy("begun", steps, kind="wrapper"))
    assert world.impls("begun") == []
    assert world.misfits[0][:2] == ("p", "begun")
    assert "historic incompatible with yield/wrapper/hookwrapper" in world.misfits[0][2]


def test_a_name_that_the_host_uses_is_left_to_it() -> None:
    world = World("p")
    thing = own(ask=impl(lambda a: "host"))
    world.manager.register(thing, "p")
    world.add("p", world.lazy("ask", lambda a: "plugin"))
    assert world.hook.ask(a=1, b=2) == ["host"]
    assert world.misfits == [("p", "", "something else is registered as 'p'")]
    world.set([])
    assert world.manager.get_plugin("p") is thing


def test_a_rejected_object_leaves_nothing_behind() -> None:
    world = World()
    bad = own(ask=impl(lambda nope: 1), first=impl(lambda a: 1))
    with pytest.raises(pluggy.PluginValidationError):
        world.manager.register(bad, "bad")
    assert world.manager.get_plugin("bad") is None
    assert world.impls("ask") == world.impls("first") == []
    good = own(ask=impl(lambda a: 1))
    world.manager.register(good, "good")
    with pytest.raises(ValueError, match="already registered"):
        world.manager.register(good, "again")
    assert world.impls("ask") == ["good"]


# -- what plugins register while they run (S18)


def test_s18_what_a_hook_registers_is_withdrawn_with_its_plugin() -> None:
    world = World("p", "q")
    child = own(other=impl(lambda a: "child"))

    def f(a: Any) -> None:
        world.manager.register(child, "child")

    p = world.plugin("p", world.lazy("ask", f))
    q = world.plugin("q", world.lazy("other", lambda a: "q"))
    world.set([p, q])
    world.hook.ask(a=1, b=2)
    assert world.hook.other(a=1) == ["child", "q"]
    assert world.manager.attributed_to("p") == [child]
    assert world.manager.attributed_to("q") == []
    world.set([q])
    assert world.hook.other(a=1) == ["q"]
    assert world.manager.attributed_to("p") == []
    assert not world.manager.is_registered(child)


@pytest.mark.parametrize("kind", ["wrapper", "hookwrapper"])
def test_s18_what_a_wrapper_registers_is_attributed(kind: Any) -> None:
    world = World("p")
    before, after = own(), own()

    def f(a: Any) -> Any:
        world.manager.register(before, "before")
        result = yield
        world.manager.register(after, "after")
        return result

    world.add("p", world.lazy("ask", f, kind=kind))
    world.hook.ask(a=1, b=2)
    assert world.manager.withdraw("p") == [before, after]
    assert world.manager.get_plugins() == set(world.plugins)
    assert world.manager.withdraw("p") == []


def test_s18_what_the_host_registers_is_nobodys() -> None:
    world = World("p")
    mine = own()
    world.manager.register(mine, "mine")
    world.add("p", world.lazy("ask", lambda a: a))
    world.hook.ask(a=1, b=2)
    assert world.manager.attributed_to("p") == []
    world.set([])
    assert world.manager.is_registered(mine)


def test_s18_registering_again_by_the_host_makes_it_the_hosts() -> None:
    world = World("p")
    child = own()
    world.add("p", world.lazy("ask", lambda a: world.manager.register(child, "child")))
    world.hook.ask(a=1, b=2)
    world.manager.unregister(child)
    world.manager.register(child, "child")
    assert world.manager.attributed_to("p") == []


def test_s18_bundle_code_is_known_on_any_thread_and_while_it_is_imported(bundles: Bundles) -> None:
    world = World()
    source = (
        "import threading\n"
        "manager = None\n"
        "class Thing: pass\n"
        "def on_a_thread():\n"
        "    thread = threading.Thread(target=later)\n"
        "    thread.start(); thread.join()\n"
        "def later():\n"
        "    manager.register(Thing(), 'by thread')\n"
    )
    namespace = bundles.make(
        "web", {"a.py": source, "b.py": "import a\na.manager.register(a.Thing(), 'by import')"}
    )
    module = bundles.load(namespace, "a.py")
    module.manager = world.manager
    module.on_a_thread()
    bundles.load(namespace, "b.py")
    names = [world.manager.get_name(one) for one in world.manager.attributed_to("web")]
    assert names == ["by thread", "by import"]
    assert len(world.manager.withdraw("web")) == 2
    assert world.manager.get_plugins() == set()


def test_s18_children_stand_behind_their_plugin_in_the_order() -> None:
    world = World("p", "q")
    p = world.plugin(
        "p",
        world.lazy(
            "ask", lambda a: world.manager.register(own(other=impl(lambda a: None)), "child")
        ),
    )
    q = world.plugin("q", world.lazy("other", len))
    world.set([p, q])
    world.hook.ask(a=1, b=2)
    world.manager.register(own(other=impl(lambda a: None)), "host")
    assert world.impls("other") == ["lionplug gate of other", "child", "q", "host"]


def test_specs_of_a_module_and_of_two_managers() -> None:
    one, two = World("p"), World("p")
    module = ModuleType("specs")
    module.fresh = spec(lambda a: None)  # type: ignore[attr-defined]
    one.manager.add_hookspecs(module)
    assert one.manager.has_spec("fresh")
    assert not two.manager.has_spec("fresh")
