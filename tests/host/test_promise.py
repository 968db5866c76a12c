"""The promise: visible before trusted, trusted before imported, imported on the first call."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import lionplug
from lionplug.errors import ArgumentsError, CapabilityNotFoundError, TrustError
from lionplug.host import approvals
from lionplug.trust.disclosure import Disclosure
from tests.support import World, marker_module

SEARCH = '''
def web_search(query: str, limit: int = 3) -> list[str]:
    """Search the web.

    Args:
        query: What to look for.
        limit: How many results.
    """
    return [f"{query} {n}" for n in range(limit)]
'''


def plugin_modules() -> list[str]:
    return [name for name in sys.modules if name.startswith("lionplug.bundles.")]


def test_the_whole_life_of_a_bundle(world: World) -> None:
    bundle = world.bundle(
        "web-research",
        {"tools/search.py": SEARCH, "tools/fetch.py": "def fetch(url):\n    return url\n"},
        tools={"web_search": "tools/search.py:web_search", "fetch": "tools/fetch.py:fetch"},
    )
    host = world.host()

    plugin = host.plugins["web-research"]
    assert plugin.state == "untrusted"
    assert plugin.reason == "not approved yet; review what it brings, then approve it"
    with pytest.raises(CapabilityNotFoundError) as refused:
        host.tools.call("web_search", {"query": "x"})
    assert refused.value.message == (
        'tool "web_search" is declared by web-research (user:web-research), which is untrusted: '
        "not approved yet; review what it brings, then approve it. "
        "Ask the person who runs this program to look at it."
    )
    assert refused.value.command == "lionplug trust web-research"

    assert world.approve(host, "web-research").state == "active"
    tool = host.tools["web_search"]
    assert tool.description == "Search the web."
    assert tool.parameters is not None
    assert tool.parameters["required"] == ["query"]
    assert plugin_modules() == []

    assert host.tools.call("web_search", {"query": "lions", "limit": 2}) == ["lions 0", "lions 1"]
    assert [name.split(".", 3)[-1] for name in plugin_modules()][-2:] == ["tools", "tools.search"]
    (activation,) = host.activations
    assert (activation.module, activation.plugin, activation.hook) == (
        "tools/search.py",
        "web-research",
        "provide_tools",
    )
    assert activation.milliseconds > 0

    source = bundle / "tools" / "search.py"
    source.write_text(SEARCH.replace("Search the web", "Search the wab"))
    with pytest.raises(CapabilityNotFoundError, match="which is changed"):
        host.tools.call("web_search", {"query": "lions"})
    assert host.plugins["web-research"].state == "changed"
    diff = host.diff("web-research")
    assert [change.path for change in diff.changed] == ["tools/search.py"]

    world.approve(host, "web-research")
    assert host.tools.call("web_search", {"query": "lions"}) == ["lions 0", "lions 1", "lions 2"]
    assert host.tools["web_search"].description == "Search the wab."


def test_arguments_are_checked_before_anything_is_imported(world: World) -> None:
    marker = world.root / "imported"
    world.bundle(
        "one",
        {"t.py": marker_module(marker, "def run(text: str):\n    return text\n")},
        tools={"run": "t.py:run"},
    )
    host = world.host()
    world.approve(host, "one")
    with pytest.raises(ArgumentsError) as refused:
        host.tools.call("run", {"text": 3})
    assert "the arguments of tool run (one) don't fit its parameters:" in refused.value.message
    assert len(refused.value.problems) == 1
    assert not marker.exists()


def test_nothing_is_imported_but_what_is_called(world: World) -> None:
    markers = {name: world.root / name for name in ("a", "b", "other")}
    world.bundle(
        "one",
        {
            "a.py": marker_module(markers["a"], "def run():\n    return 'a'\n"),
            "b.py": marker_module(markers["b"], "def run():\n    return 'b'\n"),
        },
        tools={"a": "a.py:run", "b": "b.py:run"},
    )
    world.bundle(
        "two",
        {"o.py": marker_module(markers["other"], "def run():\n    return 'o'\n")},
        tools={"o": "o.py:run"},
    )
    host = world.host()
    shown: list[str] = []

    def read_it_all(disclosure: Disclosure) -> bool:
        shown.extend(disclosure.lines())
        return True

    host.trust("one", approve=read_it_all)
    world.approve(host, "two")
    list(host.plugins)
    list(host.hook.list_tools())
    assert [tool.name for tool in host.tools] == ["a", "b", "o"]
    host.plugins.refresh()
    host.diff("one")
    host.show("one", "a.py")
    host.show("one", "a.py", approved=True)
    host.disable("two")
    host.enable("two")
    assert not any(path.exists() for path in markers.values())
    assert host.tools.call("a") == "a"
    assert [name for name, path in markers.items() if path.exists()] == ["a"]


def test_two_hundred_active_bundles_import_nothing_until_called(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two hundred helper processes would take most of the time and show nothing here.
    monkeypatch.setattr(approvals, "signatures_of", lambda staged: {})
    for number in range(200):
        world.bundle(
            f"p{number}",
            {"t.py": f"def run():\n    return {number}\n"},
            tools={f"t{number}": "t.py:run"},
        )
    host = world.host()
    for number in range(200):
        world.approve(host, f"p{number}")
    fresh = world.host()
    before = plugin_modules()
    assert sum(plugin.is_active for plugin in fresh.plugins) == 200
    assert len(list(fresh.tools)) == 200
    assert plugin_modules() == before
    assert fresh.tools.call("t7") == 7
    assert {row.plugin for row in fresh.activations} == {"p7"}


def test_importing_and_making_a_host_reads_nothing(world: World) -> None:
    world.bundle("bad", manifest="name: [\n")
    host = lionplug.Host("lionplug", version="1", user_dir=str(world.root / "nowhere"))
    assert host._built is None
    host.close()


@pytest.mark.parametrize("name", ["", "A", "a_b", "-a", "a" * 33, "name", "capabilities", "ä"])
def test_a_host_needs_a_name_that_fits(name: str) -> None:
    with pytest.raises(ValueError, match="can't be the name of a host"):
        lionplug.Host(name, version="1")


def test_only_true_approves(world: World) -> None:
    world.bundle("one", {"t.py": "def run(): ..."}, tools={"run": "t.py:run"})
    host = world.host()
    for answer in (False, None, 0, "", "yes", 1, object()):
        with pytest.raises(TrustError, match="the answer was no"):
            host.trust("one", approve=lambda disclosure, answer=answer: answer)  # type: ignore[misc]
    assert host.plugins["one"].state == "untrusted"
    assert list((world.user / "staging").iterdir()) == []


@pytest.mark.parametrize(
    "arguments", [{}, {"approve": lambda disclosure: True, "expect": "lp1:sha256:" + "0" * 64}]
)
def test_an_approval_has_exactly_one_decider(world: World, arguments: Mapping[str, object]) -> None:
    world.bundle("one")
    with pytest.raises(TrustError, match="nobody decides, or two do"):
        world.host().trust("one", **arguments)  # type: ignore[arg-type]


def test_expect_approves_exactly_one_tree(world: World) -> None:
    bundle = world.bundle("one", {"t.py": "def run(): return 1\n"}, tools={"run": "t.py:run"})
    host = world.host()
    digest = host.digest(str(bundle))
    for wrong in (digest[:-1], digest.upper(), digest[:-1] + "g", digest[:17], " " + digest):
        with pytest.raises(TrustError, match="no full tree digest"):
            host.trust("one", expect=wrong)
    other = digest[:-1] + ("0" if digest[-1] != "0" else "1")
    with pytest.raises(TrustError, match="is not approved: its tree is"):
        host.trust("one", expect=other)
    assert host.trust("one", expect=digest).state == "active"


def test_a_data_only_bundle_without_code_is_approved_too(world: World) -> None:
    world.bundle(
        "notes",
        {"agents/reader.md": "Read.\n"},
        manifest="capabilities:\n  agents: [agents/reader.md]\n",
    )
    host = world.host()
    assert world.approve(host, "notes").state == "active"


def test_s34_revoke_disable_and_enable(world: World) -> None:
    world.bundle("one", {"t.py": "def run():\n    return 1\n"}, tools={"run": "t.py:run"})
    host = world.host()
    world.approve(host, "one")
    assert host.tools.call("run") == 1
    assert host.disable("one").state == "disabled"
    with pytest.raises(
        CapabilityNotFoundError, match="which is disabled: somebody switched it off"
    ):
        host.tools.call("run")
    assert host.enable("one").state == "active"
    assert host.tools.call("run") == 1
    revocation = host.revoke("one")
    assert revocation.was_imported
    assert plugin_modules() == []
    with pytest.raises(CapabilityNotFoundError, match="which is untrusted"):
        host.tools.call("run")


def test_s34_another_host_that_revokes_counts_on_the_next_call(world: World) -> None:
    world.bundle("one", {"t.py": "def run():\n    return 1\n"}, tools={"run": "t.py:run"})
    host, other = world.host(), world.host()
    world.approve(host, "one")
    assert other.tools.call("run") == 1
    host.revoke("one")
    with pytest.raises(CapabilityNotFoundError, match="which is untrusted"):
        other.tools.call("run")
    world.approve(host, "one")
    assert other.tools.call("run") == 1


def test_a_deleted_bundle_is_pruned_and_must_be_approved_again(
    world: World, tmp_path: Path
) -> None:
    bundle = world.bundle("one", {"t.py": "def run():\n    return 1\n"}, tools={"run": "t.py:run"})
    host = world.host()
    world.approve(host, "one")
    away = bundle.rename(tmp_path / "away")
    assert [record.name for record in host.prune()] == ["one"]
    away.rename(bundle)
    host.plugins.refresh()
    assert host.plugins["one"].state == "untrusted"


def test_a_bundle_that_fails_to_parse_keeps_its_record(world: World) -> None:
    bundle = world.bundle("one", {"t.py": "def run():\n    return 1\n"}, tools={"run": "t.py:run"})
    manifest = bundle / "plugin.yaml"
    host = world.host()
    world.approve(host, "one")
    good = manifest.read_bytes()
    manifest.write_bytes(b"name: [\n")
    host.plugins.refresh()
    assert host.plugins["one"].state == "invalid"
    with pytest.raises(CapabilityNotFoundError, match="which is invalid"):
        host.tools.call("run")
    assert host.prune() == []
    manifest.write_bytes(good)
    host.plugins.refresh()
    assert host.plugins["one"].state == "active"


def test_a_review_that_is_over_approves_nothing(world: World) -> None:
    world.bundle("one")
    host = world.host()
    with host.review(host.plugins["one"]) as review:
        pass
    with pytest.raises(TrustError, match="the review of one is over"):
        review.approve()
    assert host.plugins["one"].state == "untrusted"


def test_the_inventory_is_a_collection(world: World) -> None:
    world.bundle("one", {"t.py": "def run(): ..."}, tools={"run": "t.py:run"})
    host = world.host()
    assert len(host.plugins) == 1
    assert "one" in host.plugins
    assert "two" not in host.plugins
    assert repr(host.plugins["one"]) == "<Plugin user:one 1.0.0 untrusted>"
    assert len(host.tools) == 0
    world.approve(host, "one")
    assert len(host.tools) == 1
    assert repr(host.tools["run"]) == "<Tool run of one>"
    assert repr(host) == "<lionplug.Host lionplug 1.0.0>"
