"""What every repository of projects and roles promises, on both databases."""

from pathlib import Path

import pytest

from quarterdeck.domain.projects import Project
from quarterdeck.domain.roles import Limits, PermissionPolicy, Role
from tests.support.stores import NOON, Database

FULL = Project.model_validate(
    {
        "id": "1",
        "name": "My Site",
        "seeded_by": "node-1",
        "description": "Where visitors land",
        "repository": "/srv/site",
        "base": "main",
        "copy": [".env", "config/local.toml"],
        "setup": "make deps\nmake build",
        "default_role": "coder",
        "roles": ["coder", "tester"],
        "taskfile": "tasks/Taskfile.yml",
    }
)


async def put(database: Database, *projects: Project) -> None:
    for each in projects:
        await database.store.write(lambda tx, new=each: database.projects.put(tx, new, NOON))


async def listed(database: Database) -> list[Project]:
    return list(await database.store.read(database.projects.list))


def folder(project_id: str, name: str) -> Project:
    return Project(id=project_id, name=name, folder=Path("/srv"))


async def test_a_project_is_listed_as_it_was_put(database: Database) -> None:
    await put(database, FULL)
    assert await listed(database) == [FULL]


async def test_a_role_is_listed_as_it_was_put(database: Database) -> None:
    role = Role(
        id="1",
        name="coder",
        agent="claude",
        env={"KEY": "ünï"},
        limits=Limits(turns=None, minutes=0.5, cost=3),
        permission=PermissionPolicy(kinds={"read": "allow"}),
        quarterdeck=("read",),
        resume=False,
    )
    await database.store.write(lambda tx: database.roles.put(tx, role, NOON))
    assert list(await database.store.read(database.roles.list)) == [role]


async def test_projects_are_listed_by_name_without_regard_to_case(database: Database) -> None:
    await put(database, folder("1", "b"), folder("2", "C"), folder("3", "A"), folder("4", "Ä"))
    assert [project.name for project in await listed(database)] == ["A", "b", "C", "Ä"]


async def test_a_project_replaces_the_one_with_its_id(database: Database) -> None:
    await put(database, folder("1", "before"), folder("2", "other"), folder("1", "after"))
    assert [project.name for project in await listed(database)] == ["after", "other"]


async def test_no_two_projects_have_the_same_name_in_any_spelling(database: Database) -> None:
    await put(database, folder("1", "Straße"))
    with pytest.raises(Exception, match=r"(?i)unique"):
        await put(database, folder("2", "STRASSE"))


async def test_a_removed_project_is_gone_and_its_name_is_free(database: Database) -> None:
    await put(database, folder("1", "site"))
    removed = [
        await database.store.write(lambda tx: database.projects.remove(tx, "1")) for _ in range(2)
    ]
    assert removed == [True, False]
    await put(database, folder("2", "Site"))
    assert [project.id for project in await listed(database)] == ["2"]
