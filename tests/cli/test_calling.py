"""``call``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.place import PROGRAM, Place

Greeter = Callable[..., Path]


@pytest.fixture
def active(place: Place, greeter: Greeter) -> Callable[[str], None]:
    def write(code: str) -> None:
        greeter(code=code)
        place.approve()

    return write


def test_call_prints_a_string_as_it_is(place: Place, greeter: Greeter) -> None:
    greeter()
    place.approve()
    result = place.run("call", "greet", "who=you", "times=2")
    assert (result.code, result.out, result.err) == (0, "Hello you\nHello you\n", "")
    assert place.json("call", "greet", "who=1") == {
        "tool": "greet",
        "plugin": "greeter",
        "result": "Hello 1",
        "as_text": [],
    }


def test_arguments_come_from_a_file_or_a_pipe(place: Place, greeter: Greeter) -> None:
    greeter()
    place.approve()
    (place.project / "in.json").write_text('{"who": "file"}')
    assert place.run("call", "greet", "--input", "in.json").out == "Hello file\n"
    piped = place.run("call", "greet", "times=2", "--input", "-", stdin='{"who": "pipe"}')
    assert piped.out == "Hello pipe\nHello pipe\n"
    assert place.run("call", "greet", "--input", "missing.json").code == 2


def test_anything_else_is_printed_as_json(place: Place, active: Callable[[str], None]) -> None:
    active("def greet(n: int):\n    return {'n': n, 's': {n}}\n")
    result = place.run("call", "greet", "n=3")
    assert json.loads(result.out) == {"n": 3, "s": [3]}


def test_an_async_tool_is_awaited(place: Place, active: Callable[[str], None]) -> None:
    active("import asyncio\nasync def greet(n: int):\n    await asyncio.sleep(0)\n    return n\n")
    assert place.run("call", "greet", "n=3").out == "3\n"


def test_a_tool_that_turns_out_async_is_awaited(
    place: Place, active: Callable[[str], None]
) -> None:
    active("async def hidden(who):\n    return who\nglobals()['greet'] = hidden\n")
    assert place.run("call", "greet", "who=x").out == "x\n"


def test_a_refused_call_says_what_to_run(place: Place, greeter: Greeter) -> None:
    greeter()
    result = place.run("call", "greet", "who=x")
    assert result.code == 1
    assert "greeter" in result.err
    assert "untrusted" in result.err
    assert result.err.endswith("Next: lionplug trust greeter\n")
    error = place.json("call", "greet", "who=x", code=1)["error"]
    assert error["type"] == "CapabilityNotFoundError"
    assert (error["plugin"], error["state"]) == ("greeter", "untrusted")
    assert error["command"] == "lionplug trust greeter"
    assert "lionplug trust" not in error["message"]
    assert not place.marker.exists()


def test_wrong_arguments_are_listed(place: Place, greeter: Greeter) -> None:
    greeter()
    place.approve()
    result = place.run("call", "greet", "times=many")
    assert result.code == 1
    assert "times" in result.err
    assert "who" in result.err
    assert result.err.endswith(
        "Look at the tool's parameters and call it again.\nNext: lionplug info greeter\n"
    )
    assert len(place.json("call", "greet", "times=many", code=1)["error"]["problems"]) == 2
    assert not place.marker.exists()
    assert place.run("call", "greet", "who").code == 2


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("raise ValueError('bad \\x1b[2J')", "ValueError: bad \\u{1b}[2J"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("raise BrokenPipeError('mine')", "BrokenPipeError: mine"),
    ],
)
def test_a_tools_error_is_told_and_traced_on_demand(
    place: Place, active: Callable[[str], None], body: str, text: str
) -> None:
    active(f"def greet():\n    {body}\n")
    result = place.run("call", "greet")
    assert result.code == 1, result
    assert result.err.startswith(f"Error: tool greet of greeter failed:\n{text}\n")
    assert "Traceback" not in result.err
    traced = place.run("--debug", "call", "greet")
    assert "Traceback" in traced.err
    assert text in traced.err
    assert "\x1b" not in traced.err


def test_a_module_that_fails_to_import_is_told(place: Place, active: Callable[[str], None]) -> None:
    active("import nothing_of_that_name\n")
    result = place.run("call", "greet")
    assert result.code == 1
    assert "greeter" in result.err
    assert "nothing_of_that_name" in result.err
    assert "Traceback" not in result.err


def test_what_a_tool_prints_goes_to_standard_error(
    place: Place, active: Callable[[str], None]
) -> None:
    active(
        "import os, subprocess\n"
        "print('at import')\n"
        "def greet():\n"
        "    print('in call')\n"
        "    subprocess.run(['echo', 'from a child'])\n"
        "    os.write(1, b'below\\n')\n"
        "    return 'result'\n"
    )
    result = place.run("call", "greet")
    assert result.out == "result\n"
    for text in ("at import", "in call", "from a child", "below"):
        assert text in result.err
    assert place.json("call", "greet")["result"] == "result"


def test_what_is_printed_after_the_call_is_no_result(
    place: Place, active: Callable[[str], None]
) -> None:
    active(
        "import atexit, os, threading, time\n"
        "def late(word):\n"
        "    time.sleep(0.2)\n"
        "    print(word, flush=True)\n"
        "    os.write(1, b'below\\n')\n"
        "def greet():\n"
        "    threading.Thread(target=late, args=('thread',)).start()\n"
        "    atexit.register(late, 'exit')\n"
        "    return 1\n"
    )
    result = place.outside("call", "greet", "--json")
    assert result.json["result"] == 1
    assert result.err == "thread\nbelow\nexit\nbelow\n"


def test_a_call_needs_no_standard_error(place: Place, active: Callable[[str], None]) -> None:
    active("def greet():\n    print('lost')\n    return 1\n")
    command = " ".join([*PROGRAM, "call", "greet"])
    result = place.outside(program=["sh", "-c", f"{command} 2>&-"])
    assert (result.code, result.out) == (0, "1\n")
    result = place.outside(program=["sh", "-c", f"{command} >&-"])
    assert result.code == 141
    assert "Traceback" not in result.err


def test_interrupting_a_tool(place: Place, active: Callable[[str], None]) -> None:
    active("def greet():\n    print('started', flush=True)\n    import time\n    time.sleep(60)\n")
    terminal = place.terminal("call", "greet")
    terminal.wait_for("started")
    terminal.type("\x03")
    assert terminal.finish() == 130
    assert "Traceback" not in terminal.text


def test_letters_stand_in_json_for_people_and_escapes_in_json_for_programs(
    place: Place, active: Callable[[str], None]
) -> None:
    active("def greet():\n    return ['caf\\xe9', '\\x1b\\x7f\\u202e']\n")
    result = place.run("call", "greet")
    assert result.out == '[\n  "café",\n  "\\u001b\\u007f\\u202e"\n]\n'
    assert json.loads(result.out) == ["café", "\x1b\x7f\u202e"]
    as_json = place.run("call", "greet", "--json")
    assert as_json.out.isascii()
    assert as_json.json["result"] == ["café", "\x1b\x7f\u202e"]


def test_what_json_lacks_is_said_to_be_text(place: Place, active: Callable[[str], None]) -> None:
    active("def greet():\n    return [b'x', float('nan'), object, 1.5, b'y']\n")
    result = place.run("call", "greet")
    assert json.loads(result.out)[:2] == ["b'x'", "nan"]
    assert result.err == (
        "The tool returned what JSON lacks, shown as the text that Python gives: "
        "bytes, nan, type.\n"
    )
    assert place.json("call", "greet")["as_text"] == ["bytes", "nan", "type"]
