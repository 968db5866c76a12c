"""A surface that is added from outside gets listing, disclosure, gate and commands for free."""

from __future__ import annotations

import json
import types
from collections.abc import Iterable, Mapping
from typing import Any

import click.testing
import pytest
from attrs import frozen

from lionplug import Host, hookspec
from lionplug.activation.active import ActivePlugin
from lionplug.cli.app import make_cli
from lionplug.documents.declare import declared
from lionplug.documents.fields import Text
from lionplug.errors import CapabilityNotFoundError, UsageError
from lionplug.inventory.plugin import Plugin
from lionplug.manifest.capability import Capability
from lionplug.manifest.section import Entry, Section
from lionplug.manifest.sections.common import REFERENCE
from lionplug.surfaces.surface import Surface
from lionplug.trust.disclosure import Disclosure
from tests.support import World, marker_module

# The first of the two files that a surface is: its hooks.


@hookspec
def list_toys() -> Iterable[Mapping[str, str]]:  # type: ignore[empty-body]
    """Tell which toys there are."""


@hookspec(firstresult=True)
def provide_toys(name: str, plugin: str | None) -> object:
    """Hand out a toy."""


specs: Any = types.SimpleNamespace(list_toys=list_toys, provide_toys=provide_toys)

# The second: what a manifest says of it, and what becomes of that.


@frozen(kw_only=True)
class Toy(Entry):
    """A toy."""

    name: str = declared(Text(), doc="What it is called.")
    target: str = declared(REFERENCE, doc="The function that makes it.")

    def capability(self, section: Section, key: str) -> Capability:
        return Capability(
            surface=section.key, name=self.name, danger=section.danger, target=self.target
        )


def declare(plugin: Plugin, capability: Capability) -> Any:
    return types.SimpleNamespace(name=capability.name, plugin=plugin.name)


def provide(active: ActivePlugin, capability: Capability) -> Any:
    make = active.load(capability.target, hook="provide_toys", what=f"toy {capability.name}")
    return make()


TOYS = Surface(
    name="toys",
    hookspecs=specs,
    exclusive=False,
    declare=declare,
    provide=provide,
    section=Section(key="toys", entry=Toy, danger="executes", doc="Toys."),
)


def toy_host(world: World) -> Host:
    host = world.host()
    host.add_surface(TOYS)
    return host


def toy_bundle(world: World) -> None:
    world.bundle(
        "box",
        {"t.py": marker_module(world.root / "imported", "def make():\n    return 'a ball'\n")},
        manifest="capabilities: {toys: [{name: ball, target: 't.py:make'}]}\n",
    )


def test_a_toy_is_listed_disclosed_gated_and_made(world: World) -> None:
    toy_bundle(world)
    host = toy_host(world)
    assert host.plugins["box"].state == "untrusted"
    with pytest.raises(CapabilityNotFoundError, match='toy "ball" is declared by box'):
        host.surface("toys")["ball"]
    shown: list[str] = []

    def approve(disclosure: Disclosure) -> bool:
        shown.extend(disclosure.lines())
        assert disclosure.executes
        return True

    host.trust("box", approve=approve)
    assert any("toys ball" in line for line in shown)
    assert any("t.py:make" in line for line in shown)
    assert [toy.name for toy in host.surface("toys")] == ["ball"]
    assert not (world.root / "imported").exists()
    assert host.surface("toys")["box/ball"] == "a ball"
    assert host.hook.provide_toys(name="ball", plugin=None) == "a ball"
    world.host().add_surface(TOYS)
    host.revoke("box")
    with pytest.raises(CapabilityNotFoundError, match="which is untrusted"):
        host.surface("toys")["ball"]


def test_the_commands_show_it(world: World) -> None:
    toy_bundle(world)
    done = click.testing.CliRunner().invoke(
        make_cli(lambda: toy_host(world)), ["info", "box", "--json"]
    )
    assert done.exit_code == 0, done.output
    (capability,) = json.loads(done.stdout)["capabilities"]
    assert (capability["surface"], capability["name"]) == ("toys", "ball")


def test_its_manifest_is_checked_like_any_other(world: World) -> None:
    world.bundle("bad", manifest="capabilities: {toys: [{nam: ball}]}\n")
    plugin = toy_host(world).plugins["bad"]
    assert plugin.state == "invalid"
    assert any("did you mean" in str(problem) for problem in plugin.problems)


def test_without_it_the_key_is_unknown(world: World) -> None:
    toy_bundle(world)
    host = world.host()
    assert host.plugins["box"].state == "invalid"
    host.add_surface(TOYS)
    assert host.plugins["box"].state == "untrusted"


def test_surfaces_have_one_name_each(world: World) -> None:
    host = toy_host(world)
    with pytest.raises(UsageError, match="there is a surface toys already"):
        host.add_surface(TOYS)
    with pytest.raises(UsageError, match="there is no surface dolls; there are: agents, packs"):
        host.surface("dolls")
