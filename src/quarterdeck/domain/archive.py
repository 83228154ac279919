"""Archives: what belongs in one, and what it says of itself.

An archive is a zip with a manifest, the database as a SQLite file (whatever database it was
taken from), and the home's own files. The home's identity (`node`), its access key (`token`),
locks, logs and older copies never belong in it; `env` holds secrets and only goes in when asked.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from quarterdeck.domain.answer import Answer

FORMAT = 1
MANIFEST = "manifest.json"
DATABASE = "database.sqlite"
HOME_FILES = ("config.toml", "metadata.yaml")
HOME_FOLDERS = ("policies", "workflows")
SECRET_FILES = ("env",)

MOST_FILES = 10_000
MOST_FILE_BYTES = 16 * 1024 * 1024
MOST_MANIFEST_BYTES = 4 * 1024 * 1024
MOST_DEPTH = 12

_PART = re.compile(r"[^\x00-\x1f\x7f/\\]{1,200}")


class Contents(Answer):
    """How much a database holds; `newest_memory_at` is when its newest entry was stored."""

    counts: Mapping[str, int]
    newest_memory_at: datetime | None = None


class Member(BaseModel):
    """A file of an archive; `name` is its path in the home, or `DATABASE`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    size: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


class Manifest(BaseModel):
    """What an archive says of itself; written and read strictly."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    product: Literal["quarterdeck"] = "quarterdeck"
    format: int = FORMAT
    version: str
    revision: str
    source: Literal["sqlite", "postgresql"]
    created_at: datetime
    secrets: bool
    contents: Contents
    database: Member
    files: Sequence[Member]


class FileChanges(Answer):
    """What a restore does to the home's own files; those that are the same are not named."""

    replaced: Sequence[str] = ()
    added: Sequence[str] = ()
    removed: Sequence[str] = ()


class BackupResponse(Answer):
    """A finished backup."""

    path: str
    size: int
    created_at: datetime
    revision: str
    secrets: bool
    contents: Contents
    files: Sequence[str]


class RestorePlan(Answer):
    """What would be replaced by what."""

    archive: str
    created_at: datetime
    version: str
    revision: str
    now: Contents
    then: Contents
    files: FileChanges


class RestoreResponse(Answer):
    """What was restored, and where the state before it is kept; nothing when it was declined."""

    restored: bool
    plan: RestorePlan
    saved_as: str | None = None


def is_home_file(name: str) -> bool:
    """Tell whether an archive may hold this path; everything else stays out of the home."""
    if name in (*HOME_FILES, *SECRET_FILES):
        return True
    first, *rest = name.split("/")
    is_plain = all(_PART.fullmatch(part) and part not in {".", ".."} for part in rest)
    return first in HOME_FOLDERS and 0 < len(rest) <= MOST_DEPTH and is_plain


def is_secret(name: str) -> bool:
    """Tell whether a path is left out unless it is asked for."""
    return name in SECRET_FILES
