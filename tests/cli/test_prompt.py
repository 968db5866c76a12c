"""The question on the controlling terminal (security rule S23), on a real pseudo-terminal."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
import time

import pytest

from lionplug.cli import prompt
from lionplug.cli.prompt import NoTerminalError, controlling_terminal, signals_are_no
from tests.cli.place import Place

ASK = """
import time, sys
from lionplug.cli.prompt import controlling_terminal
print("up", flush=True)
time.sleep(float(sys.argv[1]))
with controlling_terminal() as terminal:
    answer = terminal.ask("Question? ")
print(f"<{answer}>", flush=True)
"""


def asking(pause: float = 0) -> list[str]:
    return [sys.executable, "-c", ASK, str(pause)]


@pytest.mark.parametrize("answer", ["y", "", "abc123", "  y ", "y\x0by", "ü"])
def test_the_line_typed_after_the_question_is_the_answer(place: Place, answer: str) -> None:
    terminal = place.terminal(program=asking())
    terminal.wait_for("Question? ")
    terminal.type(answer + "\n")
    assert terminal.finish() == 0
    assert f"<{answer}>" in terminal.text


@pytest.mark.parametrize("early", ["y\n", "y\ny\ny\n", "y", "abc\x04y\n"])
def test_s23_what_was_typed_before_the_question_does_not_count(place: Place, early: str) -> None:
    terminal = place.terminal(program=asking(0.4))
    terminal.wait_for("up")
    terminal.type(early)
    terminal.wait_for("Question? ")
    terminal.type("no\n")
    assert terminal.finish() == 0
    assert "<no>" in terminal.text


def test_s23_a_paste_that_still_arrives_does_not_count(place: Place) -> None:
    terminal = place.terminal(program=asking())
    terminal.wait_for("up")
    for _ in range(8):
        terminal.type("y\n")
        time.sleep(0.05)
    terminal.wait_for("Question? ")
    terminal.type("no\n")
    assert terminal.finish() == 0
    assert "<no>" in terminal.text


@pytest.mark.parametrize("keys", ["\x04", "y" * 300 + "\n", "y\x04\x04"])
def test_s23_end_of_file_and_a_long_line_are_no(place: Place, keys: str) -> None:
    terminal = place.terminal(program=asking())
    terminal.wait_for("Question? ")
    terminal.type(keys)
    assert terminal.finish() == 0
    assert "<>" in terminal.text


def test_s23_standard_input_answers_nothing(place: Place) -> None:
    yes = subprocess.Popen(["yes"], stdout=subprocess.PIPE)
    assert yes.stdout is not None
    terminal = place.terminal(program=asking(), stdin=yes.stdout.fileno())
    terminal.wait_for("Question? ")
    terminal.type("\n")
    assert terminal.finish() == 0
    assert "<>" in terminal.text
    yes.kill()
    yes.communicate()


def test_s23_without_a_terminal_nothing_waits(place: Place) -> None:
    result = place.outside(program=asking())
    assert result.code == 1
    assert result.err.rstrip().endswith("NoTerminalError")


def test_a_background_job_is_not_stopped_for_the_terminal(place: Place) -> None:
    code = (
        "import os, subprocess, sys\n"
        "job = subprocess.run(sys.argv[1:], process_group=0)\n"
        "print('code', job.returncode, flush=True)\n"
    )
    if sys.version_info < (3, 11):
        pytest.skip("subprocess.run(process_group=...) came with Python 3.11")
    terminal = place.terminal(program=[sys.executable, "-c", code, *asking()])
    assert terminal.finish() == 0
    assert "NoTerminalError" in terminal.text
    assert "code 1" in terminal.text


def test_what_is_no_terminal_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt, "TERMINAL", os.devnull)
    with pytest.raises(NoTerminalError), controlling_terminal():
        pass
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(NoTerminalError), controlling_terminal():
        pass


def test_a_stream_of_input_delays_the_question_only_so_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prompt, "LONGEST_WAIT_SECONDS", 0)
    master, slave = pty.openpty()
    os.write(master, b"early\n")
    assert not prompt._in_foreground(slave)  # it is the terminal of no session
    terminal = prompt.Terminal(slave)
    threading.Timer(0.3, os.write, (master, b"late\n")).start()
    assert terminal.ask("?") == "late"
    terminal.close()
    os.close(master)


def test_signals_are_left_alone_outside_the_main_thread() -> None:
    before = signal.getsignal(signal.SIGTERM)
    seen = []

    def look() -> None:
        with signals_are_no():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [before]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_unwind_and_handlers_come_back(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with pytest.raises(SystemExit) as caught, signals_are_no():
        signal.raise_signal(number)
    assert caught.value.code == 128 + number
    assert signal.getsignal(number) is before
