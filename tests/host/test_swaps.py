"""What runs is what was shown, whatever happens to the files in between (S3, S15)."""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path

import pytest

from lionplug.errors import CapabilityNotFoundError, LionplugError, TrustError
from lionplug.trust.disclosure import Disclosure
from tests.support import World, write

GOOD = "def run():\n    return 'good'\n"
EVIL = "def run():\n    return 'evil'\n"
TOOL = {"run": "t.py:run"}


def test_s03_a_swap_while_the_question_is_asked_runs_what_was_shown(world: World) -> None:
    bundle = world.bundle("one", {"t.py": GOOD}, tools=TOOL)
    host = world.host()
    shown: list[str] = []

    def approve(disclosure: Disclosure) -> bool:
        shown.append(disclosure.digest)
        write(bundle / "t.py", EVIL)
        return True

    plugin = host.trust("one", approve=approve)
    assert plugin.record is not None
    assert plugin.record.tree == shown[0]
    assert plugin.state == "changed"
    assert host.show("one", "t.py", approved=True) == GOOD.encode()
    write(bundle / "t.py", GOOD)
    host.plugins.refresh()
    assert host.tools.call("run") == "good"


@pytest.mark.parametrize("entry", ["plugin.yaml", "t.py", "."])
def test_s03_a_rename_loop_never_gets_other_bytes_approved(world: World, entry: str) -> None:
    bundle = world.bundle("one", {"t.py": GOOD}, tools=TOOL)
    evil = world.root / "evil"
    shutil.copytree(bundle, evil)
    write(evil / "t.py", EVIL)
    one, other = (bundle, evil) if entry == "." else (bundle / entry, evil / entry)
    spare = world.root / "spare"
    host = world.host()
    wanted = host.digest(str(bundle))
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            os.rename(one, spare)
            os.rename(other, one)
            os.rename(spare, other)

    thread = threading.Thread(target=swap)
    thread.start()
    approved = 0
    try:
        for _ in range(25):
            try:
                host.trust(str(bundle), expect=wanted)
            except (LionplugError, FileNotFoundError):
                continue
            approved += 1
            assert host.show(str(bundle), "t.py", approved=True) == GOOD.encode()
    finally:
        stop.set()
        thread.join()


def test_a_swap_between_any_two_calls_runs_approved_bytes_or_nothing(world: World) -> None:
    bundle = world.bundle("one", {"t.py": GOOD}, tools=TOOL)
    world.approve(world.host(), "one")
    write(world.root / "evil.py", EVIL)
    write(world.root / "good.py", GOOD)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for name in ("evil.py", "good.py"):
                shutil.copy2(world.root / name, world.root / "next")
                os.replace(world.root / "next", bundle / "t.py")

    thread = threading.Thread(target=swap)
    thread.start()
    outcomes = set()
    try:
        for _ in range(40):
            host = world.host()
            try:
                outcomes.add(host.tools.call("run"))
            except CapabilityNotFoundError as error:
                outcomes.add(error.state)
    finally:
        stop.set()
        thread.join()
    assert outcomes <= {"good", "changed"}


def test_a_sibling_import_gets_the_pinned_sibling(world: World) -> None:
    bundle = world.bundle(
        "one",
        {
            "t.py": "def run():\n    import helper\n    from . import other\n"
            "    return helper.V, other.V\n",
            "helper.py": "V = 'pinned'\n",
            "other.py": "V = 'pinned too'\n",
        },
        tools=TOOL,
    )
    host = world.host()
    world.approve(host, "one")
    function = host.hook.provide_tools(name="run", plugin=None)
    write(bundle / "helper.py", "V = 'evil'\n")
    write(bundle / "other.py", "V = 'evil'\n")
    assert function() == ("pinned", "pinned too")


def test_a_store_that_was_tampered_with_refuses(world: World) -> None:
    world.bundle("one", {"t.py": GOOD}, tools=TOOL)
    host = world.host()
    plugin = world.approve(host, "one")
    assert plugin.record is not None
    stored = world.user / "approved" / plugin.record.tree.rpartition(":")[2] / "t.py"
    os.chmod(stored, 0o600)
    stored.write_text(EVIL)
    with pytest.raises(LionplugError) as refused:
        world.host().tools.call("run")
    assert "one" in str(refused.value)


def test_a_missing_store_entry_is_made_again_without_asking(world: World) -> None:
    world.bundle("one", {"t.py": GOOD}, tools=TOOL)
    host = world.host()
    world.approve(host, "one")
    remove_store(world)
    assert world.host().tools.call("run") == "good"


def test_a_record_from_another_machine_without_its_tree_is_untrusted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.bundle("one", {"t.py": GOOD}, tools=TOOL)
    world.approve(world.host(), "one")
    text = (world.user / "trust.json").read_text()
    record = world.host().plugins["one"].record
    assert record is not None
    (world.user / "trust.json").write_text(text.replace(record.machine, "0" * 64))
    assert world.host().tools.call("run") == "good"  # the tree itself came along
    remove_store(world)
    host = world.host()
    assert host.plugins["one"].state == "untrusted"
    assert "another machine" in host.plugins["one"].reason
    with pytest.raises(CapabilityNotFoundError, match="which is untrusted"):
        host.tools.call("run")


def test_an_older_approved_version_does_not_come_back(world: World) -> None:
    bundle = world.bundle("one", {"t.py": GOOD}, tools=TOOL)
    host = world.host()
    world.approve(host, "one")
    write(bundle / "t.py", "def run():\n    return 'newer'\n")
    world.approve(host, "one")
    write(bundle / "t.py", GOOD)
    host.plugins.refresh()
    assert host.plugins["one"].state == "changed"


