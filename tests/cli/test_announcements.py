"""Announcements are data: found by the distribution, bounded, strict, never imported."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionplug.cli.announcements import MAX_BYTES, Announced, announced_hosts
from lionplug.cli.hosts import choose_host
from lionplug.errors import UsageError

GOOD = {
    "command": "li plugin",
    "groups": ["li.plugins"],
    "classic_groups": [],
    "hooks": ["saved"],
    "reserved_tools": ["delete"],
}


class Site:
    """A directory with installed distributions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(
        self,
        name: str = "li",
        document: Any = None,
        *,
        distribution: str = "li-app",
        value: str = "",
        data: bytes | None = None,
        record: bool = True,
    ) -> Path:
        package = distribution.replace("-", "_")
        info = self.folder / f"{package}-2.1.dist-info"
        info.mkdir()
        file = self.folder / package / "host.json"
        file.parent.mkdir()
        (file.parent / "__init__.py").write_text("raise SystemExit('imported')\n")
        file.write_bytes(
            json.dumps(GOOD if document is None else document).encode() if data is None else data
        )
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 2.1\n"
        )
        (info / "entry_points.txt").write_text(
            f"[lionplug.hosts]\n{name} = {value or package + ':host.json'}\n"
        )
        if record:
            (info / "RECORD").write_text(f"{package}/host.json,,\n{info.name}/METADATA,,\n")
        return file

    def read(self) -> Announced:
        return announced_hosts([str(self.folder)])

    def problem(self) -> str:
        ((_, text),) = self.read().problems
        return text


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


@pytest.mark.parametrize("record", [True, False])
def test_it_is_found_by_the_distribution(site: Site, record: bool) -> None:
    file = site.add(record=record)
    found = site.read()
    assert found.problems == ()
    known = found.hosts["li"]
    assert (known.version, known.distribution, known.file) == ("2.1", "li-app", str(file))
    assert (known.command, known.hooks, known.reserved_tools) == (
        "li plugin",
        ("saved",),
        ("delete",),
    )
    assert (known.groups, known.classic_groups) == (("li.plugins",), ())


def test_an_editable_installation_is_found_in_its_source(site: Site, tmp_path: Path) -> None:
    file = site.add(record=False)
    source = tmp_path / "a source" / "src" / "li_app"
    source.parent.mkdir(parents=True)
    file.parent.rename(source)
    (info,) = tmp_path.glob("*.dist-info")
    direct = {"url": (tmp_path / "a source").as_uri(), "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(json.dumps(direct))
    assert site.read().hosts["li"].file == str(source / "host.json")
    (info / "direct_url.json").write_text('{"url": 3}')
    assert "has no file li_app/host.json" in site.problem()


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("command", "li; rm x", "command: expected words such as 'li plugin', found 'li; rm x'"),
        ("command", "$(touch x)", "command: expected words"),
        ("command", "li\n", "command: expected words"),
        ("command", "-rf", "command: expected words"),
        ("command", 3, "command: expected words"),
        ("hooks", "saved", "hooks: expected a list of at most 5,000 names of hooks"),
        ("hooks", ["a-b"], "hooks: expected names of hooks, found 'a-b'"),
        ("hooks", [[]], "hooks: expected names of hooks, found []"),
        ("groups", ["a b"], "groups: expected names of entry-point groups, found 'a b'"),
        ("reserved_tools", ["a b"], "reserved_tools: expected names of tools, found 'a b'"),
        ("hoks", [], "hoks is no key of it (did you mean 'hooks'?)"),
    ],
)
def test_a_wrong_key_is_told_and_the_others_count(
    site: Site, key: str, value: Any, told: str
) -> None:
    site.add(document={**GOOD, key: value})
    assert told in site.problem()
    known = site.read().hosts["li"]
    assert known.command == (None if key == "command" else "li plugin")
    assert known.hooks == (None if key == "hooks" else ("saved",))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "is no JSON"),
        (b"[]", "expected a JSON object"),
        (b'{"hooks": [], "hooks": ["x"]}', "is no JSON: a key stands twice"),
        (b'{"hooks": NaN}', "is no JSON: NaN is no JSON number"),
        (b"[" * 200_000, "too deeply nested"),
        (b"\xff\xfe", "is no JSON"),
        (b" " * (MAX_BYTES + 1), "expected at most 262,144 bytes"),
    ],
)
def test_a_file_that_is_none_leaves_name_and_version(site: Site, data: bytes, told: str) -> None:
    site.add(data=data)
    assert told in site.problem()
    known = site.read().hosts["li"]
    assert (known.version, known.command, known.hooks) == ("2.1", None, None)


