"""A plugin that fails while it is imported: told once in full, and the same each time (FR-09)."""

from __future__ import annotations

import gc
import pickle
import sys
import threading
import weakref

import pytest

from lionplug.activation import importer
from lionplug.activation.failures import Failure
from lionplug.errors import ActivationError
from tests.activation.support import Bundles

END = "It is not tried again before the plugin changes."
REPORT = f"Report this to its author, or disable the plugin. {END}"


def failing(bundles: Bundles, source: str, *, target: str = "tools/search.py:f") -> ActivationError:
    namespace = bundles.make("web", {"tools/search.py": source})
    with pytest.raises(ActivationError) as caught:
        bundles.load(namespace, target, what="tool web_search")
    return caught.value


@pytest.mark.parametrize(
    ("source", "line", "cause", "advice"),
    [
        (
            "x = 1\nimport nope\n",
            2,
            "ModuleNotFoundError: No module named 'nope'",
            f"Install what the plugin needs into this environment, or disable the plugin. {END}",
        ),
        ("\n\nraise SystemExit(0)\n", 3, "SystemExit: 0", REPORT),
        ("raise SystemExit\n", 1, "SystemExit", REPORT),
        (
            "x = (\n",
            1,
            "SyntaxError: '(' was never closed",
            "Ask its author for a version for Python "
            f"{sys.version_info[0]}.{sys.version_info[1]}, or disable the plugin. {END}",
        ),
        ("def g():\n    1 / 0\ng()\n", 2, "ZeroDivisionError: division by zero", REPORT),
        ("raise RuntimeError('\x1b[2J\u202e')", 1, "RuntimeError: \\u{1b}[2J\\u{202e}", REPORT),
        ("raise RuntimeError('x' * 1000)", 1, f"RuntimeError: {'x' * 300}...", REPORT),
        (
            "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
            3,
            "E: (its text can't be shown)",
            REPORT,
        ),
    ],
)
def test_fr09_the_message_says_what_where_and_what_next(
    bundles: Bundles, source: str, line: int, cause: str, advice: str
) -> None:
    if "never closed" in cause and sys.version_info < (3, 10):
        pytest.skip("another wording")
    error = failing(bundles, source)
    assert str(error) == (
        f"plugin web: tool web_search can't be used: tools/search.py:{line}: {cause}. {advice}"
    )
    assert (error.plugin, error.file, error.line) == ("web", "tools/search.py", line)
    assert "Traceback" in error.details or "SyntaxError" in error.details


def test_a_missing_sibling_is_named_as_in_the_bundle(bundles: Bundles) -> None:
    error = failing(bundles, "from . import other\n")
    assert str(error).startswith(
        "plugin web: tool web_search can't be used: tools/search.py:1: ImportError: cannot import "
        "name 'other' from 'tools' (unknown location). "
    )


def test_the_line_is_the_innermost_one_of_the_bundle(bundles: Bundles) -> None:
    namespace = bundles.make(
        "web", {"a.py": "\nimport b\n", "b.py": "\n\nimport json\njson.loads('{')\n"}
    )
    with pytest.raises(ActivationError) as caught:
        bundles.load(namespace, "a.py:f")
    assert (caught.value.file, caught.value.line) == ("b.py", 4)


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("x = 1", "tools/search.py:f", "has no f"),
        ("f = 'text'", "tools/search.py:f", "f is a str, expected a callable"),
        ("f = None", "tools/search.py:f", "f is a NoneType, expected a callable"),
    ],
)
def test_what_a_reference_names_must_be_there_and_callable(
    bundles: Bundles, source: str, target: str, reason: str
) -> None:
    error = failing(bundles, source, target=target)
    assert str(error) == (
        f"plugin web: tool web_search can't be used: tools/search.py: {reason}. Its author must "
        f"correct the file or the reference in plugin.yaml. {END}"
    )


def test_a_module_getattr_that_fails_is_reported_with_its_line(bundles: Bundles) -> None:
    error = failing(bundles, "def __getattr__(name):\n    raise SystemExit(name)\n")
    assert (error.file, error.line) == ("tools/search.py", 2)
    assert "SystemExit: f" in str(error)


