"""The life of a plugin in one minute: listed, approved, called, changed, approved again.

Run it with ``make demo``, or with the directory to look at::

    python docs/examples/demo.py [DIRECTORY]

The plugin is ``checkout-report`` beside this file. Everything happens in a temporary home
and project; the directory itself, by default the checkout that this file belongs to, is
only read.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable

HERE = os.path.dirname(os.path.realpath(__file__))
PLUGIN = "checkout-report"

HOST = """\
import sys
import lionplug

host = lionplug.Host("lionplug", version=lionplug.__version__)
print("tools:", ", ".join(tool.name for tool in host.tools))
print("imported so far:", len(host.activations))

largest = host.tools.call("largest_files", {"path": sys.argv[1], "limit": 1})
print("largest file:", largest[0]["file"])
places = host.tools.call("open_work", {"path": sys.argv[1], "limit": 3})
print("open work, first places:", len(places))

for row in host.activations:
    print(f"  {row.milliseconds:6.1f} ms  {row.plugin}  {row.module}  for {row.hook}")
"""


class Demo:
    """A home, a project and a person at the keyboard.

    :param folder: Where home and project are made.
    """

    def __init__(self, folder: str) -> None:
        home = os.path.join(folder, "home")
        self.project = os.path.join(folder, "project")
        self.bundle = os.path.join(home, ".lionplug", "plugins", PLUGIN)
        os.makedirs(os.path.join(self.project, ".git"))
        shutil.copytree(os.path.join(HERE, PLUGIN), self.bundle)
        kept = {name: value for name, value in os.environ.items() if "LIONPLUG" not in name}
        self._environment = kept | {"HOME": home}

    def say(self, text: str) -> None:
        """Print what is about to happen, in one or more lines."""
        print("".join(f"\n# {line}" for line in text.split("\n")), flush=True)

    def lionplug(self, *arguments: str, expected: int = 0, again: bool = False) -> str:
        """Print and run a command, print its output and return it.

        :param expected: The exit code; with another one the demo is over.
        :param again: Whether it shows a disclosure that was shown in full before.
        """
        print("$ lionplug " + shlex.join(arguments), flush=True)
        command = [sys.executable, "-m", "lionplug", *arguments]
        return self._run(command, expected, without_disclosure if again else str)

    def host(self, directory: str) -> None:
        """Print and run a Python program that embeds a host."""
        print("$ cat host.py")
        print("".join(f"    {line}\n" for line in HOST.splitlines()).rstrip())
        print(f"$ python host.py {shlex.quote(directory)}", flush=True)
        self._run([sys.executable, "-c", HOST, directory], 0)

    def _run(self, command: list[str], expected: int, shown: Callable[[str], str] = str) -> str:
        done = subprocess.run(
            command,
            cwd=self.project,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        print(shown(done.stdout), end="", flush=True)
        if done.returncode != expected:
            sys.exit(f"The exit code was {done.returncode}, not {expected}: the demo is over.")
        return done.stdout


def without_disclosure(text: str) -> str:
    """Leave out what a disclosure says between its first line and its summary, and say so."""
    lines = text.splitlines(keepends=True)
    begin = next((at for at, line in enumerate(lines) if line.startswith("Scope ")), 0)
    end = lines.index("Summary\n") if "Summary\n" in lines else 0
    if not 0 < begin < end:
        return text
    left_out = f"... (the full disclosure again: {end - begin} lines)\n"
    return "".join([*lines[:begin], left_out, *lines[end:]])


def play(demo: Demo, directory: str) -> None:
    """Go through the whole life of a plugin.

    :param demo: The stage.
    :param directory: The directory that the plugin looks at.
    """
    call = ("call", "languages", f"path={directory}", "limit=5")

    demo.say("A bundle was dropped into the user's plugins. It is visible, and inert.")
    demo.lionplug("list")
    demo.say("Nobody approved it, so a call is refused.")
    demo.lionplug(*call, expected=1)

    demo.say("What does it bring? Nothing is imported to answer that.")
    demo.lionplug("info", PLUGIN)
    demo.say("One digest names all its bytes. Approve exactly those.")
    digest = demo.lionplug("digest", demo.bundle).strip()
    demo.lionplug("trust", PLUGIN, "--expect", digest)

    demo.say("The first call imports the one module that it needs.")
    demo.lionplug(*call)

    demo.say("One byte of it changes: refused, with no code of it run.")
    module = os.path.join(demo.bundle, "tools", "languages.py")
    print(f"$ sed -i 's/ files{{/ Files{{/' {shlex.quote(module)}", flush=True)
    change_one_byte(module, b" files{", b" Files{")
    demo.lionplug(*call, expected=1)

    demo.say("The difference from what was approved; then the new bytes are approved.")
    demo.lionplug("diff", PLUGIN)
    digest = demo.lionplug("digest", demo.bundle).strip()
    demo.lionplug("trust", PLUGIN, "--expect", digest, again=True)
    demo.lionplug(*call)

    demo.say(
        "The same in a program: tools are known before any code is imported, and each\n"
        "module is imported by the first call that needs it."
    )
    demo.host(directory)


def change_one_byte(path: str, old: bytes, new: bytes) -> None:
    """Replace the one place where a file holds ``old``."""
    with open(path, "rb") as file:
        data = file.read()
    if data.count(old) != 1:
        raise ValueError(f"{path} holds {old!r} {data.count(old)} times, expected once")
    with open(path, "wb") as file:
        file.write(data.replace(old, new))


def main() -> None:
    """Play the demo in a temporary folder that is gone afterwards."""
    directory = os.path.realpath(
        sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(HERE))
    )
    folder = os.path.realpath(tempfile.mkdtemp(prefix="lionplug-demo-"))
    try:
        play(Demo(folder), directory)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
