"""What works in the code of a bundle as in any Python package."""

from __future__ import annotations

import copyreg
import dataclasses
import importlib
import importlib.resources
import inspect
import io
import json
import linecache
import multiprocessing
import os
import pickle
import pkgutil
import sys
import threading
import traceback
import types
import typing
from typing import Any

import pytest

from lionplug.activation.namespace import PREFIX
from lionplug.errors import ActivationError
from tests.activation.support import Bundles, untouched_imports

TOOL = '''"""Searches."""
import dataclasses
import typing


@dataclasses.dataclass
class Hit:
    """One hit."""

    title: "str"
    score: "float" = 1.0


def search(query: "str") -> "list[Hit]":
    # finds one
    return [Hit(query)]


def fail():
    raise ValueError("here")
'''


def test_globals_name_the_store_and_the_data(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"tools/search.py": TOOL})
    search = bundles.load(namespace, "tools/search.py:search")
    root = namespace.tree.root
    module: Any = sys.modules[search.__module__]
    assert search.__module__ == f"{namespace.package}.tools.search"
    assert module.__file__ == f"{root}/tools/search.py"
    assert module.__spec__.origin == f"{root}/tools/search.py"
    assert module.__plugin_root__ == root
    assert module.__plugin_data__ == namespace.data_dir
    assert sys.modules[f"{namespace.package}.tools"].__path__ == [f"{root}/tools"]
    assert sys.modules[namespace.package].__path__ == [root]
    assert not hasattr(module, "__cached__") or module.__cached__ is None


def test_loading_returns_the_same_object_every_time(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"tools/search.py": TOOL})
    first = bundles.load(namespace, "tools/search.py:search")
    assert bundles.load(namespace, "tools/search.py:search") is first
    assert bundles.load(namespace, "tools/search.py") is sys.modules[first.__module__]


def test_nothing_of_anybody_else_is_touched(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"tools/search.py": TOOL, "helper.py": "", "json.py": ""})
    with untouched_imports():
        bundles.load(namespace, "tools/search.py:search")
        bundles.load(namespace, "json.py")


def test_no_bytecode_is_written(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"tools/search.py": TOOL})
    bundles.load(namespace, "tools/search.py:search")
    names = [name for _, folders, files in os.walk(namespace.tree.root) for name in folders + files]
    assert sorted(names) == ["search.py", "tools"]


def test_source_is_found_by_inspect_and_linecache(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"tools/search.py": TOOL})
    search = bundles.load(namespace, "tools/search.py:search")
    module: Any = sys.modules[search.__module__]
    assert "# finds one" in inspect.getsource(search)
    assert inspect.getsource(module) == TOOL
    assert inspect.getsourcefile(search) == f"{namespace.tree.root}/tools/search.py"
    assert module.__loader__.get_source(module.__name__) == TOOL
    linecache.clearcache()
    assert linecache.getline(module.__file__, 1) == '"""Searches."""\n'


def test_source_keeps_its_text_whatever_the_line_ends(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"a.py": b"\xef\xbb\xbfx = 1\r\ny = '\xc3\xa9'\r\n"})
    module = bundles.load(namespace, "a.py")
    assert (module.x, module.y) == (1, "é")
    assert module.__loader__.get_source(module.__name__) == "x = 1\ny = 'é'\n"


def test_loader_answers_as_the_import_protocols_ask(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"pkg/__init__.py": "x = 1", "plain/note.txt": "n"})
    module = bundles.load(namespace, "pkg/__init__.py")
    plain: Any = importlib.import_module(f"{namespace.package}.plain")
    loader, name = module.__loader__, module.__name__
    assert loader.is_package(name)
    assert loader.get_filename(name) == module.__file__
    assert loader.get_code(name).co_filename == module.__file__
    assert plain.__loader__.get_code(plain.__name__) is None
    assert plain.__loader__.get_source(plain.__name__) is None
    with pytest.raises(ImportError, match="has no file"):
        plain.__loader__.get_filename(plain.__name__)
    assert not hasattr(plain, "__file__") or plain.__file__ is None


def test_tracebacks_show_the_line(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"tools/search.py": TOOL})
    fail = bundles.load(namespace, "tools/search.py:fail")
    with pytest.raises(ValueError, match="here") as caught:
        fail()
    text = "".join(traceback.format_exception(caught.value))
    assert 'raise ValueError("here")' in text
    assert f"{namespace.tree.root}/tools/search.py" in text


def test_dataclasses_and_type_hints_work(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"tools/search.py": TOOL})
    search = bundles.load(namespace, "tools/search.py:search")
    hit: Any = bundles.load(namespace, "tools/search.py:Hit")
    assert dataclasses.asdict(search("a")[0]) == {"title": "a", "score": 1.0}
    assert typing.get_type_hints(search) == {"query": str, "return": types.GenericAlias(list, hit)}
    assert typing.get_type_hints(hit) == {"title": str, "score": float}