def test_s12_same_bytes_that_are_read_differently_need_a_new_approval(world: World) -> None:
    world.bundle("one", {"t.py": GOOD}, tools={"run": "t.py:run", "more": "t.py:run"})
    world.approve(world.host(), "one")
    path = world.user / "trust.json"
    document = json.loads(path.read_text())
    (record,) = document["records"]
    # As if the reader of that day had seen one capability less in the same bytes.
    record["capabilities"] = [one for one in record["capabilities"] if one["name"] != "more"]
    path.write_text(json.dumps(document))
    host = world.host()
    assert host.plugins["one"].state == "changed"
    assert host.plugins["one"].reason.startswith("read differently than when it was approved")
    for name in ("run", "more"):
        with pytest.raises(CapabilityNotFoundError, match="which is changed"):
            host.tools.call(name)
    diff = host.diff("one")
    assert [change.name for change in diff.capabilities] == ["more"]
    world.approve(host, "one")
    assert host.tools.call("more") == "good"


@pytest.mark.parametrize("change", ["edit", "add", "remove", "chmod", "manifest", "link"])
def test_every_kind_of_change_is_noticed_by_refresh(world: World, change: str) -> None:
    bundle = world.bundle("one", {"t.py": GOOD, "data/x": "x", "y": "y"}, tools=TOOL)
    (bundle / "l").symlink_to("y")
    host = world.host()
    world.approve(host, "one")
    assert host.tools.call("run") == "good"
    if change == "edit":
        stat = os.stat(bundle / "data/x")
        (bundle / "data/x").write_text("z")
        os.utime(bundle / "data/x", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    elif change == "add":
        write(bundle / "data/new.py", "")
    elif change == "remove":
        (bundle / "y").unlink()
        (bundle / "y").mkdir()
    elif change == "chmod":
        (bundle / "y").chmod(0o755)
    elif change == "manifest":
        with (bundle / "plugin.yaml").open("a") as file:
            file.write("# a comment\n")
    else:
        (bundle / "l").unlink()
        (bundle / "l").symlink_to("t.py")
    host.plugins.refresh()
    assert host.plugins["one"].state == "changed"
    with pytest.raises(CapabilityNotFoundError, match="which is changed"):
        host.tools.call("run")


def test_a_touch_is_looked_at_and_is_no_change(world: World) -> None:
    bundle = world.bundle("one", {"t.py": GOOD}, tools=TOOL)
    host = world.host()
    world.approve(host, "one")
    os.utime(bundle / "t.py")
    host.plugins.refresh()
    assert host.tools.call("run") == "good"


def test_s13_git_and_bytecode_are_left_out(world: World) -> None:
    bundle = world.bundle(
        "one", {"t.py": GOOD, ".git/HEAD": "x", "__pycache__/t.pyc": b"x"}, tools=TOOL
    )
    host = world.host()
    world.approve(host, "one")
    write(bundle / ".git/index", "y")
    write(bundle / "__pycache__/u.pyc", b"y")
    host.plugins.refresh()
    assert host.tools.call("run") == "good"
    assert not list((world.user / "approved").glob("*/.git"))
    assert not list((world.user / "approved").glob("*/__pycache__"))


@pytest.mark.parametrize("planted", ["t.cpython-311.pyc", "t.pyc", "t.so", "t.abi3.so"])
def test_no_bytecode_and_no_extension_of_a_bundle_is_ever_loaded(
    world: World, planted: str
) -> None:
    world.bundle("one", {"t.py": GOOD, planted: b"\0" * 64}, tools=TOOL)
    host = world.host()
    world.approve(host, "one")
    assert host.tools.call("run") == "good"


def test_a_tree_with_a_missing_declared_file_cannot_be_approved(world: World) -> None:
    world.bundle("one", tools=TOOL)
    host = world.host()
    with pytest.raises(LionplugError, match=r"t\.py"):
        world.approve(host, "one")
    assert host.plugins["one"].state == "untrusted"


def test_two_hosts_never_share_an_approval_or_a_module(world: World) -> None:
    from lionplug import Host

    world.bundle("one", {"t.py": GOOD}, manifest="hosts: {other: '>=0'}\n", tools=TOOL)
    host = world.host()
    world.approve(host, "one")
    assert host.tools.call("run") == "good"
    (world.root / "other").mkdir(mode=0o700)
    (world.root / "other" / "plugins").symlink_to(world.plugins())
    other = Host("other", version="1", user_dir=str(world.root / "other"))
    world.hosts.append(other)
    assert other.plugins["one"].state == "untrusted"
    with pytest.raises(CapabilityNotFoundError):
        other.tools.call("run")
    world.approve(other, "one")
    assert other.tools.call("run") == "good"
    one = host.hook.provide_tools(name="run", plugin=None)
    two = other.hook.provide_tools(name="run", plugin=None)
    assert one.__module__ != two.__module__


def test_refusals_block_an_approval(world: World) -> None:
    world.bundle("one", {"t.py": "# coding: latin-1\n" + GOOD}, tools=TOOL)
    with pytest.raises(TrustError, match="can't be approved"):
        world.approve(world.host(), "one")


def remove_store(world: World) -> None:
    for folder in ("approved", "seals"):
        for path in sorted(Path(world.user / folder).rglob("*"), reverse=True):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o700)
        shutil.rmtree(world.user / folder, ignore_errors=True)
