"""On a system without POSIX owners and modes, one message says why nothing works (S40)."""

from __future__ import annotations

import subprocess
import sys


def test_s40_importing_on_another_system_fails_with_one_message():
    code = "import sys, os; sys.path[:0] = sys.argv[1:]; os.name = 'nt'; import lionplug.files"
    done = subprocess.run(
        [sys.executable, "-c", code, *sys.path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ImportError: lionplug needs owners, modes and descriptors as POSIX has them "
        "(Linux, macOS, BSD); on this system (nt) it can't tell who may change a plugin"
    )
