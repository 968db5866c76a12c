"""Whose code answers to a name: the bundle's pins, and nobody else's (S5, S13, S17)."""

from __future__ import annotations

import importlib
import json
import os
import py_compile
import sys
import textwrap
import threading
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

import lionplug.bundles
from lionplug.activation import importer
from lionplug.activation.finder import finder
from lionplug.activation.namespace import PREFIX, data_directory, escape, package_name
from lionplug.errors import ActivationError, NotGrantedError, StoreError
from tests.activation.support import Bundles, untouched_imports

PLUGIN = "from helper import V\ndef f(): return V"


def test_s17_two_bundles_see_their_own_helper(bundles: Bundles) -> None:
    one = bundles.make("p1", {"plugin.py": PLUGIN, "helper.py": "V = 'p1'"})
    two = bundles.make("p2", {"plugin.py": PLUGIN, "helper.py": "V = 'p2'"})
    with untouched_imports():
        assert bundles.load(one, "plugin.py:f")() == "p1"
        assert bundles.load(two, "plugin.py:f")() == "p2"
    assert "helper" not in sys.modules


def test_a_bundles_json_disturbs_nobody(bundles: Bundles) -> None:
    source = "import json\nfrom . import json as own\nfrom .json import x\nimport test_of_mine as t"
    namespace = bundles.make(
        "web", {"plugin.py": source, "json.py": "x = 1", "test_of_mine.py": ""}
    )
    with untouched_imports():
        module = bundles.load(namespace, "plugin.py")
    assert module.json is json
    assert module.own.x == module.x == 1
    assert importlib.import_module("json") is json


def test_the_main_module_is_the_programs(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"plugin.py": "import __main__ as m", "__main__.py": ""})
    assert bundles.load(namespace, "plugin.py").m is sys.modules["__main__"]


def test_pins_come_before_installed_packages_and_data_does_not(bundles: Bundles) -> None:
    namespace = bundles.make(
        "web",
        {
            "plugin.py": "import yaml, click",
            "yaml/values.txt": "a folder of data",
            "click/core.py": "",
        },
    )
    module = bundles.load(namespace, "plugin.py")
    assert module.yaml.__name__ == "yaml"
    assert module.click.__name__ == f"{namespace.package}.click"


@pytest.mark.parametrize(
    "statement",
    [
        "import {other}.secret",
        "import {other}.secret as s",
        "from {other} import secret",
        "from {other}.secret import x",
        "from lionplug.bundles import {tail}",
        "from ..{tail} import secret",
        "from .. import {tail}",
        "__import__('{other}.secret')",
    ],
)
def test_s17_a_bundle_can_not_import_another(bundles: Bundles, statement: str) -> None:
    other = bundles.make("other", {"secret.py": "x = 1"})
    bundles.load(other, "secret.py")
    source = statement.format(other=other.package, tail=other.package[len(PREFIX) :])
    namespace = bundles.make("web", {"plugin.py": source})
    with pytest.raises(ActivationError) as caught:
        bundles.load(namespace, "plugin.py")
    assert str(caught.value).startswith(
        "plugin web: its code can't be used: plugin.py:1: ImportError: plugin web can't import a "
        "module of plugin other: a bundle imports its own files and installed packages. Copy the "
        "file into the bundle, or make it a package."
    )


def test_s17_an_unknown_bundle_is_named_by_its_package(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"plugin.py": "import lionplug.bundles.other"})
    with pytest.raises(ActivationError, match="can't import a module of plugin other: a bundle"):
        bundles.load(namespace, "plugin.py")


def test_a_bundle_may_name_its_own_package(bundles: Bundles) -> None:
    namespace = bundles.make(
        "web",
        {
            "plugin.py": "import importlib\nm = importlib.import_module('.b', __package__)\n"
            "from lionplug import bundles\nn = __import__(__package__ + '.b', fromlist=['x'])",
            "b.py": "",
        },
    )
    module = bundles.load(namespace, "plugin.py")
    assert module.m is module.n
    assert module.bundles is lionplug.bundles


