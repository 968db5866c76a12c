"""Settings are closed lists; what can't be read is read as strictly as possible (S26, S30)."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lionplug.files.limits import Limits
from lionplug.settings import PROJECT_KEYS, USER_KEYS, Everything, Settings, read_settings

USER = """\
# a comment
hooks_external:
  PreToolUse:
    - matcher: "web_.*"
      source: imported:other
      hooks:
        - {type: command, command: [/usr/bin/guard, "--x"], timeout: 3, source: user}
        - {type: command, command: [guard]}
disabled: [web-research, on]
safe_scopes: [/srv/shared, ~/work]
hook_env: {guard: [API_TOKEN]}
on_failure: {guard: continue}
pin_interpreters: true
max_hook_processes: 3
limits: {files: 20000, bytes: 1000000}
x-mine: [1]
"""

#: One line for each key of the user's settings.
LINES = {
    "hooks_external": "{PreToolUse: [{hooks: [{type: command, command: [x]}]}]}",
    "disabled": "[demo]",
    "safe_scopes": "[/srv]",
    "hook_env": "{demo: [TOKEN]}",
    "on_failure": "{demo: continue}",
    "pin_interpreters": "true",
    "max_hook_processes": "99",
    "limits": "{files: 99999}",
}


@pytest.fixture
def write(tmp_path):
    os.chmod(tmp_path, 0o700)

    def write(text: str | bytes) -> str:
        path = tmp_path / "settings.yaml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        os.chmod(path, 0o600)
        return str(path)

    return write


def test_a_users_settings(write):
    path = write(USER)
    found = read_settings(path, "user")
    assert found.problems == ()
    assert found.unreadable == frozenset()
    assert found.disabled == ("web-research", "on")
    assert found.safe_scopes == ("/srv/shared", "~/work")
    assert found.hook_env == {"guard": ("API_TOKEN",)}
    assert found.on_failure == {"guard": "continue"}
    assert found.pin_interpreters is True
    assert found.max_hook_processes == 3
    assert found.limits == Limits(entries=20_000, bytes=1_000_000, depth=32)
    assert [
        (hook.event, hook.place, hook.matcher, hook.argv, hook.timeout, hook.line)
        for hook in found.hooks_external
    ] == [
        ("PreToolUse", "PreToolUse[0][0]", "web_.*", ("/usr/bin/guard", "--x"), 3, 7),
        ("PreToolUse", "PreToolUse[0][1]", "web_.*", ("guard",), None, 8),
    ]
    assert found.line_of("disabled", "on") == 9
    assert found.line_of("hook_env", "guard") == 11
    assert found.line_of("hooks_external", "PreToolUse[0][1]") == 8
    assert found.line_of("disabled", "other") == 0
    with open(path) as file:
        assert file.read() == USER


@pytest.mark.parametrize("kind", ["user", "project"])
@pytest.mark.parametrize("text", [None, "", "# nothing\n", "{}"])
def test_no_file_and_an_empty_file_say_nothing(tmp_path, write, kind, text):
    path = write(text) if text is not None else str(tmp_path / "settings.yaml")
    assert read_settings(path, kind) == Settings(path=path, kind=kind)
    below = str(tmp_path / "absent" / "settings.yaml")
    assert read_settings(below, kind) == Settings(path=below, kind=kind)


def test_s26_the_lines_cover_the_whole_user_schema():
    assert tuple(LINES) == USER_KEYS
    assert set(PROJECT_KEYS) == {"hooks_external", "disabled"}


@pytest.mark.parametrize("key", [key for key in USER_KEYS if key not in PROJECT_KEYS])
def test_s26_a_users_key_in_a_project_changes_nothing_but_a_warning(write, key):
    assert read_settings(write(f"{key}: {LINES[key]}\n"), "user").problems == ()
    path = write(f"disabled: [demo]\n{key}: {LINES[key]}\n")
    found = read_settings(path, "project")
    plain = read_settings(write("disabled: [demo]\n"), "project")
    assert [str(problem) for problem in found.problems] == [
        f"{path}:2:1: {key}: '{key}' has no effect in the settings of a project; if you want it, "
        "write it in your own settings."
    ]
    for name in ("disabled", "hooks_external", "safe_scopes", "hook_env", "on_failure", "limits"):
        assert getattr(found, name) == getattr(plain, name)
    assert found.pin_interpreters == plain.pin_interpreters is False
    assert found.max_hook_processes == plain.max_hook_processes
    assert found.unreadable == frozenset()


@pytest.mark.parametrize(
    "line",
    [
        "trust: allow-installed",
        "plugins: {guard: {enabled: false}}",
        "trusted_plugins: {a: b}",
        "safe_scopes: {not: even right}",
        "limits: !!python/none",
    ],
)
def test_s26_other_keys_of_a_project_are_ignored_whatever_they_hold(write, line):
    found = read_settings(write(f"{line}\n"), "project")
    assert len(found.problems) == 1
    if "!!" in line:  # such a file can't be read at all
        assert found.unreadable == set(PROJECT_KEYS)
    else:
        assert found.problems[0].code == "ignored-key"
        assert found.disabled == ()


def test_keys_of_ones_own_are_kept_quiet(write):
    for kind in ("user", "project"):
        assert read_settings(write("x-a: 1\nx-b: {c: [d]}\n"), kind).problems == ()


def test_s26_a_project_says_what_it_may(write):
    found = read_settings(write(USER), "project")
    assert found.disabled == ("web-research", "on")
    assert [hook.argv for hook in found.hooks_external] == [
        ("/usr/bin/guard", "--x"),
        ("guard",),
    ]
    assert {problem.code for problem in found.problems} == {"ignored-key"}
    assert [problem.field for problem in found.problems] == [
        "safe_scopes",
        "hook_env",
        "on_failure",
        "pin_interpreters",
        "max_hook_processes",
        "limits",
    ]


@pytest.mark.parametrize(
    ("line", "strict"),
    [
        ("disabled: web", {"disabled": Everything}),
        ("disabled:", {"disabled": Everything}),
        ("disabled: [a, [b]]", {"disabled": Everything}),
        ("disabled: [[b]]", {"disabled": Everything}),
        ("pin_interpreters: yes", {"pin_interpreters": True}),
        ("max_hook_processes: many", {"max_hook_processes": 1}),
        ("limits: {files: -1}", {"limits": Limits()}),
        ("safe_scopes: [relative]", {"safe_scopes": ()}),
        ("hook_env: {a: ['b c']}", {"hook_env": {}}),
        ("on_failure: {a: allow}", {"on_failure": {}}),
        ("hooks_external: {PreToolUze: []}", {"hooks_external": ()}),
    ],
)
def test_of_a_key_that_cannot_be_read_the_strictest_reading_holds(write, line, strict):
    found = read_settings(write(f"{line}\n"), "user")
    assert len(found.problems) == 1
    assert found.problems[0].line == 1
    key = line.partition(":")[0]
    assert found.unreadable == {key}
    for name, value in strict.items():
        held = getattr(found, name)
        assert isinstance(held, value) if isinstance(value, type) else held == value


def test_good_keys_survive_bad_ones(write):
    found = read_settings(write("disabled: [a]\nlimits: 3\nlimist: 4\n"), "user")
    assert found.disabled == ("a",)
    assert found.limits == Limits()
    assert [(problem.code, problem.line) for problem in found.problems] == [
        ("type", 2),
        ("unknown-key", 3),
    ]


@pytest.mark.parametrize("kind", ["user", "project"])
@pytest.mark.parametrize("data", [b"a: [", b"[]", b"a: 1\na: 2\n", b"\xff", b"a: &x 1\n"])
def test_a_file_that_cannot_be_read_disables_everything_it_could(write, kind, data):
    found = read_settings(write(data), kind)
    assert found.problems
    assert "anything" in found.disabled
    assert repr(found.disabled) == "Everything()"
    assert found.unreadable == set(USER_KEYS if kind == "user" else PROJECT_KEYS)
    assert found.line_of("disabled", "anything") == found.problems[0].line
    assert found.hooks_external == ()


def test_a_users_file_that_others_can_write_disables_everything(write):
    path = write("disabled: [a]\n")
    os.chmod(path, 0o666)
    found = read_settings(path, "user")
    assert "b" in found.disabled
    assert [problem.code for problem in found.problems] == ["unreadable"]
    assert path in found.problems[0].message


@pytest.mark.parametrize("kind", ["user", "project"])
def test_what_is_no_regular_file_never_blocks(tmp_path, kind):
    os.chmod(tmp_path, 0o700)
    path = tmp_path / "settings.yaml"
    os.mkfifo(path, 0o600)
    assert "a" in read_settings(str(path), kind).disabled
    path.unlink()
    path.mkdir(mode=0o700)
    assert "a" in read_settings(str(path), kind).disabled


def test_a_link_in_a_project_is_not_followed(tmp_path, write):
    path = write("disabled: [a]\n")
    link = tmp_path / "project" / "settings.yaml"
    link.parent.mkdir()
    link.symlink_to(path)
    assert "b" in read_settings(str(link), "project").disabled


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.sampled_from([*USER_KEYS, "x-a", "other"]),
        st.sampled_from([*LINES.values(), "", "no", "[[]]", "{a: b}", "'", "!x"]),
    ),
    st.sampled_from(["user", "project"]),
)
def test_s30_whatever_stands_there_no_exception_and_the_file_stays(write, lines, kind):
    text = "".join(f"{key}: {value}\n" for key, value in lines.items())
    path = write(text)
    before = os.stat(path)
    found = read_settings(path, kind)
    assert isinstance(found, Settings)
    after = os.stat(path)
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)
    with open(path) as file:
        assert file.read() == text
