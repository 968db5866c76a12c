"""What was imported when: the rows of ``host.activations``."""

from __future__ import annotations

from attrs import frozen


@frozen
class Activation:
    """One module of a plugin, imported.

    :ivar module: Path of the file relative to the bundle, such as ``tools/search.py``.
    :ivar plugin: Name of the plugin.
    :ivar hook: The hook whose call caused it; empty if the plugin's own code did later.
    :ivar milliseconds: Wall time, the modules that it imported in turn included.
    """

    module: str
    plugin: str
    hook: str
    milliseconds: float


class ActivationLog:
    """Rows in the order in which the imports ended; appended to from any thread."""

    def __init__(self) -> None:
        self._rows: list[Activation] = []

    def add(self, row: Activation) -> None:
        """Append one row."""
        self._rows.append(row)

    @property
    def rows(self) -> tuple[Activation, ...]:
        """The rows so far."""
        return tuple(self._rows)