def test_s17_names_differ_by_scope_location_bytes_and_plugin() -> None:
    base = ("web", "/home/u/.host", "/home/u/.host/plugins/web", "lp1:sha256:" + "0" * 64)
    names = {package_name(*base)}
    for index in range(4):
        names.add(
            package_name(*(part + "1" if i == index else part for i, part in enumerate(base)))
        )
    # Moving a character from one part to the next gives another name, too.
    names.add(package_name("web", "/home/u/.host/", "home/u/.host/plugins/web", base[3]))
    assert len(names) == 6
    for name in names:
        tail = name[len(PREFIX) :]
        assert tail.isidentifier()
        assert len(tail.rsplit("_", 1)[1]) == 32


@pytest.mark.parametrize(
    ("left", "right"), [("a-b", "a_b"), ("caf\xe9", "cafe"), ("1a", "a1"), ("X61X", "a")]
)
def test_fr10_names_that_look_alike_stay_apart(left: str, right: str) -> None:
    assert escape(left) != escape(right)


@given(st.text(min_size=1, max_size=8), st.text(min_size=1, max_size=8))
def test_escaping_is_injective_and_gives_identifiers(left: str, right: str) -> None:
    assert (escape(left) == escape(right)) == (left == right)
    assert (escape(left) + "_0").isidentifier()


@given(st.text("ab-_X0", min_size=1, max_size=5), st.text("ab-_X0", min_size=1, max_size=5))
def test_escaping_is_injective_where_it_is_hard(left: str, right: str) -> None:
    assert (escape(left) == escape(right)) == (left == right)


def test_s38_data_directories_belong_to_name_and_location() -> None:
    names = {data_directory("/d", name, place) for name in ("a", "b") for place in ("/x", "/y")}
    assert len(names) == 4
    assert all(os.path.dirname(name) == "/d" for name in names)


def test_s17_two_hosts_never_share(bundles: Bundles) -> None:
    files = {"plugin.py": "x = []"}
    place = str(bundles.folder / "live" / "web")
    one = bundles.make("web", files, user_dir="/home/u/.one", location=place)
    two = bundles.make("web", files, user_dir="/home/u/.two", location=place)
    assert one.tree.digest == two.tree.digest
    assert one.package != two.package
    assert bundles.load(one, "plugin.py") is not bundles.load(two, "plugin.py")


def test_s17_old_and_new_bytes_never_mix(bundles: Bundles) -> None:
    place = str(bundles.folder / "live" / "web")
    old = bundles.make(
        "web", {"a.py": "def f():\n import b\n return b.x", "b.py": "x = 1"}, location=place
    )
    f = bundles.load(old, "a.py:f")
    new = bundles.make(
        "web", {"a.py": "def f():\n import b\n return b.x", "b.py": "x = 2"}, location=place
    )
    assert bundles.load(new, "a.py:f")() == 2
    assert f() == 1


def test_s17_on_revoke_the_names_leave(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"tools/a.py": "def f():\n import b\n return b", "b.py": ""})
    f = bundles.load(namespace, "tools/a.py:f")
    tail = namespace.package[len(PREFIX) :]
    assert hasattr(lionplug.bundles, tail)
    importer.detach(namespace.package)
    assert not [name for name in sys.modules if name.startswith(namespace.package)]
    assert not hasattr(lionplug.bundles, tail)
    with pytest.raises(ModuleNotFoundError) as caught:
        f()
    assert str(caught.value) == (
        f"No module named '{namespace.package}': no approval in force is behind it. "
        "The plugin was revoked or changed, or belongs to another user scope."
    )
    with pytest.raises(NotGrantedError) as refused:
        bundles.load(namespace, "tools/a.py:f", what="tool t")
    assert str(refused.value) == (
        "plugin web: tool t can't be used: the approval of these bytes ended. Look at the state "
        "of the plugin."
    )


def test_code_that_runs_is_not_disturbed_by_detaching(bundles: Bundles) -> None:
    source = textwrap.dedent(
        """
        import threading
        go, inside = threading.Event(), threading.Event()
        SECRET = "still here"
        def f():
            inside.set()
            go.wait(10)
            return SECRET
        """
    )
    namespace = bundles.make("web", {"a.py": source})
    module = bundles.load(namespace, "a.py")
    found: list[str] = []
    f, inside, go = module.f, module.inside, module.go
    del module
    thread = threading.Thread(target=lambda: found.append(f()))
    thread.start()
    inside.wait(10)
    importer.detach(namespace.package)
    go.set()
    thread.join()
    assert found == ["still here"]


