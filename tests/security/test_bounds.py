"""No repository keeps a host from starting."""

from __future__ import annotations

import pytest

from lionplug.discovery import bundles
from lionplug.discovery.bundles import BundleScanner
from tests.support import World


def test_s36_the_manifests_of_a_project_are_read_up_to_a_bound(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundles, "PROJECT_BYTES", 10_000)
    read = []
    scan = BundleScanner._read

    def counted(self, bundle, scope, location, name):
        found = scan(self, bundle, scope, location, name)
        read.append(found.manifest_signature[2])
        return found

    monkeypatch.setattr(BundleScanner, "_read", counted)
    for number in range(50):
        world.bundle(f"p{number:02}", manifest=f"# {'x' * 1000}\n", scope="project")
        world.bundle(f"u{number:02}", manifest=f"# {'x' * 1000}\n")
    host = world.host()
    for again in range(2):  # what is known already counts as well
        names = [plugin.name for plugin in host.plugins.all]
        assert names == [*(f"u{n:02}" for n in range(50)), *(f"p{n:02}" for n in range(9))]
        assert len(read) == 50 + 10 + again
        assert [n for n in host.plugins.notices if "were not looked at" in n] == [
            "the manifests of the project have more than 10,000 bytes; those from "
            f"{world.project}/.lionplug/plugins/p09 on were not looked at. "
            "Remove what is no plugin."
        ]
        host.plugins.refresh()
