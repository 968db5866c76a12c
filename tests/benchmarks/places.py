"""What is measured on: many approved bundles, and an installation in which nothing is compiled."""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Collection
from functools import partial
from pathlib import Path

import pluggy

from lionplug.files.limits import Limits
from lionplug.files.writing import replace_file
from lionplug.manifest.parse import parse_manifest
from lionplug.scopes import find_user_scope
from lionplug.trust.document import dump_document, new_document
from lionplug.trust.record import Record
from lionplug.trust.staging import stage
from lionplug.trust.store import Store
from tests.support import World

ROOT = Path(__file__).parents[2]


def approve_all(world: World, *, store: Collection[str], host: str = "lionplug") -> None:
    """Approve every bundle of the user scope, in one writing instead of one for each.

    :param store: Names of those that are called, whose approved trees are needed.
    """
    scope = find_user_scope(host, str(world.user))
    read = partial(parse_manifest, host=host)
    document = new_document()
    for folder in sorted(world.plugins().iterdir()):
        with stage(str(folder), scope, Limits(), read) as staged:
            if folder.name in store:
                Store(scope).publish(staged)
            document["records"].append(Record.of(staged, scope_kind="user").to_dict())
    replace_file(scope.trust_file, dump_document(document))


def write_tools(world: World, count: int, host: str = "lionplug") -> None:
    """Write ``count`` bundles with one tool each: ``bundle-0007`` has ``tool_0007``."""
    for number in range(count):
        name = f"bundle-{number:04}"
        world.bundle(
            name,
            {"tools.py": "def run():\n    return 1\n"},
            manifest=(
                f"name: {name}\nversion: 1.0.0\n{host}: '>=0'\n"
                f"capabilities:\n  tools:\n"
                f"    - name: tool_{number:04}\n      target: tools.py:run\n"
            ),
        )


class Installation:
    """An environment with lionplug and pluggy side by side, every module of it compiled.

    :param folder: Where it is made.
    """

    def __init__(self, folder: Path) -> None:
        self.python = str(folder / "bin/python")
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        paths = {name: sysconfig.get_path(name) for name in ("purelib", "platlib")}
        purelib = folder / Path(paths["purelib"]).relative_to(sys.prefix)
        packages = [
            ROOT / "lionplug",
            ROOT / "hookspecs/lionplug_hookspecs",
            ROOT / "contrib/lionplug_contrib",
            Path(pluggy.__file__).parent,
        ]
        for package in packages:
            shutil.copytree(
                package, purelib / package.name, ignore=shutil.ignore_patterns("__pycache__")
            )
        # What is in the folder of an editable install stays unseen: its .pth is not read.
        others = dict.fromkeys(paths.values())
        (purelib / "dependencies.pth").write_text("".join(f"{path}\n" for path in others))
        for compiled in (str(purelib), *others):
            compileall.compile_dir(compiled, quiet=2)
        self.script = folder / "bin/lionplug"
        self.script.write_text(
            f"#!{self.python}\nimport sys\nfrom lionplug.cli.main import main\nsys.exit(main())\n"
        )

    def environment(self, home: Path | None = None) -> dict[str, str]:
        """Return the variables of its processes."""
        return {
            "HOME": str(home or self.home),
            "PATH": os.defpath,
            "LC_ALL": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def run(self, code: str) -> list[str]:
        """Return the command line of a process that runs a line of code."""
        return [self.python, "-c", code]