def test_detaching_while_a_module_is_imported(bundles: Bundles) -> None:
    source = "from lionplug.activation import importer\nimporter.detach(__package__)\nf = len"
    namespace = bundles.make("web", {"a.py": source})
    with pytest.raises(NotGrantedError):
        bundles.load(namespace, "a.py:f")
    assert not [name for name in sys.modules if name.startswith(namespace.package)]
    assert importer.failures_of(namespace.package) == ()


def test_detaching_while_a_module_is_imported_that_then_fails(bundles: Bundles) -> None:
    source = "from lionplug.activation import importer\nimporter.detach(__package__)\n1 / 0"
    namespace = bundles.make("web", {"a.py": source, "b.py": "f = len"})
    with pytest.raises(NotGrantedError) as caught:
        bundles.load(namespace, "a.py:f")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    importer.attach(namespace)
    assert importer.failures_of(namespace.package) == ()
    assert bundles.load(namespace, "b.py:f") is len


def test_detaching_right_after_a_module_was_imported(
    bundles: Bundles, monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace = bundles.make("web", {"a.py": "f = len"})
    real = importlib.import_module

    def import_module(name: str) -> object:
        module = real(name)
        importer.detach(namespace.package)
        sys.modules[name] = module
        return module

    monkeypatch.setattr(importlib, "import_module", import_module)
    with pytest.raises(NotGrantedError):
        bundles.load(namespace, "a.py:f")
    assert not [name for name in sys.modules if name.startswith(namespace.package)]


def test_s17_the_last_host_of_a_scope_lets_the_names_go(bundles: Bundles) -> None:
    one = bundles.make("web", {"a.py": "f = len"})
    two = evolve(one)
    importer.attach(two)
    importer.attach(two)
    assert bundles.load(two, "a.py:f") is len
    importer.release(one)
    importer.release(one)
    assert bundles.load(two, "a.py:f") is len
    importer.release(two)
    assert not [name for name in sys.modules if name.startswith(one.package)]
    importer.release(two)
    with pytest.raises(NotGrantedError):
        bundles.load(two, "a.py:f")


def test_the_grant_is_asked_right_before_the_import(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"a.py": "f = len"})
    with pytest.raises(NotGrantedError):
        bundles.load(namespace, "a.py:f", check=lambda: False)
    assert namespace.package not in sys.modules
    assert bundles.load(namespace, "a.py:f", check=lambda: True) is len


def test_s17_the_finder_is_first_and_final(bundles: Bundles) -> None:
    class Greedy:
        def find_spec(self, name: str, path: object, target: object = None) -> None:
            assert not name.startswith(PREFIX)

    greedy = Greedy()
    sys.meta_path.insert(0, greedy)  # type: ignore[arg-type]
    try:
        namespace = bundles.make("web", {"a.py": "f = len"})
        assert sys.meta_path[0] is finder
        assert sys.meta_path.count(finder) == 1
        bundles.load(namespace, "a.py:f")
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("lionplug.bundles.nothing")
        assert finder.find_spec("lionplug.bundles", None) is None
        assert finder.find_spec("json", None) is None
    finally:
        sys.meta_path.remove(greedy)  # type: ignore[arg-type]


def test_s17_a_real_folder_below_the_prefix_is_never_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = tmp_path / "lionplug" / "bundles"
    planted.mkdir(parents=True)
    (planted / "evil.py").write_text("raise SystemExit('ran')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'lionplug\.bundles\.evil'"):
        importlib.import_module("lionplug.bundles.evil")
    # Not even without the finder, or in the folder that the package itself lies in.
    assert list(lionplug.bundles.__path__) == []


