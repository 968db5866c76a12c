"""Where a capability stands in the manifest: a normal form keeps no lines and columns."""

from __future__ import annotations

from lionplug.documents.nodes import Mapping, Node, Scalar, Sequence
from lionplug.documents.problems import field_path
from lionplug.errors import Problem
from lionplug.manifest.capability import Capability
from lionplug.manifest.parse import MANIFEST_FILE

#: Keys that single an entry out in a list of mappings, whatever the surface.
_KEYS = ("name", "hook", "target")


class Places:
    """Finds the entries of a manifest.

    :param document: The manifest as nodes.
    """

    def __init__(self, document: Mapping) -> None:
        self._document = document
        self._found: dict[tuple[str, str], tuple[int, Mapping]] = {}
        capabilities = document.get("capabilities")
        for surface, entries in capabilities.items if isinstance(capabilities, Mapping) else ():
            for index, entry in enumerate(entries.items if isinstance(entries, Sequence) else ()):
                if isinstance(entry, Mapping):
                    self._add(surface.text, index, entry)

    def _add(self, surface: str, index: int, entry: Mapping) -> None:
        for key in _KEYS:
            value = entry.get(key)
            if isinstance(value, Scalar):
                self._found.setdefault((surface, value.text), (index, entry))

    def problem(
        self, capability: Capability, key: str, code: str, message: str, *inner: str
    ) -> Problem:
        """Return a problem of a capability, at the place of one of its keys.

        :param key: The key; where the entry lacks it, the entry is the place.
        :param inner: Keys on the way further down, as far as there are such.
        """
        steps: list[str | int] = ["capabilities", capability.surface]
        node: Node = self._document
        found = self._found.get((capability.surface, capability.name)) or self._found.get(
            (capability.surface, capability.target)
        )
        if found:
            steps.append(found[0])
            node = found[1]
            for step in (key, *inner):
                below = node.get(step) if isinstance(node, Mapping) else None
                if below is None:
                    break
                steps.append(step)
                node = below
        return Problem(
            code,
            message,
            file=MANIFEST_FILE,
            line=node.line,
            column=node.column,
            field=field_path(steps),
        )
