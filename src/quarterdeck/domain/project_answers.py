"""What is answered about projects and roles; the values of a role's variables never are."""

from pathlib import Path
from typing import Literal

from quarterdeck.domain.answer import SnakeAnswer
from quarterdeck.domain.json import JsonObject
from quarterdeck.domain.projects import Project, ProjectDefinition
from quarterdeck.domain.roles import NO_LIMIT, Role, RoleDefinition

MASK = "*" * 10
Source = Literal["file", "command", "built-in"]


class ProjectRow(SnakeAnswer):
    """One project of a list; `path` is where its repository or folder is."""

    id: str
    name: str
    description: str
    kind: Literal["repository", "folder"]
    path: Path
    source: Source


class ListAgentProjectsResponse(SnakeAnswer):
    """Every project, by name."""

    projects: list[ProjectRow]
    total_count: int


class RoleRow(SnakeAnswer):
    """One role of a list; `agent` is the known agent or the program behind it."""

    id: str
    name: str
    project_id: str | None = None
    description: str
    agent: str
    model: str | None = None
    source: Source


class ListAgentRolesResponse(SnakeAnswer):
    """The roles that agents of a project can have, by name."""

    project: str
    roles: list[RoleRow]
    total_count: int


class AllRolesResponse(SnakeAnswer):
    """Every role, by name."""

    roles: list[RoleRow]
    total_count: int


class DefinitionResponse(SnakeAnswer):
    """One project or role, with everything that is defined of it."""

    id: str
    name: str
    source: Source
    definition: JsonObject


class DefinedResponse(SnakeAnswer):
    """A project or role was added or removed."""

    id: str
    name: str
    message: str


class InstallResponse(SnakeAnswer):
    """`installed` is false when that version was there before."""

    agent: str
    version: str
    path: Path
    installed: bool
    message: str


def project_row(project: Project) -> ProjectRow:
    """Return a project as it is listed."""
    return ProjectRow(
        id=project.id,
        name=project.name,
        description=project.description,
        kind="repository" if project.repository else "folder",
        path=project.place,
        source=project.source,
    )


def role_row(role: Role, project: Project | None = None) -> RoleRow:
    """Return a role as it is listed, of a project or of all."""
    return RoleRow(
        id=role.id,
        name=role.name,
        project_id=project.id if project else None,
        description=role.description,
        agent=role.agent or role.command[0],
        model=role.model,
        source=role.source,
    )


def shown_project(project: Project) -> DefinitionResponse:
    """Return all that is defined of a project."""
    fields = project.model_dump(
        mode="json", include=set(ProjectDefinition.model_fields), exclude_none=True
    )
    return DefinitionResponse(
        id=project.id, name=project.name, source=project.source, definition=fields
    )


def shown_role(role: Role) -> DefinitionResponse:
    """Return all that is defined of a role; its variables may hold keys."""
    fields = role.model_dump(
        mode="json", include=set(RoleDefinition.model_fields), exclude_none=True
    )
    fields["env"] = dict.fromkeys(role.env, MASK)
    # A limit that was lifted is shown, as it is written.
    limits = role.limits.model_dump()
    fields["limits"] = {name: NO_LIMIT if most is None else most for name, most in limits.items()}
    return DefinitionResponse(id=role.id, name=role.name, source=role.source, definition=fields)
