"""What a user scope is: its place, who decided on it, and the names of the files in it."""

from __future__ import annotations

import os

from attrs import frozen

from lionplug.errors import ScopeError


@frozen(kw_only=True)
class UserScope:
    """Where a user's settings, approvals and plugins of one host are.

    :param path: Absolute path, links resolved; ``None`` if there is no usable place.
    :param source: What decided: ``argument``, ``LIONPLUG_HOME``, ``HOME``,
        ``password database`` or ``none``.
    :param home: The home directory that holds the scope, links resolved; ``None`` if the
        host's program gave another place. Project scopes are never looked for in it or
        above.
    :param moved: Whether the place is another than the password database gives.
    :param problem: Why nothing is trusted, and what to do; ``None`` if all is well.
    :param warnings: What was ignored, one sentence each.
    """

    path: str | None
    source: str
    home: str | None
    moved: bool
    problem: str | None
    warnings: tuple[str, ...] = ()

    def file(self, name: str) -> str:
        """Return the path of something in the scope.

        :raises ScopeError: if there is no user scope.
        """
        if self.path is None:
            raise ScopeError(self.problem or "There is no user scope; set HOME.")
        return os.path.join(self.path, name)

    @property
    def trust_file(self) -> str:
        """The approvals."""
        return self.file("trust.json")

    @property
    def lock_file(self) -> str:
        """The lock around a change of the approvals."""
        return self.file("trust.lock")

    @property
    def approved(self) -> str:
        """The approved trees."""
        return self.file("approved")

    @property
    def seals(self) -> str:
        """What the files of the approved trees looked like when they were stored."""
        return self.file("seals")

    @property
    def leases(self) -> str:
        """Which approved trees are in use."""
        return self.file("leases")

    @property
    def staging(self) -> str:
        """Copies that nobody approved yet."""
        return self.file("staging")

    @property
    def aside(self) -> str:
        """What was found damaged, kept for the user to look at."""
        return self.file("aside")

    @property
    def settings_file(self) -> str:
        """The settings, which only the user writes."""
        return self.file("settings.yaml")

    @property
    def plugins(self) -> str:
        """The user's own plugins."""
        return self.file("plugins")

    @property
    def data(self) -> str:
        """What plugins keep for themselves."""
        return self.file("data")
