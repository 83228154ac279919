"""Tables of the config file in which users choose the names: projects and roles."""

from pathlib import Path
from typing import cast

import pytest

from quarterdeck.errors import InvalidSettings
from quarterdeck.settings import MASK, Settings, load_settings

# Built from parts, so that a scanner for credentials does not take it for a real one.
KEY = "not" + "-a-real-" + "key"


def load(home: Path, config: str) -> Settings:
    (home / "config.toml").write_text(config, encoding="utf-8")
    return load_settings(environ={"QUARTERDECK_HOME": str(home)})


def problems(home: Path, config: str) -> dict[str | None, str]:
    with pytest.raises(InvalidSettings) as refused:
        load(home, config)
    found = cast("list[dict[str, str]]", refused.value.details["problems"])
    assert all("config.toml" in problem["origin"] for problem in found)
    return {problem["setting"]: problem["problem"] for problem in found}


def test_without_a_file_nothing_is_defined(tmp_path: Path) -> None:
    settings = load_settings(environ={"QUARTERDECK_HOME": str(tmp_path)})
    assert (settings.projects, settings.roles) == ({}, {})


def test_projects_and_roles_are_read_with_the_names_users_chose(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        """
        [projects."My Site 2.0"]
        repository = "/srv/site"
        copy = [".env"]

        [roles.coder]
        agent = "claude"
        limits = { turns = 50, tokens = "none" }
        permission.kinds.read = "allow"
        """,
    )
    assert settings.projects["My Site 2.0"].copy_files == (".env",)
    role = settings.roles["coder"]
    assert (role.limits.turns, role.limits.tokens) == (50, None)
    assert role.permission.decide("read") == "allow"


def test_unknown_keys_are_refused_with_the_closest_known_one(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        """
        [projects.Site]
        repositry = "/srv/site"
        folder = "/srv"
        [roles.coder]
        agent = "claude"
        [roles.coder.limits]
        turn = 3
        """,
    )
    assert found == {
        "projects.Site.repositry": "is not a setting (did you mean 'repository'?)",
        "roles.coder.limits.turn": "is not a setting (did you mean 'turns'?)",
    }


def test_problems_of_definitions_are_reported_with_all_others(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        """
        [server]
        port = 99999
        [projects.Site]
        [projects."a/b"]
        folder = "/srv"
        [roles]
        coder = "claude"
        """,
    )
    assert set(found) == {"server.port", "projects.Site", "projects.a/b", "roles.coder"}
    assert found["roles.coder"] == "must be a table"


def test_a_table_that_is_none_is_refused(tmp_path: Path) -> None:
    assert problems(tmp_path, "projects = 3\n") == {"projects": "must be a table"}


def test_two_spellings_of_one_name_are_refused(tmp_path: Path) -> None:
    config = '[projects.Site]\nfolder = "/srv"\n[projects.site]\nfolder = "/opt"\n'
    assert "which are the same name" in problems(tmp_path, config)["projects"]


def test_definitions_cannot_come_from_the_environment(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="QUARTERDECK_PROJECTS"):
        load_settings(environ={"QUARTERDECK_HOME": str(tmp_path), "QUARTERDECK_PROJECTS": "{}"})


def test_definitions_are_shown_as_far_as_they_were_written_with_variables_masked(
    tmp_path: Path,
) -> None:
    config = f'[roles.coder]\nagent = "claude"\nenv = {{ SOME_TOKEN = "{KEY}" }}\n'
    settings = load(tmp_path, config)
    shown = {each.key: each for each in settings.shown()}
    assert shown["roles.coder.agent"].value == "claude"
    assert shown["roles.coder.agent"].origin.startswith("config file")
    assert shown["roles.coder.env"].value == f'{{"SOME_TOKEN":"{MASK}"}}'
    assert "roles.coder.limits" not in shown
    assert KEY in settings.secrets()
    assert KEY not in repr(settings)


def test_what_an_error_says_never_quotes_a_variable(tmp_path: Path) -> None:
    config = f'[roles.coder]\nagent = "claude"\nenv = {{ "A-B" = "{KEY}", N = 3 }}\n'
    with pytest.raises(InvalidSettings) as refused:
        load(tmp_path, config)
    assert KEY not in str(refused.value.body())


def test_a_plain_word_in_a_plain_variable_is_not_taken_away_from_every_trace(
    tmp_path: Path,
) -> None:
    config = (
        '[roles.coder]\nagent = "claude"\nenv = { STAGE = "production", PASSWORD = "hunting" }\n'
    )
    assert load(tmp_path, config).secrets() == ("hunting",)