def test_a_failure_is_the_same_each_time_and_not_retried(bundles: Bundles) -> None:
    namespace = bundles.make(
        "web", {"count.py": "runs = []", "a.py": "import count\ncount.runs.append(1)\n1 / 0"}
    )
    seen = []
    for target in ("a.py:f", "a.py:f", "a.py:g", "a.py"):
        with pytest.raises(ActivationError) as caught:
            bundles.load(namespace, target, what="tool t")
        seen.append(caught.value)
    assert len({str(error) for error in seen}) == 1
    assert len({id(error) for error in seen}) == 4
    assert isinstance(seen[0].__cause__, ZeroDivisionError)
    assert seen[1].__cause__ is None
    assert len({error.details for error in seen}) == 1
    assert sys.modules[f"{namespace.package}.count"].runs == [1]
    assert [failure.cause for failure in importer.failures_of(namespace.package)] == [
        "ZeroDivisionError: division by zero"
    ]


def test_other_bytes_and_a_new_approval_begin_anew(bundles: Bundles) -> None:
    place = str(bundles.folder / "live" / "web")
    bad = bundles.make("web", {"a.py": "1 / 0"}, location=place)
    with pytest.raises(ActivationError):
        bundles.load(bad, "a.py:f")
    good = bundles.make("web", {"a.py": "f = len"}, location=place)
    assert bundles.load(good, "a.py:f") is len
    importer.detach(bad.package)
    assert importer.failures_of(bad.package) == ()


def test_another_capability_of_the_plugin_still_works(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"bad.py": "1 / 0", "good.py": "f = len"})
    with pytest.raises(ActivationError):
        bundles.load(namespace, "bad.py:f")
    assert bundles.load(namespace, "good.py:f") is len


def test_partial_modules_leave(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"a.py": "x = 1\n1 / 0"})
    with pytest.raises(ActivationError):
        bundles.load(namespace, "a.py:f")
    assert f"{namespace.package}.a" not in sys.modules


def test_a_keyboard_interrupt_passes_and_is_not_kept(bundles: Bundles) -> None:
    namespace = bundles.make(
        "web",
        {
            "count.py": "runs = []",
            "a.py": "import count\ncount.runs.append(1)\n"
            "if len(count.runs) == 1: raise KeyboardInterrupt\nf = len",
        },
    )
    with pytest.raises(KeyboardInterrupt):
        bundles.load(namespace, "a.py:f")
    assert bundles.load(namespace, "a.py:f") is len


def test_two_threads_learn_of_one_failure(bundles: Bundles) -> None:
    namespace = bundles.make(
        "web",
        {
            "count.py": "runs = []",
            "a.py": "import count, time\ncount.runs.append(1)\ntime.sleep(.05)\n1 / 0",
        },
    )
    start = threading.Barrier(6)
    told: list[str] = []

    def ask() -> None:
        start.wait()
        try:
            bundles.load(namespace, "a.py:f")
        except ActivationError as error:
            told.append(str(error))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 6
    assert len(set(told)) == 1
    assert sys.modules[f"{namespace.package}.count"].runs == [1]


def test_a_kept_failure_keeps_nothing_alive(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"a.py": "class Big: pass\nbig = Big()\n1 / 0"})

    class Local:
        pass

    def ask() -> weakref.ref[Local]:
        local = Local()
        with pytest.raises(ActivationError):
            bundles.load(namespace, "a.py:f")
        return weakref.ref(local)

    local = ask()
    gc.collect()
    assert local() is None


def test_errors_pickle(bundles: Bundles) -> None:
    error = failing(bundles, "1 / 0")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.plugin, again.file, again.line, again.details) == (
        str(error),
        error.plugin,
        error.file,
        error.line,
        error.details,
    )


def test_a_failure_without_a_line_names_the_file() -> None:
    failure = Failure(plugin="web", file="a.py", line=0, cause="x", advice="Do y.")
    assert str(failure.error()) == (f"plugin web: its code can't be used: a.py: x. Do y. {END}")


def test_a_module_that_was_imported_by_another_and_fails_later_on_its_own(bundles: Bundles) -> None:
    namespace = bundles.make(
        "web",
        {
            "a.py": "try:\n    import b\nexcept ZeroDivisionError:\n    b = None\nf = len",
            "b.py": "1 / 0",
        },
    )
    assert bundles.load(namespace, "a.py:f") is len
    assert importer.failures_of(namespace.package) == ()
    with pytest.raises(ActivationError, match=r"b\.py:1: ZeroDivisionError"):
        bundles.load(namespace, "b.py:f")