def test_pickle_and_copyreg_work(bundles: Bundles) -> None:
    source = TOOL + (
        "\nimport copyreg\n"
        "class Odd:\n    def __init__(self, n): self.n = n\n"
        "def _reduce(odd): return Odd, (odd.n * 2,)\n"
        "copyreg.pickle(Odd, _reduce)\n"
    )
    namespace = bundles.make("web", {"tools/search.py": source})
    search = bundles.load(namespace, "tools/search.py:search")
    odd = bundles.load(namespace, "tools/search.py:Odd")
    try:
        assert pickle.loads(pickle.dumps(search)) is search
        assert pickle.loads(pickle.dumps(search("a"))) == search("a")
        assert pickle.loads(pickle.dumps(odd(4))).n == 8
    finally:
        copyreg.dispatch_table.pop(odd)


def test_resources_are_those_of_the_approved_tree(bundles: Bundles) -> None:
    namespace = bundles.make(
        "web",
        {
            "pkg/__init__.py": "",
            "pkg/note.txt": "in a package",
            "plain/mod.py": "",
            "plain/note.txt": "in a folder",
            "note.txt": "at the root",
        },
    )
    bundles.load(namespace, "pkg/__init__.py")
    bundles.load(namespace, "plain/mod.py")
    files = importlib.resources.files
    assert (files(f"{namespace.package}.pkg") / "note.txt").read_text() == "in a package"
    assert (files(f"{namespace.package}.plain") / "note.txt").read_text() == "in a folder"
    assert (files(namespace.package) / "note.txt").read_text() == "at the root"
    with importlib.resources.as_file(files(namespace.package) / "note.txt") as path:
        assert str(path) == f"{namespace.tree.root}/note.txt"
    assert pkgutil.get_data(f"{namespace.package}.pkg", "note.txt") == b"in a package"


def test_get_data_reads_pinned_files_only(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"a.py": "", "note.txt": "pinned"})
    loader = bundles.load(namespace, "a.py").__loader__
    with open(f"{namespace.tree.root}/note.txt", "w") as note:
        note.write("other")
    with pytest.raises(OSError, match="is no file of what was approved"):
        loader.get_data(f"{namespace.tree.root}/note.txt")
    with pytest.raises(OSError, match="is no file of what was approved"):
        loader.get_data("/etc/hostname")


def test_packages_files_and_folders(bundles: Bundles) -> None:
    namespace = bundles.make(
        "web",
        {
            "both.py": "kind = 'file'",
            "both/__init__.py": "kind = 'package'",
            "over.py": "kind = 'file'",
            "over/x.py": "",
            "plain/deep/leaf.py": (
                "from ..twig import t\nfrom . import other\nfrom plain.twig import t as u"
            ),
            "plain/deep/other.py": "",
            "plain/twig.py": "t = 1",
            "main.py": "import both, over\nimport plain.deep.leaf as leaf\nimport plain.twig",
        },
    )
    main = bundles.load(namespace, "main.py")
    assert main.both.kind == "package"
    assert main.over.kind == "file"
    assert main.leaf.t == main.leaf.u == 1
    assert main.plain.__name__ == f"{namespace.package}.plain"
    assert main.plain.twig.t == 1


def test_the_root_may_be_a_package_itself(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"__init__.py": "x = 1", "a.py": "from . import x"})
    assert bundles.load(namespace, "a.py").x == 1
    assert sys.modules[namespace.package].__file__ == f"{namespace.tree.root}/__init__.py"


def test_inner_links_are_followed_as_pinned(bundles: Bundles) -> None:
    namespace = bundles.make(
        "web",
        {
            "src/core.py": "value = 'core'",
            "lib": "->src",
            "alias.py": "->src/core.py",
            "main.py": "import lib.core, alias",
        },
    )
    main = bundles.load(namespace, "main.py")
    assert main.lib.core.value == main.alias.value == "core"
    assert main.alias is not main.lib.core


def test_hyphenated_files(bundles: Bundles) -> None:
    namespace = bundles.make(
        "web",
        {"my-tools/web-search.py": "from .util import u\nf = len", "my-tools/util.py": "u = 1"},
    )
    assert bundles.load(namespace, "my-tools/web-search.py:f") is len


def test_circular_imports(bundles: Bundles) -> None:
    namespace = bundles.make(
        "web",
        {
            "a.py": "import b\ndef f(): return b.g()",
            "b.py": "import a\nfrom . import a as again\ndef g(): return a is again",
        },
    )
    assert bundles.load(namespace, "a.py:f")() is True


def test_a_module_may_load_another_while_it_is_imported(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"a.py": "", "b.py": "x = int"})
    source = (
        "from lionplug.activation import importer\n"
        "from lionplug.activation.finder import finder\n"
        f"namespace = finder.get({namespace.package!r}).namespace\n"
        "from tests.activation.support import ref\n"
        "value = importer.load(namespace, ref('b.py:x'))\n"
    )
    outer = bundles.make("outer", {"c.py": source})
    assert bundles.load(outer, "c.py").value is int