@pytest.mark.parametrize(
    "value",
    ["li_app", "li_app:../../x.json", "../x:host.json", "li_app:host.py", "li_app:a/b.json"],
)
def test_a_place_outside_of_the_package_is_none(site: Site, value: str) -> None:
    site.add(value=value)
    assert "expected 'package:host.json'" in site.problem()


@pytest.mark.parametrize("name", ["Li", "a_b", "user", "x" * 33])
def test_a_name_that_no_host_can_have_is_ignored(site: Site, name: str) -> None:
    site.add(name)
    assert "can't be the name of a host" in site.problem()
    assert site.read().hosts == {}


def test_two_distributions_with_one_name(site: Site) -> None:
    site.add()
    site.add(distribution="other")
    found = site.read()
    assert found.hosts == {}
    assert set(found.ambiguous["li"]) == {"li-app", "other"}
    assert "the host li is announced by 2 distributions" in site.problem()


def test_a_fifo_is_not_waited_for(site: Site) -> None:
    file = site.add()
    file.unlink()
    os.mkfifo(file)
    assert "has no file" in site.problem()


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(list(GOOD)), inner)
        ),
    )
)
def test_any_document_is_read_without_an_exception(
    tmp_path_factory: pytest.TempPathFactory, document: Any
) -> None:
    site = Site(tmp_path_factory.mktemp("site"))
    site.add(document=[] if document is None else document)
    for text in (text for _, text in site.read().problems):
        assert text.isascii()
        assert text.isprintable()


def test_s19_the_working_directory_announces_nothing(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.add("planted")
    monkeypatch.chdir(site.folder)
    for entry in ("", str(site.folder)):
        monkeypatch.syspath_prepend(entry)
    assert "planted" not in announced_hosts().hosts


class TestChoice:
    @pytest.fixture(autouse=True)
    def _only_this(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("lionplug.cli.hosts._announced", site.read)

    def test_none_is_lionplug(self) -> None:
        assert choose_host(None).host.name == "lionplug"

    def test_the_only_one(self, site: Site) -> None:
        site.add()
        choice = choose_host(None)
        assert (choice.host.name, choice.host.version) == ("li", "2.1")
        assert choice.host.command == "li plugin"
        assert choice.knows_hooks
        assert choose_host("lionplug").host.command == "lionplug"

    def test_of_two_none_is_meant(self, site: Site) -> None:
        site.add()
        site.add("other", distribution="other")
        assert choose_host(None).host.name == "lionplug"
        assert choose_host("other").host.name == "other"

    def test_an_ambiguous_one_is_refused(self, site: Site) -> None:
        site.add()
        site.add(distribution="other")
        with pytest.raises(click.UsageError, match="by several distributions: li-app, other"):
            choose_host("li")

    def test_a_damaged_one_has_the_ordinary_command(self, site: Site) -> None:
        site.add(data=b"{")
        choice = choose_host("li")
        assert choice.host.command == "lionplug --host li"
        assert not choice.knows_hooks
        assert len(choice.notes) == 1

    def test_a_version_that_is_none_is_told(self, site: Site) -> None:
        site.add()
        (metadata,) = site.folder.glob("*.dist-info/METADATA")
        metadata.write_text("Metadata-Version: 2.1\nName: li-app\nVersion: newest\n")
        with pytest.raises(UsageError, match="newest is no version"):
            choose_host("li")
