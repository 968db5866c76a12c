"""What is exchanged at the worst moment is a refusal with a reason, never a crash."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lionplug import Host
from lionplug.errors import TreeError
from tests.support import World

RUN = "def run():\n    return 1\n"
TOOLS = {"run": "t.py:run"}


@pytest.mark.parametrize("reading", range(1, 5))
def test_s04_a_link_that_becomes_a_file_while_it_is_read(
    world: World, monkeypatch: pytest.MonkeyPatch, reading: int
) -> None:
    """Between the look at it and the question where it leads, at each such place."""
    folder = world.bundle("one", {"t.py": RUN}, tools=TOOLS)
    (folder / "link").symlink_to("t.py")
    readlink = os.readlink
    readings = 0

    def late(path: str, *, dir_fd: int | None = None) -> str:
        nonlocal readings
        if path == "link":
            readings += 1
            if readings == reading:
                link = Path(f"/proc/self/fd/{dir_fd}") if dir_fd is not None else folder
                (link / "link").unlink()
                (link / "link").write_text("x")
        return readlink(path, dir_fd=dir_fd)

    host = world.host()
    host.plugins.refresh()
    monkeypatch.setattr(os, "readlink", late)
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("needs /proc to reach a directory by its descriptor")
    with pytest.raises((TreeError, OSError)) as refused:
        world.approve(host, "one")
    assert not os.listdir(world.user / "staging")
    assert host.plugins["one"].state == "untrusted"
    assert readings == reading or reading > readings
    assert "Invalid argument" not in str(refused.value)


VERBS: dict[str, Callable[[World, Host], object]] = {
    "trust": lambda world, host: world.approve(host, "project:one"),
    "show": lambda world, host: host.show("project:one", "t.py"),
    "diff": lambda world, host: host.diff("project:one"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_s22_a_directory_that_becomes_a_link_to_another_copy(world: World, verb: str) -> None:
    """An approval of one location is never one of another."""
    own = world.bundle("one", {"t.py": RUN}, tools=TOOLS)
    folder = world.bundle("one", {"t.py": "def run():\n    return 'project'\n"}, scope="project")
    host = world.host()
    if verb == "diff":
        world.approve(host, "project:one")
    assert len(host.plugins.all) == 2
    folder.rename(folder.with_name("moved"))
    folder.symlink_to(own)
    with pytest.raises(TreeError, match="changed while it was copied"):
        VERBS[verb](world, host)
    assert host.plugins.find("user:one").state == "untrusted"
    assert not os.listdir(world.user / "staging")
