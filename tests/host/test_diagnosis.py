"""``host.diagnose()``: findings as data, each with the one command that mends it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from lionplug import Host, hookspec
from lionplug.host.diagnosis import Diagnosis, Finding
from lionplug.host.requirements import install_command
from tests.support import World


def make(world: World) -> Host:
    world.user.parent.chmod(0o700)
    host = Host("lionplug", version="1.0", user_dir=str(world.user))
    world.hosts.append(host)
    return host


def trust(host: Host, *names: str) -> None:
    host.plugins.refresh()
    for name in names:
        host.trust(name, expect=host.digest(host.plugins[name].location))


def codes(diagnosis: Diagnosis, severity: str = "problem") -> list[str]:
    return [one.code for one in diagnosis.findings if one.severity == severity]


def only(diagnosis: Diagnosis, code: str) -> Finding:
    (finding,) = [one for one in diagnosis.findings if one.code == code]
    return finding


def test_all_is_well(world: World) -> None:
    host = make(world)
    world.bundle("fine", {"a.py": "def f(): return 1\n"}, tools={"f": "a.py:f"})
    trust(host, "fine")
    diagnosis = host.diagnose()
    assert not diagnosis.needs_person
    assert codes(diagnosis) == []
    assert codes(diagnosis, "warning") == []
    assert codes(diagnosis, "info") == ["host", "user-scope", "approvals"]
    assert only(diagnosis, "host").text == "lionplug 1.0 (command: lionplug)"
    assert only(diagnosis, "user-scope").text == f"user scope: {world.user} (from argument)"
    assert "(1 approval, 0 switched off)" in only(diagnosis, "approvals").text
    assert host.activations == ()


def test_a_new_plugin_comes_with_the_command_that_approves_it(world: World) -> None:
    host = make(world)
    world.bundle("new", {"a.py": "def f(): return 1\n"}, tools={"f": "a.py:f"})
    finding = only(host.diagnose(), "plugin-untrusted")
    assert finding.command == "lionplug trust new"
    assert finding.plugin == "user:new"
    assert finding.to_dict()["severity"] == "problem"


def test_a_changed_and_an_invalid_one(world: World) -> None:
    host = make(world)
    root = world.bundle("old", {"a.py": "def f(): return 1\n"}, tools={"f": "a.py:f"})
    trust(host, "old")
    (root / "a.py").write_text("def f(): return 2\n")
    world.bundle("bad", manifest="name: bad\n")
    host.plugins.refresh()
    diagnosis = host.diagnose()
    assert only(diagnosis, "plugin-changed").command == "lionplug trust old"
    assert str(only(diagnosis, "plugin-invalid").command).startswith("lionplug info ")


def test_a_collision_is_mended_by_switching_one_off(world: World) -> None:
    host = make(world)
    for folder in ("one", "two"):
        root = world.bundle(folder, manifest="name: same\nversion: '1'\nlionplug: '>=0'\n")
        host.plugins.refresh()
        host.trust(str(root), expect=host.digest(str(root)))
    findings = [one for one in host.diagnose().findings if one.code == "plugin-collision"]
    first, second = findings
    assert first.command is None
    assert second.command == f"lionplug disable {world.plugins() / 'two'}"
    host.disable(str(world.plugins() / "two"))
    assert not host.diagnose().needs_person


def test_a_failed_activation_is_known_in_its_process(world: World) -> None:
    host = make(world)
    world.bundle("broken", {"a.py": "import nothing_of_this_name\n"}, tools={"f": "a.py:f"})
    trust(host, "broken")
    assert not host.diagnose().needs_person
    with pytest.raises(ImportError):
        host.tools.call("f", {})
    finding = only(host.diagnose(), "activation-failed")
    assert "nothing_of_this_name" in finding.text
    assert finding.command == "lionplug info user:broken"


def test_requirements_one_by_one(world: World) -> None:
    host = make(world)
    world.bundle("base")
    world.bundle(
        "needy",
        manifest="requires: [base, absent]\npython_packages: ['no-such-thing>=2,<3', attrs]\n",
    )
    host.plugins.refresh()
    host.disable("base")
    found = {one.text: one.command for one in host.diagnose().findings if one.code == "requirement"}
    package, base, absent = found
    assert "needs the Python package 'no-such-thing>=2,<3', which is not installed" in package
    assert shlex.split(str(found[package]))[-3:] == ["pip", "install", "no-such-thing<3,>=2"]
    assert "needs the plugin base" in base
    assert found[base] == "lionplug enable base"
    assert "needs the plugin absent, which is not here" in absent
    assert found[absent] is None


@pytest.mark.parametrize(
    "text",
    [
        "x @ https://evil/x.whl?$(touch${IFS}pwned)",
        "x @ file:///tmp/x.whl",
        "x===1;rm",
        "x === $(id)",
        "not a requirement `id`",
        "",
    ],
)
def test_s37_what_can_hold_anything_is_in_no_command(text: str) -> None:
    assert install_command(text) is None


def test_s37_a_marker_is_in_no_command() -> None:
    command = install_command("httpx[http2,cli]>=0.27,!=0.28 ; os_name != '`id`'")
    assert command is not None
    assert shlex.split(command)[-1] == "httpx[cli,http2]!=0.28,>=0.27"
    assert "id" not in command.partition("install")[2]


def test_s37_s19_pip_does_not_come_from_the_working_directory() -> None:
    words = shlex.split(str(install_command("httpx")))
    assert words[0] == sys.executable
    assert words[1] == ("-P" if sys.version_info >= (3, 11) else "-I")
    assert words[2:] == ["-m", "pip", "install", "httpx"]


def test_s37_without_pip_another_installer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("lionplug.host.requirements.distribution", missing)
    words = shlex.split(str(install_command("httpx>=1")))
    assert words == ["uv", "pip", "install", "--python", sys.executable, "httpx>=1"]


def test_s37_hostile_names_of_directories_are_quoted(world: World) -> None:
    host = make(world)
    root = world.plugins() / "x;touch pwned\n`id`"
    root.mkdir()
    (root / "plugin.yaml").write_text("name: 3\n")
    finding = only(host.diagnose(), "plugin-invalid")
    command = str(finding.command)
    assert command.isascii()
    assert command.isprintable()
    told = subprocess.run(
        ["bash", "-c", command.replace("lionplug info", "printf %s")],
        capture_output=True,
        check=True,
        cwd=world.root,
    )
    assert told.stdout.decode() == str(root)
    assert not (world.root / "pwned").exists()
    assert finding.text.isprintable()


def test_a_scope_that_can_only_be_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    host = make(world)
    monkeypatch.setattr("os.access", lambda *_, **__: False)  # as root, all can be written
    finding = only(host.diagnose(), "read-only")
    assert finding.severity == "warning"
    assert "nothing can be approved" in finding.text


def test_unapproved_because_nothing_is_trusted_is_told_once(world: World) -> None:
    host = make(world)
    for name in ("a", "b"):
        world.bundle(name)
    world.user.chmod(0o777)
    diagnosis = host.diagnose()
    assert codes(diagnosis) == ["permissions"]
    finding = only(diagnosis, "permissions")
    assert finding.command == f"chmod go-w {world.user}"
    assert "can be written by everybody" in finding.text
    assert "run:" not in finding.text


def test_a_damaged_file_of_approvals(world: World) -> None:
    host = make(world)
    world.bundle("a")
    (world.user / "trust.json").write_text("{")
    (world.user / "trust.json").chmod(0o600)
    host.plugins.refresh()
    diagnosis = host.diagnose()
    assert codes(diagnosis) == ["approvals-problem"]
    assert only(diagnosis, "approvals-problem").text.startswith("nothing is trusted: ")


def test_settings(world: World) -> None:
    host = make(world)
    (world.user / "settings.yaml").write_text("disabeld: [x]\n")
    (world.user / "settings.yaml").chmod(0o600)
    world.plugins("project")
    (world.project / ".lionplug" / "settings.yaml").write_text("safe_scopes: [/x]\n")
    found = [one for one in host.diagnose().findings if one.code == "settings"]
    assert [one.severity for one in found] == ["problem", "warning"]
    assert "disabled" in found[0].text
    assert "has no effect in the settings of a project" in found[1].text
    assert "notice" not in codes(host.diagnose(), "warning")


HOOK = "  hooks_external:\n    PreToolUse:\n      - hooks:\n{}"
COMMAND = "          - {type: command, command: [echo, hello]}\n"


def test_hooks_that_nothing_runs(world: World) -> None:
    class Specs:
        @hookspec
        def saved(self) -> None:
            """Called after saving."""

    host = make(world)
    host.add_hookspecs(Specs)
    _ = host.hook
    world.bundle("guard", manifest="capabilities:\n" + HOOK.format(COMMAND * 7))
    world.bundle(
        "other",
        {"a.py": "def f(): pass\n"},
        manifest="capabilities:\n  hookimpls:\n"
        "    - {hook: sent, target: 'a.py:f', optional: true}\n"
        "    - {hook: saved, target: 'a.py:f'}\n",
    )
    (world.user / "settings.yaml").write_text(HOOK.format(COMMAND).replace("  hooks", "hooks"))
    (world.user / "settings.yaml").chmod(0o600)
    host.plugins.refresh()
    texts = [one.text for one in host.diagnose().findings if one.code == "not-run"]
    assert any(
        text.startswith("not run: PreToolUse[0][0], ") and "and 2 more of user:guard" in text
        for text in texts
    )
    assert any(text.startswith("not run: sent of user:other; ") for text in texts)
    assert any(f"not run: PreToolUse[0][0] of {world.user}/settings.yaml" in one for one in texts)


def test_hooks_of_an_unknown_host_are_not_checked(world: World) -> None:
    host = make(world)
    world.bundle(
        "hooked",
        {"a.py": "def f(): pass\n"},
        manifest="capabilities:\n  hookimpls:\n    - {hook: saved, target: 'a.py:f'}\n",
    )
    assert "hooks-unchecked" in codes(host.diagnose(), "info")
    _ = host.hook
    diagnosis = host.diagnose()
    assert "hooks-unchecked" not in codes(diagnosis, "info")
    assert "implements the hook saved" in only(diagnosis, "requirement").text


def test_s19_a_project_on_the_search_path(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    host = make(world)
    assert "search-path" not in codes(host.diagnose(), "warning")
    monkeypatch.syspath_prepend(str(world.project))
    monkeypatch.syspath_prepend("")
    monkeypatch.syspath_prepend(str(world.project / "not-there"))
    found = [one.text for one in host.diagnose().findings if one.code == "search-path"]
    assert [text.partition(" is on sys.path")[0] for text in found] == [
        "'' (the working directory)",
        str(world.project),
    ]


def test_refused_names_are_worth_knowing(world: World) -> None:
    host = make(world)
    host.tools.reserve(["f"])
    world.bundle("clash", {"a.py": "def f(): return 1\n"}, tools={"f": "a.py:f"})
    trust(host, "clash")
    diagnosis = host.diagnose()
    assert not diagnosis.needs_person
    assert "lionplug itself has" in only(diagnosis, "refused-name").text


def test_what_is_left_out_of_a_scope_is_a_notice(world: World) -> None:
    host = make(world)
    (world.plugins() / "misnamed").mkdir()
    (world.plugins() / "misnamed" / "plugin.yml").touch()
    assert "plugin.yml" in only(host.diagnose(), "notice").text


def test_project_scopes(world: World) -> None:
    host = make(world)
    world.plugins("project")
    assert only(host.diagnose(), "project-scope").text == (
        f"project scope: {world.project / '.lionplug'}"
    )
    (world.project / ".lionplug").chmod(0o777)
    host.plugins.refresh()
    finding = only(host.diagnose(), "foreign-scope")
    assert finding.severity == "warning"
    assert f"(owner: uid {os.getuid()}" in finding.text


def test_a_scope_that_is_not_there_yet(tmp_path: Path) -> None:
    host = Host("lionplug", version="1", user_dir=str(tmp_path / "none"))
    diagnosis = host.diagnose()
    assert "made with the first approval" in only(diagnosis, "user-scope").text
    assert "no file yet" in only(diagnosis, "approvals").text


def test_the_interpreters_own_scripts_are_no_danger(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A virtual environment in a project: the directory of the script stands on the path."""
    scripts = world.project / ".venv" / "bin"
    scripts.mkdir(parents=True)
    monkeypatch.setattr(sys, "executable", str(scripts / "python"))
    monkeypatch.syspath_prepend(str(scripts))
    assert "search-path" not in codes(make(world).diagnose(), "warning")
