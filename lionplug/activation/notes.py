"""Naming the plugin whose code raised, on exceptions that pass through."""

from __future__ import annotations

from types import TracebackType
from typing import Any


def add_origin(error: BaseException, kind: str, name: str, plugin: str) -> None:
    """Add a note that says whose code raised, once for each plugin that it passes.

    Python 3.11 prints the notes with the traceback; 3.10 keeps them as ``__notes__``.

    :param error: The exception on its way through.
    :param kind: ``"hook"`` or ``"tool"``.
    :param name: Name of the hook or tool.
    :param plugin: Name of the plugin.
    """
    note = f"raised in {kind} {name} of plugin {plugin}"
    notes: Any = getattr(error, "__notes__", ())
    if note in notes:
        return
    try:
        # What add_note does, on every version.
        error.__notes__ = [*notes, note]  # type: ignore[attr-defined]
    except Exception:  # noqa: BLE001 - a plugin's exception class may refuse attributes
        return


class note_origin:  # noqa: N801 - reads as a statement: ``with note_origin(...):``
    """Context around the code of a plugin; adds the note to what it raises."""

    __slots__ = ("_kind", "_name", "_plugin")

    def __init__(self, kind: str, name: str, plugin: str) -> None:
        self._kind = kind
        self._name = name
        self._plugin = plugin

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, Exception):
            add_origin(error, self._kind, self._name, self._plugin)
