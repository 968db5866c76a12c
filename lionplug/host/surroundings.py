"""Where a host looks and what its settings say: read anew for each generation."""

from __future__ import annotations

import os

from lionplug.discovery.found import FoundBundle, ScopeFolder
from lionplug.files.limits import Limits
from lionplug.scopes import ProjectScope, UserScope, find_project_scopes
from lionplug.settings import Settings, read_settings
from lionplug.text import exact

SETTINGS_FILE = "settings.yaml"


class Surroundings:
    """Scopes and settings of one generation.

    :param host: Name of the host.
    :param user: The user scope.
    """

    def __init__(self, host: str, user: UserScope) -> None:
        self.user = user
        self.notices: list[str] = []
        self._user_settings = self._read_user_settings()
        self.projects = self._find_projects(host)
        self._project_settings = {
            project.directory: self._read(project.directory, "project")
            for project in self.projects
            if project.kind == "project"
        }

    @property
    def limits(self) -> Limits:
        """Bounds of what is read of one bundle; only the user can raise them (S14)."""
        return self._user_settings.limits

    def folders(self) -> list[ScopeFolder]:
        """Return the scopes to search in canonical order: user, then outermost project first."""
        folders = []
        if self.user.path is not None:
            folders.append(
                ScopeFolder(
                    kind="user",
                    directory=self.user.path,
                    root=self.user.home or self.user.path,
                    rank=0,
                )
            )
        usable = [project for project in self.projects if project.kind == "project"]
        for rank, project in enumerate(reversed(usable), start=1):
            folders.append(
                ScopeFolder(
                    kind="project", directory=project.directory, root=project.root, rank=rank
                )
            )
        return folders

    def disabled_by(self, found: FoundBundle) -> str | None:
        """Say which file and line disable a bundle, and what to do about it.

        The user's settings disable any copy of a name; a project's only that project's own
        (security rule S26). A file that can't be read disables what it could disable.
        """
        places: list[tuple[str | None, Settings]] = [(self.user.path, self._user_settings)]
        if found.scope.kind == "project":
            directory = found.scope.directory
            settings = self._project_settings.get(directory)
            if settings is not None:
                places.append((directory, settings))
        for place, settings in places:
            if place is not None and found.name in settings.disabled:
                file = exact(os.path.join(place, SETTINGS_FILE))
                if "disabled" in settings.unreadable:
                    return f"{file} can't be read, so nothing is enabled; mend that file"
                line = settings.line_of("disabled", found.name)
                return f"disabled by {file}:{line}; remove that line to enable it"
        return None

    def _read_user_settings(self) -> Settings:
        if self.user.path is None or self.user.problem:
            return Settings()
        return self._read(self.user.path, "user")

    def _read(self, directory: str, kind: str) -> Settings:
        settings = read_settings(os.path.join(directory, SETTINGS_FILE), kind)
        self.notices += [str(problem) for problem in settings.problems]
        return settings

    def _find_projects(self, host: str) -> tuple[ProjectScope, ...]:
        try:
            here = os.getcwd()
        except OSError:
            return ()  # the working directory was deleted
        found = find_project_scopes(host, here, self.user, self._user_settings.safe_scopes)
        self.notices += [
            f"{exact(scope.directory)} offers nothing: {scope.problem}"
            for scope in found
            if scope.problem
        ]
        return tuple(found)

    def all_notices(self) -> list[str]:
        """Return all notices; first where the user scope is, if it was moved (S6)."""
        first = []
        if self.user.problem:
            first.append(self.user.problem)
        elif self.user.moved:
            first.append(f"user scope: {exact(str(self.user.path))} (from {self.user.source})")
        return [*first, *self.user.warnings, *self.notices]
