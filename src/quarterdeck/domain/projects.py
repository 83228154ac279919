"""Projects: what agents work on, and how a workspace of it is made."""

import re
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from quarterdeck.domain.definitions import Definition, Line, Name, Text, same_name

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
    setup: Annotated[Text, StringConstraints(min_length=1, max_length=SETUP_LENGTH)] | None = None
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


class Project(ProjectDefinition):
    """A project that agents can work on; `id` stays the same while the rest is changed.

    `source` is where it is defined: a config file, a command, or Quarterdeck itself.
    """

    id: str
    name: Name
    source: Literal["file", "command", "built-in"] = "command"
