from pathlib import Path

import pytest
from pydantic import ValidationError

from quarterdeck.domain.definitions import Flaw, flaws_of
from quarterdeck.domain.projects import Project, ProjectDefinition


def flaws(**fields: object) -> list[Flaw]:
    with pytest.raises(ValidationError) as refused:
        ProjectDefinition.model_validate(fields)
    return list(flaws_of(refused.value, ProjectDefinition))


def test_a_project_is_a_repository_or_a_folder() -> None:
    assert ProjectDefinition(repository=Path("/srv/site")).place == Path("/srv/site")
    assert ProjectDefinition(folder=Path("/srv/notes")).place == Path("/srv/notes")


@pytest.mark.parametrize("fields", [{}, {"repository": "/srv/a", "folder": "/srv/b"}])
def test_a_project_without_a_place_or_with_two_is_refused(fields: dict[str, object]) -> None:
    assert flaws(**fields) == [Flaw((), "must have either a repository or a folder")]


def test_what_is_for_repositories_is_refused_for_a_folder() -> None:
    (flaw,) = flaws(folder="/srv/notes", base="main")
    assert "base and copy are for a repository" in flaw.problem


def test_a_path_may_start_at_the_home_of_its_user() -> None:
    project = ProjectDefinition.model_validate({"repository": "~/site"})
    assert project.place == Path.home() / "site"


def test_a_relative_path_is_refused_because_nobody_knows_where_it_starts() -> None:
    (flaw,) = flaws(repository="site")
    assert flaw == Flaw(("repository",), "must be an absolute path, or start with ~/")


@pytest.mark.parametrize("path", ["../secrets", "/etc/passwd", "a/../../b", ""])
def test_only_files_inside_the_repository_are_copied(path: str) -> None:
    (flaw,) = flaws(repository="/srv/site", copy=[path])
    assert flaw.place == ("copy", "0")


@pytest.mark.parametrize("branch", ["-x", "--upload-pack=x", "a b", "a..b", "a/", "", "a.lock"])
def test_what_git_would_misread_is_no_branch(branch: str) -> None:
    (flaw,) = flaws(repository="/srv/site", base=branch)
    assert flaw == Flaw(("base",), "must be the name of a branch")


@pytest.mark.parametrize("branch", ["main", "release/1.2", "änderung"])
def test_an_ordinary_branch_is_taken(branch: str) -> None:
    assert ProjectDefinition(repository=Path("/srv/site"), base=branch).base == branch


def test_the_default_role_is_one_of_the_roles_in_any_spelling() -> None:
    fields = {"repository": "/srv/site", "roles": ["Coder"]}
    assert ProjectDefinition.model_validate({**fields, "default_role": "coder"})
    assert flaws(**fields, default_role="tester") == [Flaw((), "default_role must be one of roles")]


@pytest.mark.parametrize("name", ["Setup", "My Site", "c++", "R&D 2", "naïve", "a" * 64])
def test_a_sensible_name_is_taken(name: str) -> None:
    assert Project(id="1", name=name, folder=Path("/srv")).name == name


@pytest.mark.parametrize(
    "name", ["", " a", "a ", "a  b", "-a", "a\nb", "a/b", "A (coder)", "a" * 65]
)
def test_a_name_that_would_be_misread_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        Project(id="1", name=name, folder=Path("/srv"))
