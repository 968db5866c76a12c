"""``docs/examples/demo.py``, as ``make demo`` runs it."""

from __future__ import annotations

import runpy
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.place import Place

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "docs" / "examples" / "demo.py"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The directory that the demo looks at."""
    root = tmp_path / "checkout"
    root.mkdir()
    (root / "a.py").write_text("# FIXME: soon\n" * 3)
    (root / "b.md").write_text("text\n")
    return root


def test_the_demo_goes_through_every_step(place: Place, checkout: Path) -> None:
    shown = place.outside(program=[sys.executable, str(DEMO), str(checkout)])
    assert shown.code == 0, shown
    assert shown.err == ""
    steps = [
        "$ lionplug list\n",
        "untrusted",
        f"$ lionplug call languages path={checkout} limit=5\nError: ",
        "Next: lionplug trust checkout-report",
        "$ lionplug info checkout-report\n",
        "$ lionplug digest ",
        "lp1:sha256:",
        "$ lionplug trust checkout-report --expect lp1:sha256:",
        "tools/languages.py",
        "Approved checkout-report 1.0.0: lp1:sha256:",
        "$ lionplug call languages ",
        "Python                 1 files        3 lines\n",
        "$ sed -i ",
        "$ lionplug call languages ",
        "Error: ",
        "changed",
        "$ lionplug diff checkout-report\n",
        '-        f"{language:<18}{file_count[language]:>6} files{lines:>9} lines"\n',
        '+        f"{language:<18}{file_count[language]:>6} Files{lines:>9} lines"\n',
        "$ lionplug trust checkout-report --expect lp1:sha256:",
        "What changed since the approval:",
        "... (the full disclosure again: ",
        "Summary\n  Declares 3 tools",
        "Approved checkout-report 1.0.0: lp1:sha256:",
        "Python                 1 Files        3 lines\n",
        "$ python host.py ",
        "tools: languages, largest_files, open_work\nimported so far: 0\n",
        "largest file: a.py\nopen work, first places: 3\n",
        " ms  checkout-report  tools/sizes.py  for provide_tools",
        " ms  checkout-report  tools/work.py  for provide_tools",
    ]
    end = 0
    for step in steps:
        found = shown.out.find(step, end)
        assert found >= 0, f"no {step!r} after\n{shown.out[:end]}"
        end = found + len(step)
    assert sorted(path.name for path in checkout.iterdir()) == ["a.py", "b.md"]
    assert not (place.home / ".lionplug").exists()


@pytest.mark.long
def test_the_demo_on_this_checkout_is_quick(place: Place) -> None:
    begin = time.monotonic()
    result = place.outside(program=[sys.executable, str(DEMO)])
    assert result.code == 0, result
    assert time.monotonic() - begin < 15


def test_the_demo_stops_where_a_step_goes_wrong(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(DEMO), str(tmp_path / "missing")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "The exit code was 1, not 0: the demo is over." in done.stderr


def test_a_disclosure_is_left_out_only_if_it_is_there() -> None:
    space = runpy.run_path(str(DEMO))
    shorten = space["without_disclosure"]
    assert shorten("no such lines\nSummary\n") == "no such lines\nSummary\n"
    text = "What changed:\n\nScope user, location /x\nFirst\n\nSummary\n  all\n"
    assert shorten(text) == (
        "What changed:\n\n... (the full disclosure again: 3 lines)\nSummary\n  all\n"
    )
