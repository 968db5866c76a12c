"""Scopes: the places where plugins, settings and approvals are looked for.

The *user scope* (``~/.HOST``) is the one place that can approve anything. *Project
scopes* (``.HOST`` directories between the working directory and its VCS root) offer
plugins, and nothing else that loosens.
"""

from __future__ import annotations

from lionplug.scopes.environment import environment_value
from lionplug.scopes.model import UserScope
from lionplug.scopes.project import ProjectScope, find_project_scopes
from lionplug.scopes.user import find_user_scope, user_scopes

__all__ = [
    "ProjectScope",
    "UserScope",
    "environment_value",
    "find_project_scopes",
    "find_user_scope",
    "user_scopes",
]