def test_s3_a_swap_in_the_store_runs_nothing(bundles: Bundles, tmp_path: Path) -> None:
    namespace = bundles.make("web", {"a.py": "import b", "b.py": "x = 1"})
    (Path(namespace.tree.root) / "b.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    for _ in range(2):
        with pytest.raises(StoreError, match=r"b\.py: .* does not hold the bytes that were pinned"):
            bundles.load(namespace, "a.py")
    assert not (tmp_path / "ran").exists()
    # A store can be mended, so this is not kept.
    (Path(namespace.tree.root) / "b.py").write_text("x = 1")
    assert bundles.load(namespace, "a.py").b.x == 1


def plant_bytecode(root: Path, name: str, marker: Path, target: Path) -> None:
    source = root.parent / f"{name}-evil.py"
    source.write_text(f"open({str(marker)!r}, 'w').close()\nx = 'evil'\n")
    target.parent.mkdir(exist_ok=True)
    py_compile.compile(
        str(source), str(target), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )


def test_s5_fr15_planted_bytecode_never_runs(bundles: Bundles, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    namespace = bundles.make("web", {"mod.py": "x = 'reviewed'", "main.py": "import mod, orph"})
    root = Path(namespace.tree.root)
    tag = sys.implementation.cache_tag
    plant_bytecode(root, "mod", marker, root / "__pycache__" / f"mod.{tag}.pyc")
    plant_bytecode(root, "orph", marker, root / "orph.pyc")
    (root / "mod").mkdir()
    (root / "mod" / "__init__.py").write_text(f"open({str(marker)!r}, 'w').close()")
    (root / f"mod.{tag}-x86_64-linux-gnu.so").write_bytes(b"\x7fELF")
    assert bundles.load(namespace, "mod.py").x == "reviewed"
    with pytest.raises(ActivationError, match="ModuleNotFoundError: No module named 'orph'"):
        bundles.load(namespace, "main.py")
    assert not marker.exists()


def test_s5_pinned_bytecode_and_extensions_are_no_modules(bundles: Bundles) -> None:
    namespace = bundles.make(
        "web", {"a.pyc": b"", "b.so": b"\x7fELF", "c.pyd": b"", "d.zip": b"PK", "e.pyi": ""}
    )
    for name in "abcde":
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(f"{namespace.package}.{name}")


def test_s13_nothing_is_imported_through_a_cache_folder(bundles: Bundles) -> None:
    namespace = bundles.make(
        "web", {"main.py": "import __pycache__.t", "a.py": "from .__pycache__ import t"}
    )
    root = Path(namespace.tree.root)
    (root / "__pycache__").mkdir()
    (root / "__pycache__" / "t.py").write_text("raise SystemExit('ran')")
    for file in ("main.py", "a.py", "__pycache__/t.py"):
        with pytest.raises(ActivationError) as caught:
            bundles.load(namespace, file)
        assert "ran" not in str(caught.value)


def test_attaching_twice_changes_nothing(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"a.py": "f = len"})
    module = bundles.load(namespace, "a.py")
    importer.attach(namespace)
    assert bundles.load(namespace, "a.py") is module


@pytest.mark.parametrize("cookie", ["latin-1", "utf-7", "unicode_escape", "cp1252"])
def test_s25_other_encodings_are_refused(bundles: Bundles, cookie: str) -> None:
    source = f"# -*- coding: {cookie} -*-\n#\\u000ax = 1\n".encode()
    namespace = bundles.make("web", {"a.py": source})
    with pytest.raises(ActivationError) as caught:
        bundles.load(namespace, "a.py")
    assert str(caught.value).startswith(
        "plugin web: its code can't be used: a.py:1: SyntaxError: the file declares the encoding "
        f"'{cookie}'; expected UTF-8, save it as such and take the declaration out."
    )


def test_s25_bytes_that_are_not_utf8_are_refused(bundles: Bundles) -> None:
    namespace = bundles.make("web", {"a.py": b"x = 1\ny = '\xe9'\n"})
    with pytest.raises(ActivationError) as caught:
        bundles.load(namespace, "a.py")
    assert str(caught.value).startswith(
        "plugin web: its code can't be used: a.py:2: SyntaxError: byte 0xe9 is not valid UTF-8; "
        "save the file as UTF-8."
    )
    assert (caught.value.file, caught.value.line) == ("a.py", 2)


@pytest.mark.parametrize("cookie", ["utf-8", "utf8", "UTF_8", "utf-8-sig"])
def test_utf8_may_be_declared(bundles: Bundles, cookie: str) -> None:
    source = f"#!/usr/bin/python3\n# coding={cookie}\nx = 'é'".encode()
    namespace = bundles.make("web", {"a.py": source})
    assert bundles.load(namespace, "a.py").x == "é"
