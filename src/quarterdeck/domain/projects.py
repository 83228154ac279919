"""Projects: what agents work on, and how a workspace of it is made."""

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from quarterdeck.domain.definitions import (
    BUILT_IN,
    Defined,
    Definition,
    Line,
    Name,
    no_nul,
    same_name,
)
from quarterdeck.domain.roles import DEFAULT_ROLE, Role
from quarterdeck.errors import RoleNotFound

DEMO = "Demo"
BRANCH_LENGTH = 200
SETUP_LENGTH = 10_000

# Stricter than git: what starts with a dash would be taken for an option.
_BRANCH = re.compile(r"(?![-/.])(?!.*(?:\.\.|//|@\{|\.lock$|[/.]$))[^\s\x00-\x1f\x7f~^:?*\[\\]+")


def _absolute(path: Path) -> Path:
    try:
        expanded = path.expanduser()
    except RuntimeError as error:
        raise ValueError("names the home of a user who has none") from error
    if not expanded.is_absolute():
        raise ValueError("must be an absolute path, or start with ~/")
    return expanded


def _inside(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or parts[0] == "/" or ".." in parts or "\0" in path:
        raise ValueError("must be a path inside the repository")
    return path


def _branch(name: str) -> str:
    if not _BRANCH.fullmatch(name):
        raise ValueError("must be the name of a branch")
    return name


Absolute = Annotated[Path, AfterValidator(_absolute)]
Inside = Annotated[str, AfterValidator(_inside)]
Branch = Annotated[str, StringConstraints(max_length=BRANCH_LENGTH), AfterValidator(_branch)]

ShellCommand = Annotated[
    str, StringConstraints(min_length=1, max_length=SETUP_LENGTH), AfterValidator(no_nul)
]


class ProjectDefinition(Definition):
    """A project as a user writes it, in a file or by a command.

    With a `repository` each agent gets a worktree on a branch of its own, made from `base` (its
    present branch, when unset); with a `folder` all share that folder. `copy_files` (`copy` in
    the file) are taken along although git does not know them, and `setup` is a shell command run
    in a new workspace. No `roles` means all.
    """

    description: Line = ""
    repository: Absolute | None = None
    folder: Absolute | None = None
    base: Branch | None = None
    copy_files: tuple[Inside, ...] = Field(default=(), alias="copy")
    setup: ShellCommand | None = None
    default_role: Name | None = None
    roles: tuple[Name, ...] = ()
    taskfile: Path | None = None

    @model_validator(mode="after")
    def _has_one_place(self) -> "ProjectDefinition":
        if bool(self.repository) == bool(self.folder):
            raise ValueError("must have either a repository or a folder")
        if self.folder and (self.base or self.copy_files):
            raise ValueError("base and copy are for a repository, and it has a folder")
        known = [same_name(role) for role in self.roles]
        if known and self.default_role and same_name(self.default_role) not in known:
            raise ValueError("default_role must be one of roles")
        return self

    @property
    def place(self) -> Path:
        """Return the repository or the folder."""
        place = self.repository or self.folder
        assert place is not None  # checked when it was made
        return place


class Project(ProjectDefinition, Defined):
    """A project that agents can work on."""


def built_in_project(place: Path, *, is_repository: bool) -> Project:
    """Return the project that is there as long as nobody has defined one."""
    return Project(
        id="5c7a1f0e-93c1-5d0b-8a53-3c3c5d0f6b02",
        name=DEMO,
        seeded_by=BUILT_IN,
        description="Small Python project to try Quarterdeck with",
        repository=place if is_repository else None,
        folder=None if is_repository else place,
    )


def roles_of(project: Project, roles: Sequence[Role]) -> Sequence[Role]:
    """Return the roles that agents of a project can have; unless it names some, all of them."""
    named = {same_name(name) for name in project.roles}
    return [role for role in roles if not named or same_name(role.name) in named]


class RoleChoice(NamedTuple):
    """The role for a new agent; `remark` says why it is not the one that was asked for."""

    role: Role
    remark: str | None = None


def choose_role(project: Project, roles: Sequence[Role], wanted: str) -> RoleChoice:
    """Return the role of a project that `wanted` names.

    The name that stands for whichever role there is need not exist: the project's default role
    is meant then, or else its only one.

    Raises:
        RoleNotFound: There is none of that name; it lists the roles there are.
    """
    offered = {same_name(role.name): role for role in roles_of(project, roles)}
    if found := offered.get(same_name(wanted)):
        return RoleChoice(found)
    only = next(iter(offered)) if len(offered) == 1 else ""
    instead = offered.get(same_name(project.default_role or only))
    if instead is None or same_name(wanted) != DEFAULT_ROLE:
        raise RoleNotFound(wanted, project.name, [role.name for role in offered.values()])
    return RoleChoice(
        instead,
        f"project {project.name!r} has no role {wanted!r}, so its"
        f" {'default' if project.default_role else 'only'} role {instead.name!r} was taken",
    )
