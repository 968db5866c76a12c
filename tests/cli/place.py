"""Run the command from outside: as a program, with its own home, on a terminal or without."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import subprocess
import sys
import time
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lionplug.cli.app import make_lionplug
from lionplug.cli.group import run
from lionplug.host import Host

PROGRAM = [sys.executable, "-m", "lionplug"]

# Becomes a session of its own with argv[1] as controlling terminal, then the program. Jobs
# in the background and workers of pytest-xdist hand on an ignored SIGINT.
LAUNCHER = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.close(os.open(sys.argv[1], os.O_RDWR))
os.execv(sys.argv[2], sys.argv[2:])
"""

DEADLINE = 20.0


class Result:
    """What one run of a program gave."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err

    @property
    def json(self) -> Any:
        """The one document on standard output."""
        return json.loads(self.out)

    def __repr__(self) -> str:
        return f"<exit {self.code}\n--- out\n{self.out}\n--- err\n{self.err}>"


class Terminal:
    """A program on a pseudo-terminal."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process = process
        self._master = master
        self.seen = b""

    def wait_for(self, text: str) -> None:
        """Read until ``text`` was shown."""
        end = time.monotonic() + DEADLINE
        while text.encode() not in self.seen:
            assert time.monotonic() < end, f"no {text!r} in {self.text}"
            if not self._read(0.2) and self.process.poll() is not None:
                self._read(0.2)
                assert text.encode() in self.seen, f"no {text!r} in {self.text}"

    def type(self, text: str) -> None:
        """Type on the keyboard."""
        os.write(self._master, text.encode())

    def finish(self) -> int:
        """Read to the end and return the exit code."""
        end = time.monotonic() + DEADLINE
        while self.process.poll() is None:
            assert time.monotonic() < end, f"still running: {self.text}"
            self._read(0.05)
        while self._read(0.05):
            pass
        return self.process.returncode

    @property
    def text(self) -> str:
        """All that was shown, with line ends as LF."""
        return self.seen.decode("utf-8", "replace").replace("\r\n", "\n")

    def _read(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:
            return False
        self.seen += data
        return bool(data)


class Keyboard:
    """Stands for a controlling terminal with a person at it."""

    def __init__(self, answer: str) -> None:
        self._answer = answer

    def show(self, text: str) -> None:
        """Show text on standard error, where a test sees it."""
        print(text, end="", file=sys.stderr)

    def ask(self, question: str) -> str:
        """Return the answer."""
        self.show(question)
        return self._answer


class Place:
    """A home, a project, and the command run in it.

    :ivar home: The person's home directory.
    :ivar project: A checkout in which the command is run.
    """

    def __init__(
        self, root: Path, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]
    ) -> None:
        self._patch = patch
        self._capture = capture
        self.home = root / "home"
        self.project = root / "project"
        self._open: list[tuple[subprocess.Popen[bytes], int]] = []
        for folder in (self.home, self.project / ".git"):
            folder.mkdir(parents=True, mode=0o755)

    @property
    def user_plugins(self) -> Path:
        """Where bundles of the user's own lie."""
        return self.home / ".lionplug" / "plugins"

    @property
    def project_plugins(self) -> Path:
        """Where bundles of the project lie."""
        return self.project / ".lionplug" / "plugins"

    @property
    def marker(self) -> Path:
        """Written by every bundle of :meth:`bundle` when its code is imported."""
        return self.home / "imported"

    def environment(self, **more: str) -> dict[str, str]:
        """Return a plain environment with this home."""
        names = ("PATH", "LANG", "COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG")
        kept = {name: os.environ[name] for name in names if name in os.environ}
        return kept | {"HOME": str(self.home), "TERM": "xterm", "COLUMNS": "100"} | more

    def run(self, *arguments: str, stdin: str = "", answer: str | None = None) -> Result:
        """Run the command in this process: a hundred times faster than from outside.

        The user scope is given by argument, because the environment that counts is the
        one that this process was started with.

        :param answer: What a person types at the question; without it there is no terminal.
        """
        here = partial(Host, user_dir=str(self.home / ".lionplug"))
        with self._patch.context() as patch:
            patch.chdir(self.project)
            patch.setattr("lionplug.host.Host", here)
            patch.setattr("lionplug.cli.prompt.TERMINAL", os.devnull)
            patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
            self._capture.readouterr()
            if answer is not None:
                keyboard = partial(nullcontext, Keyboard(answer))
                patch.setattr("lionplug.cli.approving.controlling_terminal", keyboard)
            code = run(make_lionplug(), "lionplug", list(arguments))
        out, err = self._capture.readouterr()
        return Result(code, out, err)

    def outside(
        self,
        *arguments: str,
        stdin: str | None = None,
        cwd: Path | None = None,
        program: list[str] | None = None,
        **environment: Any,
    ) -> Result:
        """Run the command as a program without any terminal."""
        done = subprocess.run(
            [*(program or PROGRAM), *arguments],
            input=(stdin or "").encode(),
            capture_output=True,
            cwd=cwd or self.project,
            env=self.environment(**environment),
            timeout=DEADLINE,
            start_new_session=True,  # no controlling terminal, wherever the tests run
            check=False,
        )
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    def json(self, *arguments: str, code: int = 0) -> Any:
        """Run the command with ``--json`` and return its one document."""
        result = self.run(*arguments, "--json")
        assert result.code == code, result
        return result.json

    def terminal(
        self,
        *arguments: str,
        program: list[str] | None = None,
        stdin: int | None = None,
        stdout: int | None = None,
        **environment: Any,
    ) -> Terminal:
        """Start the command on a pseudo-terminal."""
        master, slave = pty.openpty()
        launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, os.ttyname(slave)]
        process = subprocess.Popen(
            [*launcher, *(program or PROGRAM), *arguments],
            stdin=slave if stdin is None else stdin,
            stdout=slave if stdout is None else stdout,
            stderr=slave,
            cwd=self.project,
            env=self.environment(**environment),
            start_new_session=True,
        )
        os.close(slave)
        self._open.append((process, master))
        return Terminal(process, master)

    def close(self) -> None:
        """End what a failed test left running."""
        for process, master in self._open:
            if process.poll() is None:
                process.kill()
            process.wait()
            os.close(master)

    def bundle(
        self,
        folder: Path,
        name: str = "greeter",
        *,
        directory: str | None = None,
        manifest: str = "",
        code: str = "",
    ) -> Path:
        """Write a bundle with one tool, ``greet``, whose import leaves :attr:`marker`."""
        root = folder / (directory or name)
        (root / "tools").mkdir(parents=True)
        (root / "plugin.yaml").write_text(manifest or MANIFEST.format(name=name))
        (root / "tools" / "greet.py").write_text(
            f"with open({str(self.marker)!r}, 'a') as file:\n    file.write('x')\n" + (code or CODE)
        )
        return root

    def approve(self, name: str = "greeter") -> str:
        """Approve a plugin by its digest and return the digest."""
        digest = str(self.json("info", name)["digest"])
        result = self.run("trust", name, "--expect", digest)
        assert result.code == 0, result
        return digest


MANIFEST = """\
name: {name}
version: "1.0"
description: Greets people
lionplug: ">=0"
capabilities:
  tools:
    - name: greet
      target: tools/greet.py:greet
"""

CODE = '''\
def greet(who: str, times: int = 1) -> str:
    """Greet somebody."""
    return "\\n".join([f"Hello {who}"] * times)
'''
