"""An approved bundle that lost a declared file, and a user scope that can't be written."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Any

import pytest

from lionplug.errors import StoreError, TrustError
from tests.support import World

TOOLS = {"run": "t.py:run", "other": "o.py:other"}
FILES = {"t.py": "def run():\n    return 1\n", "o.py": "def other():\n    return 2\n"}


def test_an_approved_bundle_without_a_declared_file_can_be_compared_and_not_approved(
    world: World,
) -> None:
    bundle = world.bundle("one", FILES, tools=TOOLS)
    host = world.host()
    world.approve(host, "one")
    (bundle / "o.py").unlink()
    host.plugins.refresh()
    assert host.plugins["one"].state == "changed"

    assert [change.path for change in host.diff("one").removed] == ["o.py"]
    assert host.show("one", "t.py") == FILES["t.py"].encode()
    assert host.digest(str(bundle)).startswith("lp1:sha256:")
    with host.review(host.plugins["one"]) as review:
        (reason,) = review.disclosure.refusals
        lines = (bundle / "plugin.yaml").read_text().split("\n")
        (line,) = (number for number, text in enumerate(lines, 1) if "o.py" in text)
        assert reason.startswith(f"plugin.yaml:{line}:")
        assert "capabilities.tools[1].target" in reason
        assert "tool \"other\" needs a regular file at 'o.py'" in reason
        with pytest.raises(TrustError) as refused:
            review.approve()
    assert refused.value.message == f"one can't be approved: {reason}"
    with pytest.raises(TrustError, match="can't be approved"):
        host.trust("one", approve=lambda disclosure: True)

    (bundle / "o.py").write_text(FILES["o.py"])
    assert world.approve(host, "one").state == "active"


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch, world: World) -> Callable[[int], None]:
    """Return a function after which nothing below the user scope can be written."""

    def start(number: int) -> None:
        inside = os.path.realpath(world.user)

        def refuse(path: Any, dir_fd: int | None) -> None:
            place = os.readlink(f"/proc/self/fd/{dir_fd}") if dir_fd is not None else ""
            if os.path.join(place, os.fspath(path)).startswith(inside):
                raise OSError(number, os.strerror(number), path)

        real_open = os.open

        def open_checked(
            path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None
        ) -> int:
            if flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR):
                refuse(path, dir_fd)
            return real_open(path, flags, mode, dir_fd=dir_fd)

        def checked(real: Callable[..., Any]) -> Callable[..., Any]:
            def call(path: Any, *rest: Any, **options: Any) -> Any:
                refuse(path, options.get("dir_fd") or options.get("src_dir_fd"))
                return real(path, *rest, **options)

            return call

        monkeypatch.setattr(os, "open", open_checked)
        for name in ("mkdir", "rename", "unlink", "rmdir", "symlink"):
            monkeypatch.setattr(os, name, checked(getattr(os, name)))

    return start


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="there is no /proc")
@pytest.mark.parametrize("leased", [True, False])
@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_s16_a_plugin_runs_from_a_scope_that_can_not_be_written(
    world: World, read_only: Callable[[int], None], number: int, leased: bool
) -> None:
    bundle = world.bundle("one", FILES, tools=TOOLS)
    first = world.host()
    world.approve(first, "one")
    digest = first.digest(str(bundle))
    first.close()
    if not leased:
        for name in os.listdir(world.user / "leases"):
            (world.user / "leases" / name).unlink()
    read_only(number)

    host = world.host()
    assert host.tools.call("run") == 1
    assert host.digest(str(bundle)) == digest
    for attempt in (
        lambda: host.show("one", "t.py"),
        lambda: host.diff("one"),
        lambda: host.review(host.plugins["one"]).__enter__(),
    ):
        with pytest.raises(StoreError) as refused:
            attempt()
        assert refused.value.message.startswith(f"{world.user}/staging")
        assert refused.value.message.endswith(
            f": no private copy can be made: {os.strerror(number)}. "
            "Make room in the user scope, or make it writable, and try again."
        )
    assert host.show("one", "t.py", approved=True) == FILES["t.py"].encode()
