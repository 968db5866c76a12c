"""Other processes of the same user: pickles and spawned children find approved modules."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from lionplug.activation.resolving import find_namespace
from lionplug.files.limits import Limits
from lionplug.manifest.parse import parse_manifest
from lionplug.scopes import UserScope, user_scopes
from lionplug.trust.record import Record
from lionplug.trust.staging import stage
from lionplug.trust.store import Store
from lionplug.trust.trust_file import TrustFile
from tests.activation.support import write

MANIFEST = "name: web\nversion: '1'\nmyhost: '>=0'\n"
SOURCE = """
import os
import helper
class Job:
    def __init__(self, n): self.n = n
    def __eq__(self, other): return self.n == other.n
def double(job): return Job(helper.twice(job.n)), os.getpid(), __plugin_data__
"""


class Home:
    """A home directory with one approved bundle of the host ``myhost``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "home"
        self.elsewhere = folder / "elsewhere"
        self.elsewhere.mkdir()
        self.live = self.path / ".myhost" / "plugins" / "web"
        write(self.live, {"plugin.yaml": MANIFEST, "jobs.py": SOURCE})
        write(self.live, {"helper.py": "def twice(n): return 2 * n"})
        (self.path / ".myhost").chmod(0o700)
        for other in (".empty", ".broken"):
            (self.path / other).mkdir(mode=0o700)
        (self.path / ".broken" / "trust.json").write_text("{")
        self.scope = UserScope(
            path=str(self.path / ".myhost"),
            source="HOME",
            home=str(self.path),
            moved=True,
            problem=None,
        )
        self.trust = TrustFile(self.scope)

        def read(data: bytes):  # type: ignore[no-untyped-def]
            return parse_manifest(data, host="myhost")

        with stage(str(self.live), self.scope, Limits(), read) as staged:
            Store(self.scope).publish(staged)
            self.record = Record.of(staged, scope_kind="user")
        self.trust.approve(self.record)

    def run(self, source: str, *arguments: str) -> str:
        script = self.folder / "script.py"
        script.write_text(textwrap.dedent(source))
        done = subprocess.run(
            [sys.executable, str(script), *arguments],
            env={"HOME": str(self.path), "PYTHONPATH": str(Path(__file__).parents[2])},
            cwd=self.elsewhere,  # a home inside the working directory is refused (S6)
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def tree(self) -> Path:
        return Path(Store(self.scope).open(self.record.tree).root)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    tmp_path.chmod(0o700)
    return Home(tmp_path)


ATTACHED = """
    import multiprocessing, os, pickle, sys
    from lionplug.activation import importer, resolving
    from lionplug.activation.namespace import package_name
    from lionplug.scopes import find_user_scope
    from lionplug.trust.trust_file import TrustFile
    from tests.activation.support import ref

    def attached():
        scope = find_user_scope("myhost")
        (record,) = TrustFile(scope).read().records.values()
        package = package_name(record.name, scope.path, record.location, record.tree)
        namespace = resolving.find_namespace(package)
        importer.attach(namespace)
        names = "jobs.py:double", "jobs.py:Job"
        return [importer.load(namespace, ref(name)) for name in names]
"""

PICKLE = (
    ATTACHED
    + """
    double, Job = attached()
    with open(sys.argv[1], "wb") as file:
        pickle.dump((double, Job(4)), file)
"""
)

UNPICKLE = """
    import pickle, sys
    try:
        with open(sys.argv[1], "rb") as file:
            double, job = pickle.load(file)
    except ModuleNotFoundError as error:
        print(error)
    else:
        print(double(job)[0].n, double.__module__.rpartition(".")[2])
        assert sys.modules[double.__module__].__file__.startswith(sys.argv[2])
"""


def test_s17_a_spawned_child_resolves_the_modules(home: Home) -> None:
    source = (
        ATTACHED
        + """
    if __name__ == "__main__":
        double, Job = attached()
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            answer, process, data = pool.map(double, [Job(4)])[0]
        assert process != os.getpid()
        print(answer.n, data == sys.modules[double.__module__].__plugin_data__)
    """
    )
    assert home.run(source) == "8 True\n"


def test_s17_a_pickle_is_resolved_by_a_record_in_force_only(home: Home) -> None:
    file = str(home.folder / "pickle")
    home.run(PICKLE, file)
    assert home.run(UNPICKLE, file, str(home.tree)) == "8 jobs\n"
    refusal = ": no approval in force is behind it. The plugin was revoked or changed, or belongs"

    home.trust.set_disabled("web", home.record.location, True)
    assert refusal in home.run(UNPICKLE, file, "")
    home.trust.set_disabled("web", home.record.location, False)
    assert home.run(UNPICKLE, file, str(home.tree)) == "8 jobs\n"

    home.trust.revoke(location=home.record.location)
    assert refusal in home.run(UNPICKLE, file, "")


def package_of(home: Home) -> str:
    from lionplug.activation.namespace import package_name

    record = home.record
    return package_name(record.name, str(home.scope.path), record.location, record.tree)


@pytest.fixture
def at_home(home: Home, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Let this process live in the home directory as well."""
    found = {"lionplug": home.scope, "myhost": home.scope}

    def find(host: str, user_dir: str | None = None) -> UserScope:
        return found.get(host) or user_scopes.find(host, str(home.path / f".{host}"))

    monkeypatch.setattr("lionplug.activation.resolving.find_user_scope", find)
    return home


def test_a_namespace_is_found_as_the_host_would_have_made_it(at_home: Home) -> None:
    namespace = find_namespace(package_of(at_home))
    assert namespace is not None
    assert namespace.package == package_of(at_home)
    assert namespace.location == str(at_home.live)
    assert namespace.tree.digest == at_home.record.tree
    assert find_namespace("lionplug.bundles.other_00") is None


def test_s15_a_tree_that_is_not_what_was_approved_is_not_found(at_home: Home) -> None:
    helper = at_home.tree / "helper.py"
    helper.chmod(0o600)
    helper.write_text("def twice(n): return 0")
    assert find_namespace(package_of(at_home)) is None


def test_s31_a_file_of_approvals_that_others_may_write_approves_nothing(at_home: Home) -> None:
    (at_home.path / ".myhost" / "trust.json").chmod(0o666)
    assert find_namespace(package_of(at_home)) is None


def test_without_a_home_nothing_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for home in (None, str(tmp_path / "missing")):
        scope = UserScope(path=None, source="none", home=home, moved=False, problem="none")
        monkeypatch.setattr(
            "lionplug.activation.resolving.find_user_scope", lambda host, scope=scope: scope
        )
        assert find_namespace("lionplug.bundles.web_0") is None
