from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import cast

import pytest

from quarterdeck.domain.definitions import Changes, defined, seed
from quarterdeck.domain.projects import Project, ProjectDefinition
from quarterdeck.errors import InvalidInput

HERE, ELSEWHERE = "node-1", "node-2"


def folder(place: str = "/srv") -> ProjectDefinition:
    return ProjectDefinition(folder=Path(place))


def project(name: str, place: str = "/srv", *, seeded_by: str | None = HERE) -> Project:
    return Project(id=f"id of {name}", name=name, folder=Path(place), seeded_by=seeded_by)


def seeded(wanted: Mapping[str, ProjectDefinition], *stored: Project) -> Changes[Project]:
    numbers = count(1)
    new_id = lambda: f"new {next(numbers)}"  # noqa: E731 - one line says it
    return seed(Project, wanted, stored, node_id=HERE, new_id=new_id)


def test_what_the_file_defines_anew_is_put_with_a_new_id() -> None:
    (new,) = seeded({"Site": folder()}).put
    assert (new.id, new.name, new.source, new.place) == ("new 1", "Site", "file", Path("/srv"))


def test_a_file_that_says_what_is_stored_changes_nothing() -> None:
    assert seeded({"Site": folder()}, project("Site")) == Changes([], [])


def test_a_changed_definition_keeps_its_id_and_takes_the_files_spelling() -> None:
    (new,) = seeded({"SITE": folder("/opt")}, project("Site")).put
    assert (new.id, new.name, new.place) == ("id of Site", "SITE", Path("/opt"))


def test_what_the_file_no_longer_defines_is_removed() -> None:
    gone = project("Site")
    assert seeded({}, gone) == Changes([], [gone])


@pytest.mark.parametrize("seeded_by", [None, ELSEWHERE])
def test_what_a_command_or_another_node_made_is_left_alone(seeded_by: str | None) -> None:
    assert seeded({}, project("Site", seeded_by=seeded_by)) == Changes([], [])


@pytest.mark.parametrize("seeded_by", [None, ELSEWHERE])
def test_the_file_wins_over_what_has_the_same_name(seeded_by: str | None) -> None:
    (new,) = seeded({"Site": folder("/opt")}, project("Site", seeded_by=seeded_by)).put
    assert (new.id, new.seeded_by, new.place) == ("id of Site", HERE, Path("/opt"))


def test_a_command_is_told_everything_that_is_wrong() -> None:
    with pytest.raises(InvalidInput) as refused:
        defined(Project, {"repository": "x", "bse": "main"}, name="a/b", with_id="1")
    fields = cast("list[dict[str, str]]", refused.value.details["fields"])
    assert {field["field"] for field in fields} == {"repository", "bse", "name"}
