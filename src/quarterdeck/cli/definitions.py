"""What the commands for projects and those for roles have in common."""

from pathlib import Path
from typing import TYPE_CHECKING

from quarterdeck.cli.render import print_table

if TYPE_CHECKING:
    from quarterdeck.domain.json import JsonObject, JsonValue
    from quarterdeck.domain.project_answers import DefinitionResponse


def given(**fields: "JsonValue") -> "JsonObject":
    """Return the options that were used; what was not is left to its default."""
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}


def print_definition(answer: "DefinitionResponse") -> None:
    """Print one line a field; those that hold nothing are left out."""
    from quarterdeck.domain.json import dump

    lines = [("name", answer.name), ("id", answer.id), ("source", answer.source)]
    for name, value in given(**answer.definition).items():
        lines.append((name, value if isinstance(value, str) else dump(value)))
    print_table(("FIELD", "VALUE"), lines)


def is_repository(place: Path) -> bool:
    """Say whether git would take a folder for a repository."""
    # A worktree has a file of that name, and a bare repository has the contents instead.
    return (place / ".git").exists() or (place / "HEAD").is_file()
