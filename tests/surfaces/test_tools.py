"""The surface ``tools``: declarations without import, arguments, async, exceptions, threads."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

import pytest

from lionplug import hookimpl
from lionplug.errors import (
    ActivationError,
    ArgumentsError,
    AsyncToolError,
    CapabilityNotFoundError,
)
from lionplug_hookspecs.tools import ToolDeclaration
from tests.support import World, counter_code, marker_module

DECLARED = """
capabilities:
  tools:
    - name: greet
      target: t.py:greet
      description: Say hello
      parameters:
        type: object
        properties:
          name: {type: string, pattern: '^[a-z]+$'}
          times: {type: integer, minimum: 1}
        required: [name]
        additionalProperties: false
"""
GREET = "def greet(name, times=1):\n    return ' '.join([f'hello {name}'] * times)\n"


def test_declared_parameters_are_what_counts(world: World) -> None:
    world.bundle("one", {"t.py": GREET}, manifest=DECLARED)
    host = world.host()
    world.approve(host, "one")
    tool = host.tools["greet"]
    assert (tool.name, tool.plugin, tool.description) == ("greet", "one", "Say hello")
    assert tool.call({"name": "you", "times": 2}) == "hello you hello you"
    with pytest.raises(ArgumentsError) as refused:
        tool.call({"name": "YOU", "times": 0, "more": 1})
    assert len(refused.value.problems) == 3
    assert any("name" in problem for problem in refused.value.problems)


def test_s36_schema_and_description_come_from_the_source_without_import(world: World) -> None:
    marker = world.root / "imported"
    source = '''
from __future__ import annotations


async def search(query: str, limit: int = 10, *, kinds: list[str] | None = None) -> list[str]:
    """Find things.

    Args:
        query: What to look for.
    """
    return [query]
'''
    world.bundle(
        "one",
        {"t.py": marker_module(marker, source).replace("from __future__ import annotations\n", "")},
        tools={"search": "t.py:search"},
    )
    host = world.host()
    world.approve(host, "one")
    tool = host.tools["search"]
    assert tool.is_async is True
    assert tool.description == "Find things."
    assert tool.parameters is not None
    properties = tool.parameters["properties"]
    assert properties["query"]["type"] == "string"
    assert properties["query"]["description"] == "What to look for."
    assert properties["limit"]["default"] == 10
    assert tool.parameters["required"] == ["query"]
    assert not marker.exists()


def test_an_async_tool_is_awaited_and_refused_by_call(world: World) -> None:
    world.bundle(
        "one",
        {
            "t.py": "async def run():\n    return 1\n"
            "def hidden():\n    return run()\n"
            "def plain():\n    import threading\n    return threading.current_thread().name\n"
        },
        tools={"run": "t.py:run", "hidden": "t.py:hidden", "plain": "t.py:plain"},
    )
    host = world.host()
    world.approve(host, "one")
    for name in ("run", "hidden"):
        with pytest.raises(AsyncToolError) as refused:
            host.tools.call(name)
        assert str(refused.value) == (
            f"tool {name} of one is asynchronous; use 'await host.tools.acall(...)'."
        )
        assert asyncio.run(host.tools.acall(name)) == 1
    assert asyncio.run(host.tools["plain"].acall()) != threading.main_thread().name


def test_s18_a_coroutine_made_before_a_revocation_does_not_run(world: World) -> None:
    world.bundle("one", {"t.py": "async def run():\n    return 1\n"}, tools={"run": "t.py:run"})
    host = world.host()
    world.approve(host, "one")

    async def main() -> None:
        assert await host.tools.acall("run") == 1
        waiting = host.tools.acall("run")
        host.revoke("one")
        with pytest.raises(CapabilityNotFoundError, match="which is untrusted"):
            await waiting

    asyncio.run(main())


def test_a_handle_checks_on_every_call(world: World) -> None:
    world.bundle("one", {"t.py": "def run():\n    return 1\n"}, tools={"run": "t.py:run"})
    host = world.host()
    world.approve(host, "one")
    tool = host.tools["run"]
    assert tool.call() == 1
    host.disable("one")
    with pytest.raises(CapabilityNotFoundError, match="which is disabled"):
        tool.call()


def test_unknown_names_are_explained(world: World) -> None:
    world.bundle("one", {"t.py": "def run():\n    return 1\n"}, tools={"run": "t.py:run"})
    host = world.host()
    with pytest.raises(KeyError) as refused:
        host.tools["walk"]
    assert str(refused.value) == 'tool "walk" is declared by no plugin. No plugin offers any.'
    world.approve(host, "one")
    with pytest.raises(KeyError, match="Declared by active plugins: run"):
        host.tools["walk"]
    assert "walk" not in host.tools
    assert "run" in host.tools
    assert 3 not in host.tools


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("import nope_nope\n", "nope_nope"),
        ("raise SystemExit(0)\n", "SystemExit"),
        ("1 / 0\n", "division by zero"),
        ("def run(:\n", "t.py:1"),
        ("x = 1\n", "run"),
        ("run = 3\n", "run"),
    ],
)
def test_a_failing_import_raises_the_same_error_each_time(
    world: World, code: str, cause: str
) -> None:
    marker = world.root / "tries"
    world.bundle("bad", {"t.py": counter_code(marker) + code}, tools={"run": "t.py:run"})
    world.bundle("good", {"g.py": "def fine():\n    return 1\n"}, tools={"fine": "g.py:fine"})
    host = world.host()
    world.approve(host, "bad")
    world.approve(host, "good")
    messages = []
    for _ in range(3):
        with pytest.raises(ActivationError) as failed:
            host.tools.call("run")
        messages.append(str(failed.value))
        assert failed.value.plugin == "bad"
    assert len(set(messages)) == 1
    assert "bad" in messages[0]
    assert "t.py" in messages[0]
    assert cause.replace("t.py:1", "t.py:2") in messages[0]
    if marker.exists():
        assert marker.read_text() == "x"
    assert host.plugins["bad"].state == "active"
    assert host.plugins["bad"].failed
    assert host.plugins["bad"] in host.plugins.needs_attention
    assert host.tools.call("fine") == 1


def test_a_failed_plugin_is_tried_again_when_its_bytes_change(world: World) -> None:
    bundle = world.bundle("bad", {"t.py": "1 / 0\n"}, tools={"run": "t.py:run"})
    host = world.host()
    world.approve(host, "bad")
    with pytest.raises(ActivationError):
        host.tools.call("run")
    (bundle / "t.py").write_text("def run():\n    return 1\n")
    world.approve(host, "bad")
    assert host.tools.call("run") == 1
    assert host.plugins["bad"].failed is None


def test_keyboard_interrupt_passes_and_is_not_kept(world: World) -> None:
    flag = world.root / "flag"
    code = (
        f"import os\nif not os.path.exists({str(flag)!r}):\n"
        f"    open({str(flag)!r}, 'w').close()\n    raise KeyboardInterrupt\n"
        "def run():\n    return 1\n"
    )
    world.bundle("one", {"t.py": code}, tools={"run": "t.py:run"})
    host = world.host()
    world.approve(host, "one")
    with pytest.raises(KeyboardInterrupt):
        host.tools.call("run")
    assert host.tools.call("run") == 1


def test_exceptions_of_running_code_pass_with_a_note(world: World) -> None:
    world.bundle(
        "one", {"t.py": "def run():\n    raise LookupError('mine')\n"}, tools={"run": "t.py:run"}
    )
    host = world.host()
    world.approve(host, "one")
    with pytest.raises(LookupError, match="mine") as raised:
        host.tools.call("run")
    assert vars(raised.value)["__notes__"] == ["raised in tool run of plugin one"]


def test_two_threads_import_once(world: World) -> None:
    marker = world.root / "imports"
    code = counter_code(marker) + "import time\ntime.sleep(0.2)\ndef run():\n    return 1\n"
    world.bundle("one", {"t.py": code}, tools={"run": "t.py:run"})
    host = world.host()
    world.approve(host, "one")
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda: results.append(host.tools.call("run"))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [1] * 8
    assert marker.read_text() == "x"


def test_a_tool_may_call_a_tool(world: World) -> None:
    world.bundle(
        "one",
        {
            "t.py": "host = None\ndef run():\n    return host.tools.call('two')\n"
            "def two():\n    return 2\n"
        },
        tools={"run": "t.py:run", "two": "t.py:two"},
    )
    host = world.host()
    world.approve(host, "one")
    function = host.hook.provide_tools(name="run", plugin=None)
    sys.modules[function.__module__].host = host  # type: ignore[attr-defined]
    assert host.tools.call("run") == 2


def test_a_tool_with_a_command_needs_an_executor(world: World) -> None:
    world.bundle(
        "one",
        {"bin/t": "#!/bin/sh\n"},
        manifest=("capabilities:\n  tools:\n    - {name: run, command: [bin/t], description: x}\n"),
    )
    host = world.host()
    world.approve(host, "one")
    assert host.tools["run"].description == "x"
    assert host.tools["run"].needs == "an executor"
    with pytest.raises(CapabilityNotFoundError, match="needs an executor"):
        host.tools.call("run")


def test_plugin_argument_of_provide_tools_singles_out_the_plugin(world: World) -> None:
    world.bundle("one", {"t.py": "def run():\n    return 1\n"}, tools={"run": "t.py:run"})
    host = world.host()
    world.approve(host, "one")
    assert host.hook.provide_tools(name="run", plugin="one")() == 1
    assert host.hook.provide_tools(name="run", plugin="other") is None
    (declarations,) = host.hook.list_tools()
    assert declarations == [
        ToolDeclaration(
            name="run",
            plugin="one",
            description="",
            parameters=declarations[0].parameters,
            is_async=False,
        )
    ]


def test_a_host_uses_its_own_marker_or_lionplugs(world: World) -> None:
    import pluggy

    own = pluggy.HookimplMarker("myapp")
    host = world.host("myapp")

    class A:
        @own
        def list_tools(self) -> list[ToolDeclaration]:
            return []

    class B:
        @hookimpl
        def list_tools(self) -> list[ToolDeclaration]:
            return []

    host.register(A())
    host.register(B())
    assert host.hook.list_tools() == [[], [], []]  # A, B and the loader of all bundles
