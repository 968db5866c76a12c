"""The state of every copy: the first that applies, with a reason that says what to do."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from lionplug import Host, hookimpl, hookspec
from lionplug.errors import (
    AmbiguousNameError,
    CapabilityNotFoundError,
    LionplugError,
    PluginNotFoundError,
    TrustError,
)
from lionplug_hookspecs.tools import ToolDeclaration
from tests.support import World, write

RUN = {"t.py": "def run():\n    return 1\n"}
TOOL = {"run": "t.py:run"}


def states(host: Host) -> dict[str, str]:
    return {plugin.address: plugin.state for plugin in host.plugins}


def test_invalid_comes_first_and_names_the_place(world: World) -> None:
    world.bundle("bad", manifest="name: bad\nversion: 1\nlionplug: '>=0'\nplaybook: x\n")
    (plugin,) = world.host().plugins
    assert plugin.state == "invalid"
    assert plugin.reason.startswith("plugin.yaml:4:1:")
    assert plugin.next_command is not None
    assert plugin.next_command.startswith("lionplug info ")


@pytest.mark.parametrize(
    ("spec", "version", "fits"),
    [
        (">=0.30,<1.0", "0.31.0", True),
        (">=0.30,<1.0", "1.0", False),
        (">=0.30", "0.31.0rc1", True),
        (">=0.31", "0.31.0rc1", False),
        ("<1.0", "1.0rc1", False),
        ("==1.*", "1.4.dev3", True),
    ],
)
def test_the_range_of_the_host_and_its_pre_releases(
    world: World, spec: str, version: str, fits: bool
) -> None:
    world.bundle("one", manifest=f"name: one\nversion: 1\nlionplug: '{spec}'\n")
    (plugin,) = world.host(version=version).plugins
    assert plugin.state == ("untrusted" if fits else "incompatible")
    if not fits:
        assert spec in plugin.reason
        assert version in plugin.reason


def test_a_plugin_for_another_host_says_which_line_to_add(world: World) -> None:
    world.bundle("one", manifest="name: one\nversion: 1\nother: '>=2'\n")
    (plugin,) = world.host().plugins
    assert plugin.state == "incompatible"
    assert "lionplug:" in plugin.reason


def test_python_packages_are_checked_and_never_installed(world: World) -> None:
    world.bundle("one", manifest="python_packages: ['no-such-package-at-all>=2', 'attrs']\n")
    (plugin,) = world.host().plugins
    assert plugin.state == "incompatible"
    assert "no-such-package-at-all" in plugin.reason
    assert "attrs" not in plugin.reason


def test_requirements_are_met_by_any_compatible_enabled_copy(world: World) -> None:
    world.bundle("base")
    world.bundle("needs", manifest="requires: [base, 'base>=1']\n")
    world.bundle("newer", manifest="requires: ['base>=2']\n")
    world.bundle("absent", manifest="requires: [nowhere]\n")
    world.bundle("chain", manifest="requires: [absent]\n")
    host = world.host()
    assert states(host) == {
        "user:absent": "incompatible",
        "user:base": "untrusted",
        "user:chain": "incompatible",
        "user:needs": "untrusted",
        "user:newer": "incompatible",
    }
    assert "base" in host.plugins["newer"].reason
    host.disable("base")
    assert states(host)["user:needs"] == "incompatible"


def test_a_cycle_among_present_plugins_is_met(world: World) -> None:
    world.bundle("a", manifest="requires: [b]\n")
    world.bundle("b", manifest="requires: [c]\n")
    world.bundle("c", manifest="requires: [a]\n")
    assert set(states(world.host()).values()) == {"untrusted"}


def test_a_hook_that_the_host_lacks_counts_once_hooks_are_called(world: World) -> None:
    world.bundle(
        "hooked",
        {"h.py": "def greet(name):\n    return name\n"},
        manifest="capabilities:\n  hookimpls:\n    - {hook: greet, target: 'h.py:greet'}\n",
    )
    host = world.host()
    assert host.plugins["hooked"].state == "untrusted"
    assert host.hook is not None
    assert host.plugins["hooked"].state == "incompatible"
    assert "greet" in host.plugins["hooked"].reason

    class Specs:
        @staticmethod
        @hookspec
        def greet(name: str) -> None: ...

    host.add_hookspecs(Specs)
    assert host.plugins["hooked"].state == "untrusted"


def test_settings_disable_and_the_command_refuses_to_contradict(world: World) -> None:
    world.bundle("one")
    write(world.user / "settings.yaml", "# mine\ndisabled:\n  - one\n").chmod(0o600)
    host = world.host()
    plugin = host.plugins["one"]
    assert plugin.state == "disabled"
    assert plugin.reason == (
        f"disabled by {world.user}/settings.yaml:3; remove that line to enable it"
    )
    with pytest.raises(TrustError) as refused:
        host.enable("one")
    assert str(refused.value) == (
        f"one stays disabled: disabled by {world.user}/settings.yaml:3; remove that line to "
        "enable it. A file that a person writes is never changed by a command."
    )


def test_s26_a_project_can_only_disable_its_own(world: World) -> None:
    world.bundle("mine")
    world.bundle("theirs", scope="project")
    write(world.project / ".lionplug" / "settings.yaml", "disabled: [mine, theirs]\n")
    assert states(world.host()) == {"user:mine": "untrusted", "project:theirs": "disabled"}


def test_the_nearest_approved_copy_wins(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = world.project / "inner"
    inner.mkdir()
    for scope in ("user", "project"):
        world.bundle("one", {"t.py": f"def run(): return '{scope}'\n"}, scope=scope, tools=TOOL)
    shutil.copytree(world.project / ".lionplug", inner / ".lionplug")
    write(inner / ".lionplug/plugins/one/t.py", "def run(): return 'inner'\n")
    monkeypatch.chdir(inner)
    host = world.host()
    outer = str(world.project / ".lionplug" / "plugins" / "one")
    host.trust("user:one", approve=lambda _: True)
    assert host.tools.call("run") == "user"
    host.trust(outer, approve=lambda _: True)
    assert host.tools.call("run") == "project"
    host.trust("project:one", approve=lambda _: True)
    assert host.tools.call("run") == "inner"
    assert states(host) == {
        "user:one": "shadowed",
        outer: "shadowed",
        "project:one": "active",
    }
    host.revoke(str(inner / ".lionplug/plugins/one"))
    assert host.tools.call("run") == "project"


def test_an_unapproved_project_copy_displaces_nothing(world: World) -> None:
    world.bundle("one", {"t.py": "def run(): return 'user'\n"}, tools=TOOL)
    host = world.host()
    world.approve(host, "one")
    world.bundle("one", {"t.py": "def run(): return 'clone'\n"}, scope="project", tools=TOOL)
    host.plugins.refresh()
    assert states(host) == {"user:one": "active", "project:one": "untrusted"}
    assert host.tools.call("run") == "user"


def test_two_copies_in_one_scope_collide(world: World) -> None:
    world.bundle("one", RUN, tools=TOOL)
    world.bundle("two", RUN, manifest="name: one\nversion: 2\nlionplug: '>=0'\n", tools=TOOL)
    host = world.host()
    for plugin in host.plugins.all:
        host.trust(plugin.location, approve=lambda _: True)
    assert [plugin.state for plugin in host.plugins] == ["collision", "collision"]
    with pytest.raises(CapabilityNotFoundError, match="which is collision"):
        host.tools.call("run")
    host.disable(host.plugins.all[1].location)
    assert [plugin.state for plugin in host.plugins] == ["active", "disabled"]
    assert host.tools.call("run") == 1


def test_two_active_plugins_that_declare_one_tool_are_both_refused(world: World) -> None:
    for name in ("a", "b"):
        world.bundle(
            name,
            RUN | {"o.py": "def own(): return 1\n"},
            tools={"run": "t.py:run", f"own_{name}": "o.py:own"},
        )
    host = world.host()
    world.approve(host, "a")
    assert host.tools.call("run") == 1
    world.approve(host, "b")
    assert states(host) == {"user:a": "active", "user:b": "active"}
    with pytest.raises(CapabilityNotFoundError) as refused:
        host.tools.call("run")
    assert "a (user:a) and b (user:b) both declare" in str(refused.value)
    assert dict(host.plugins["a"].refused_names).keys() == {"tools:run"}
    assert host.tools.call("own_a") == 1
    assert host.tools.call("own_b") == 1
    host.disable("b")
    assert host.tools.call("run") == 1


def test_an_untrusted_plugin_takes_no_part_in_a_clash(world: World) -> None:
    world.bundle("a", RUN, tools=TOOL)
    world.bundle("clone", RUN, tools=TOOL, scope="project")
    host = world.host()
    world.approve(host, "a")
    assert host.tools.call("run") == 1


def test_names_that_the_host_reserved_or_registered_win(world: World) -> None:
    world.bundle("a", RUN, tools={"run": "t.py:run", "kept": "t.py:run"})
    host = world.host()
    world.approve(host, "a")

    class Own:
        @hookimpl
        def list_tools(self) -> list[ToolDeclaration]:
            return [
                ToolDeclaration(
                    name="run",
                    plugin="lionplug",
                    description="own",
                    parameters=None,
                    is_async=False,
                )
            ]

        @hookimpl
        def provide_tools(self, name: str) -> object:
            return (lambda: "own") if name == "run" else None

    own = Own()
    host.register(own)
    host.tools.reserve(["kept"])
    assert host.tools.call("run") == "own"
    assert host.tools["run"].plugin == "lionplug"
    with pytest.raises(CapabilityNotFoundError, match="its own always wins"):
        host.tools.call("kept")
    assert {name for name, _ in host.plugins["a"].refused_names} == {"tools:run", "tools:kept"}
    host.unregister(own)
    assert host.tools.call("run") == 1


def test_s22_a_name_that_fits_several_copies_lists_them(world: World) -> None:
    world.bundle("one")
    world.bundle("one", scope="project")
    host = world.host()
    for verb in (
        host.revoke,
        host.disable,
        host.enable,
        host.diff,
        lambda name: host.show(name, "plugin.yaml"),
    ):
        with pytest.raises(AmbiguousNameError) as refused:
            verb("one")
        assert refused.value.choices == ("user:one", "project:one")
        assert str(refused.value) == ("one fits 2 copies; name one of: user:one, project:one")
    assert host.plugins.find("user:one").scope == "user"
    assert host.plugins.find(str(world.plugins("project") / "one")).scope == "project"
    with pytest.raises(PluginNotFoundError, match="no plugin is called nowhere"):
        host.plugins.find("nowhere")
    with pytest.raises(PluginNotFoundError):
        host.plugins.find("installed:one")


def test_a_moved_or_copied_bundle_needs_its_own_approval(world: World) -> None:
    bundle = world.bundle("one", RUN, tools=TOOL)
    host = world.host()
    world.approve(host, "one")
    shutil.copytree(bundle, bundle.with_name("copy"))
    host.plugins.refresh()
    assert {Path(plugin.location).name: plugin.state for plugin in host.plugins} == {
        "copy": "untrusted",
        "one": "active",
    }
    bundle.rename(bundle.with_name("moved"))
    host.plugins.refresh()
    assert {plugin.state for plugin in host.plugins} == {"untrusted"}


def test_the_generation_only_grows_and_refresh_says_what_changed(world: World) -> None:
    host = world.host()
    assert host.plugins.all == ()
    first = host.plugins.generation
    assert host.plugins.refresh() == ((), (), ())
    assert host.plugins.generation == first
    bundle = world.bundle("one", RUN, tools=TOOL)
    changes = host.plugins.refresh()
    assert [plugin.name for plugin in changes.added] == ["one"]
    assert (changes.removed, changes.changed) == ((), ())
    second = host.plugins.generation
    assert second > first
    world.approve(host, "one")
    write(bundle / "t.py", "def run():\n    return 2\n")
    changes = host.plugins.refresh()
    assert [(one.name, one.state) for one in changes.changed] == [("one", "changed")]
    shutil.rmtree(bundle)
    changes = host.plugins.refresh()
    assert [plugin.name for plugin in changes.removed] == ["one"]
    assert host.plugins.generation > second


def test_snapshots_are_immutable(world: World) -> None:
    world.bundle("one")
    plugin = world.host().plugins["one"]
    with pytest.raises(AttributeError):
        plugin.state = "active"  # type: ignore[misc]
    assert isinstance(world.host().plugins.all, tuple)


def test_what_needs_a_person_is_listed(world: World) -> None:
    world.bundle("bad", manifest="name: [\n")
    world.bundle("fine")
    host = world.host()
    world.approve(host, "fine")
    assert [plugin.name for plugin in host.plugins.needs_attention] == ["bad"]


def test_s31_in_a_scope_that_others_can_write_nothing_is_trusted(world: World) -> None:
    world.bundle("mine", RUN, tools=TOOL)
    world.approve(world.host(), "mine")
    os.chmod(world.user, 0o777)
    host = world.host()
    plugin = host.plugins["mine"]
    assert plugin.state == "disabled"  # its settings can't be believed either
    assert plugin.reason == (
        f"{world.user}/settings.yaml can't be read, so nothing is enabled; mend that file"
    )
    assert any(notice.startswith("nothing is trusted: ") for notice in host.plugins.notices)
    assert any("chmod" in notice for notice in host.plugins.notices)
    with pytest.raises(CapabilityNotFoundError):
        host.tools.call("run")
    with pytest.raises(LionplugError, match="chmod"):
        host.trust("mine", approve=lambda _: True)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"format": 99, "records": []}', b'{"format": 1, "records": 3}', b"\xff"],
)
def test_an_unreadable_file_of_approvals_trusts_nothing(world: World, content: bytes) -> None:
    world.bundle("mine", RUN, tools=TOOL)
    world.approve(world.host(), "mine")
    write(world.user / "trust.json", content)
    host = world.host()
    assert host.plugins["mine"].state == "untrusted"
    assert host.plugins["mine"].reason.startswith("nothing is trusted: ")
    assert "trust.json" in host.plugins["mine"].reason
    with pytest.raises(CapabilityNotFoundError, match="which is untrusted"):
        host.tools.call("run")
    with pytest.raises(LionplugError):
        world.approve(host, "mine")
    assert (world.user / "trust.json").read_bytes() == content
