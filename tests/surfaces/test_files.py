"""Surfaces of files: agents, playbooks and packs, served from the approved tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from lionplug import hookimpl
from lionplug.errors import CapabilityNotFoundError, ContentError, LionplugError
from lionplug_hookspecs.agents import Agent, AgentDeclaration
from lionplug_hookspecs.packs import PackDeclaration
from tests.support import World, write

PROFILE = "---\ndescription: Finds sources\ntools: [web_search]\nversion: 1.10\n---\nBe thorough.\n"
SURVEY = "steps:\n  - ask: What is known?\nretries: 3\nstrict: true\n"
ALL = """
    capabilities:
      agents: [agents/researcher.md]
      playbooks: [playbooks/survey.playbook.yaml]
      packs: [packs/style.yaml]
"""


def research(world: World, name: str = "research", *, scope: str = "user") -> Path:
    return world.bundle(
        name,
        {
            "agents/researcher.md": PROFILE,
            "playbooks/survey.playbook.yaml": SURVEY,
            "packs/style.yaml": f"tone: {name}\n",
        },
        manifest=ALL,
        scope=scope,
    )


def test_values_come_from_the_approved_tree(world: World) -> None:
    research(world)
    host = world.host()
    world.approve(host, "research")
    agent = host.agents["research/researcher"]
    assert agent == Agent(
        name="researcher",
        plugin="research",
        file="agents/researcher.md",
        text=PROFILE,
        metadata={"description": "Finds sources", "tools": ["web_search"], "version": 1.1},
        body="Be thorough.\n",
    )
    playbook = host.playbooks["survey"]
    assert playbook.text == SURVEY
    assert playbook.data == {"steps": [{"ask": "What is known?"}], "retries": 3, "strict": True}
    assert host.packs["style"].data == {"tone": "research"}
    assert list(host.packs) == [PackDeclaration("style", "research", "packs/style.yaml")]
    assert (len(host.agents), "researcher" in host.agents, 3 in host.agents) == (1, True, False)


@pytest.mark.parametrize("token", ["researcher", "research/researcher"])
def test_nothing_is_exposed_before_approval_and_after_a_change(world: World, token: str) -> None:
    bundle = research(world)
    host = world.host()
    with pytest.raises(CapabilityNotFoundError) as refused:
        host.agents[token]
    assert str(refused.value) == (
        f'agent "{token}" is declared by research (user:research), which is untrusted: not '
        "approved yet; review what it brings, then approve it. Ask the person who runs this "
        "program to look at it."
    )
    assert list(host.agents) == []
    world.approve(host, "research")
    assert host.agents[token].body == "Be thorough.\n"
    write(bundle / "agents/researcher.md", "Obey.\n")
    with pytest.raises(CapabilityNotFoundError, match="which is changed"):
        host.agents[token]
    with pytest.raises(CapabilityNotFoundError, match="which is changed"):
        host.playbooks["survey"]


def test_a_bare_name_counts_only_while_it_is_unambiguous(world: World) -> None:
    research(world, "one")
    research(world, "two")
    host = world.host()
    world.approve(host, "one")
    assert host.packs["style"].data == {"tone": "one"}
    world.approve(host, "two")
    with pytest.raises(CapabilityNotFoundError) as refused:
        host.packs["style"]
    assert str(refused.value) == (
        'pack "style" is declared by several plugins; name one of: one/style, two/style.'
    )
    assert host.packs["one/style"].data == {"tone": "one"}
    assert host.packs["two/style"].data == {"tone": "two"}
    assert [(one.plugin, one.name) for one in host.packs] == [("one", "style"), ("two", "style")]
    host.disable("one")
    assert host.packs["style"].data == {"tone": "two"}


def test_an_unapproved_copy_in_a_clone_displaces_nothing(world: World) -> None:
    research(world)
    host = world.host()
    world.approve(host, "research")
    clone = research(world, scope="project")
    write(clone / "agents/researcher.md", "Obey.\n")
    host.plugins.refresh()
    assert host.agents["researcher"].body == "Be thorough.\n"
    assert host.agents["research/researcher"].body == "Be thorough.\n"


def test_the_hosts_own_wins_for_the_bare_name_only(world: World) -> None:
    research(world)
    host = world.host()
    world.approve(host, "research")
    own = Agent(name="researcher", plugin="lionplug", file="", text="x", metadata={}, body="x")

    class Own:
        @hookimpl
        def list_agents(self) -> list[AgentDeclaration]:
            return [AgentDeclaration(name="researcher", plugin="lionplug", file="")]

        @hookimpl
        def provide_agents(self, name: str, plugin: str | None) -> Agent | None:
            return own if (name, plugin) == ("researcher", None) else None

    host.register(Own())
    assert host.agents["researcher"] is own
    assert host.agents["research/researcher"].body == "Be thorough.\n"
    assert len(host.agents) == 2


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"---\ndescription: x\n", "agents/a.md:1:1: the front matter is not closed"),
        (b"---\n- x\n---\n", "agents/a.md:2:1:"),
        (b"---\na: 1\na: 2\n---\n", "agents/a.md:3:1:"),
        (b"---\ndescription: Use when: a\n---\n", "agents/a.md:2:"),
        (b"\xff\xfe", "agents/a.md"),
        (b"a\0b", "agents/a.md"),
    ],
)
def test_a_file_that_is_none_says_where(world: World, content: bytes, problem: str) -> None:
    world.bundle(
        "one", {"agents/a.md": content}, manifest="capabilities: {agents: [agents/a.md]}\n"
    )
    host = world.host()
    world.approve(host, "one")
    with pytest.raises(ContentError) as refused:
        host.agents["a"]
    assert problem in str(refused.value)
    assert refused.value.problems


@pytest.mark.parametrize(
    ("content", "metadata", "body"),
    [
        (b"just text\n---\nmore\n", {}, "just text\n---\nmore\n"),
        (b"\xef\xbb\xbf---\r\na: 1\r\n---\r\nbody\r\n", {"a": 1}, "body\n"),
        (b"---\n---\nbody", {}, "body"),
        (b"---\na: '---'\n---\n---\n", {"a": "---"}, "---\n"),
        (b"", {}, ""),
    ],
)
def test_front_matter(world: World, content: bytes, metadata: dict[str, object], body: str) -> None:
    world.bundle(
        "one", {"agents/a.md": content}, manifest="capabilities: {agents: [agents/a.md]}\n"
    )
    host = world.host()
    world.approve(host, "one")
    agent = host.agents["a"]
    assert (agent.metadata, agent.body) == (metadata, body)


def test_s15_text_is_not_served_from_a_store_that_was_written_to(world: World) -> None:
    research(world)
    host = world.host()
    plugin = world.approve(host, "research")
    assert host.agents["researcher"].body == "Be thorough.\n"
    assert plugin.record is not None
    tree = world.user / "approved" / plugin.record.tree.rpartition(":")[2]
    tree.chmod(0o700)
    write(tree / "added.txt", "planted")
    with pytest.raises(LionplugError, match="is not what was approved"):
        host.agents["researcher"]


def test_a_project_of_links_serves_the_pinned_target(world: World) -> None:
    bundle = world.bundle(
        "one",
        {"shared/a.md": "approved\n"},
        manifest="capabilities: {agents: [agents/a.md]}\n",
    )
    (bundle / "agents").mkdir()
    (bundle / "agents/a.md").symlink_to("../shared/a.md")
    host = world.host()
    world.approve(host, "one")
    assert host.agents["a"].body == "approved\n"
    (bundle / "agents/a.md").unlink()
    (bundle / "agents/a.md").symlink_to("../plugin.yaml")
    with pytest.raises(CapabilityNotFoundError, match="which is changed"):
        host.agents["a"]


def test_the_users_own_files_win_for_bare_names_with_one_warning(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    research(world)
    host = world.host()
    world.approve(host, "research")
    assert host.agents["researcher"].plugin == "research"
    write(world.user / "agents/researcher.md", "---\nmine: true\n---\nMine.\n")
    write(world.user / "playbooks/mine.playbook.yaml", SURVEY)
    write(world.user / "packs/style.yml", "tone: mine\n")
    write(world.user / "packs/no name.yml", "tone: mine\n")
    host.plugins.refresh()
    with caplog.at_level("WARNING", logger="lionplug"):
        for _ in range(3):
            agent = host.agents["researcher"]
    assert (agent.plugin, agent.metadata, agent.file) == (
        "user",
        {"mine": True},
        "agents/researcher.md",
    )
    warnings = [record.getMessage() for record in caplog.records]
    assert warnings == [
        'agent "researcher" is your own; that of plugin research is research/researcher'
    ]
    assert host.agents["research/researcher"].body == "Be thorough.\n"
    assert host.agents["user/researcher"] == agent
    assert host.playbooks["mine"].data["retries"] == 3
    assert host.packs["style"].data == {"tone": "mine"}
    assert [(one.plugin, one.name) for one in host.packs] == [
        ("research", "style"),
        ("user", "style"),
    ]
    (world.user / "agents/researcher.md").unlink()
    host.plugins.refresh()
    assert host.agents["researcher"].plugin == "research"


def test_s02_files_of_a_project_are_nobodys_own(world: World) -> None:
    research(world)
    host = world.host()
    world.approve(host, "research")
    write(world.project / ".lionplug/agents/researcher.md", "Obey.\n")
    write(world.project / ".lionplug/agents/helper.md", "Obey.\n")
    host.plugins.refresh()
    assert host.agents["researcher"].body == "Be thorough.\n"
    for token in ("helper", "project/helper", "user/helper"):
        with pytest.raises(CapabilityNotFoundError):
            host.agents[token]
    assert [one.name for one in host.agents] == ["researcher"]


def test_s31_user_files_that_others_can_write_are_not_served(world: World) -> None:
    own = write(world.user / "agents/mine.md", "Mine.\n")
    host = world.host()
    assert host.agents["mine"].body == "Mine.\n"
    own.chmod(0o666)
    with pytest.raises(LionplugError, match="chmod"):
        host.agents["mine"]
    own.chmod(0o600)
    own.parent.chmod(0o777)
    host.plugins.refresh()
    assert list(host.agents) == []


@pytest.mark.parametrize("name", ["../agents/mine", "/etc/hostname", "a b", "", ".", "mine.md"])
def test_no_name_leads_out_of_the_folder(world: World, name: str) -> None:
    write(world.user / "agents/mine.md", "Mine.\n")
    with pytest.raises(CapabilityNotFoundError):
        world.host().agents[name]
