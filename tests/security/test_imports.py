"""Nothing that a host does with tools imports a module from the working directory."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.support import World

PROGRAM = """
import asyncio, os, sys
asyncio.run(asyncio.sleep(0))  # what asyncio itself defers is the program's own import
from lionplug import Host
os.chdir(sys.argv[1])
sys.path.insert(0, "")
installed = {name.partition(".")[0] for folder in sys.path if os.path.isabs(folder)
             and os.path.isdir(folder) for name in os.listdir(folder)}
own = {"lionplug", "lionplug_hookspecs", "lionplug_contrib", "tests"}
for name in sorted((sys.stdlib_module_names | installed) - own - set(sys.modules)):
    if name.isidentifier():
        with open(name + ".py", "w") as file:
            file.write("import sys; sys.stderr.write('ran ' + __name__); raise ImportError")
host = Host("lionplug", version="1.0.0", user_dir=sys.argv[2])
host.trust("one", approve=lambda disclosure: bool(disclosure.lines()))
print(host.tools.call("plain", {"text": "a"}))
print(asyncio.run(host.tools.acall("plain", {"text": "a"})), asyncio.run(host.tools.acall("slow")))
try:
    host.tools.call("plain", {"text": 1})
except Exception as error:
    print(type(error).__name__)
host.diff("one")
host.plugins.refresh()
host.disable("one"), host.enable("one"), host.revoke("one")
host.close()
"""


def test_s19_tools_import_nothing_from_the_working_directory(world: World) -> None:
    """Also what a dependency imports only when it is first used, as anyio its backend."""
    schema = "{type: object, properties: {text: {type: string, pattern: '^a+$'}}}"
    world.bundle(
        "one",
        {"t.py": "def plain(text): return text\nasync def slow(): return 7\n"},
        manifest=(
            "capabilities:\n  tools:\n"
            f"    - {{name: plain, target: 't.py:plain', parameters: {schema}}}\n"
            "    - {name: slow, target: 't.py:slow'}\n"
        ),
    )
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(world.project), str(world.user)],
        cwd="/",
        env={
            "HOME": str(world.user.parent),
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if os.path.isabs(path)),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stderr == ""
    assert ended.stdout == "a\na 7\nArgumentsError\n"