def test_two_threads_import_once(bundles: Bundles) -> None:
    source = "import time\nfrom counting import runs\nruns.append(1)\ntime.sleep(0.05)\nf = len"
    namespace = bundles.make("web", {"slow.py": source, "counting.py": "runs = []"})
    start = threading.Barrier(8)
    found: list[object] = []

    def ask() -> None:
        start.wait()
        found.append(bundles.load(namespace, "slow.py:f"))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [len] * 8
    assert sys.modules[f"{namespace.package}.counting"].runs == [1]


def test_a_forked_child_goes_on(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"a.py": "def f(): return 'a'", "b.py": "def f(): return 'b'"})
    bundles.load(namespace, "a.py:f")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        try:
            both = bundles.load(namespace, "a.py:f")() + bundles.load(namespace, "b.py:f")()
            os.write(writer, both.encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as answer:
        assert answer.read() == b"ab"
    os.waitpid(child, 0)


def test_fork_by_multiprocessing(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"a.py": "def double(n): return 2 * n"})
    double = bundles.load(namespace, "a.py:double")
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map(double, [1, 2]) == [2, 4]


def test_the_log_tells_what_was_imported_when(bundles: Bundles) -> None:
    namespace = bundles.make(
        "web", {"a.py": "import b\ndef later():\n    import c\n", "b.py": "", "c.py": ""}
    )
    later = bundles.load(namespace, "a.py:later", hook="provide_tools")
    later()
    rows = bundles.log.rows
    assert [(row.module, row.plugin, row.hook) for row in rows] == [
        ("b.py", "web", "provide_tools"),
        ("a.py", "web", "provide_tools"),
        ("c.py", "web", ""),
    ]
    assert all(row.milliseconds > 0 for row in rows)
    assert rows[1].milliseconds >= rows[0].milliseconds


def test_the_data_directory_is_made_for_a_module_that_names_it(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"a.py": "", "b.py": "x = __plugin_data__"})
    bundles.load(namespace, "a.py")
    assert not os.path.exists(namespace.data_dir)
    bundles.load(namespace, "b.py")
    assert os.stat(namespace.data_dir).st_mode & 0o777 == 0o700


def test_a_reference_runs_the_file_that_it_names(bundles: Bundles) -> None:
    namespace = bundles.make(
        "web", {"a.py": "", "a/__init__.py": "", "data.txt": "", "v1.0/x.py": "", "m.x.py": ""}
    )
    expected = {
        "a.py": "a.py: is hidden by a/__init__.py, which has the same module name.",
        "b.py": "b.py: is not a file of what was approved.",
        "data.txt": "data.txt: is not the path of a Python module (names with a dot are none).",
        "v1.0/x.py": "v1.0/x.py: is not the path of a Python module (names with a dot are none).",
        "m.x.py": "m.x.py: is not the path of a Python module (names with a dot are none).",
    }
    for path, reason in expected.items():
        with pytest.raises(ActivationError) as caught:
            bundles.load(namespace, f"{path}:f", what="tool t")
        assert str(caught.value) == (
            f"plugin web: tool t can't be used: {reason} Its author must rename a file and the "
            "reference in plugin.yaml. It is not tried again before the plugin changes."
        )


def test_names_that_are_no_modules(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"a.py": "", "d/e.py": ""})
    for name in ("nope", "a.b", "d/e", "..a", "__pycache__.a", "d.e.f"):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(f"{namespace.package}.{name}")


def test_importing_at_run_time_by_name(bundles: Bundles) -> None:
    source = "def f():\n    return __import__('helper'), eval('__import__(\"helper\")')"
    namespace = bundles.make("web", {"a.py": source, "helper.py": ""})
    first, second = bundles.load(namespace, "a.py:f")()
    assert first is second is sys.modules[f"{namespace.package}.helper"]


def test_walking_a_package_finds_its_modules(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"pkg/__init__.py": "", "pkg/one.py": "", "pkg/two.py": ""})
    package = bundles.load(namespace, "pkg/__init__.py")
    names = [module.name for module in pkgutil.iter_modules(package.__path__)]
    assert names == ["one", "two"]


def test_reloading_runs_the_pinned_source_again(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"a.py": "x = []"})
    module = bundles.load(namespace, "a.py")
    before = module.x
    assert importlib.reload(module) is module
    assert module.x is not before


def test_json_dumps_and_printing_are_the_builtins(bundles: Bundles) -> None:
    source = (
        "import json, io\n"
        "def f():\n    out = io.StringIO()\n    print(json.dumps([1]), file=out)\n    return out"
    )
    namespace = bundles.make("web", {"a.py": source, "json.py": "", "io.py": ""})
    out = bundles.load(namespace, "a.py:f")()
    assert isinstance(out, io.StringIO)
    assert json.loads(out.getvalue()) == [1]
    assert not any(name.startswith(PREFIX + "json") for name in sys.modules)
