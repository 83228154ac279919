import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "site"
    subprocess.run(["git", "init", "--quiet", str(path)], check=True)
    return path


def test_without_configuration_there_is_the_demo_project(cli: CommandLine, home: Path) -> None:
    listed = cli("projects", "list")
    assert listed.code == 0
    assert "Demo" in listed.out
    assert str(home / "projects" / "demo") in listed.out
    assert not (home / "projects").exists()


def test_a_project_is_added_shown_listed_and_removed(cli: CommandLine, repository: Path) -> None:
    added = cli("projects", "add", "My Site", "--repository", str(repository), "--copy", ".env")
    assert (added.code, added.out, added.err) == (0, "", "Added the project 'My Site'\n")

    shown = json.loads(cli("projects", "show", "my site", "--json").out)
    assert shown["definition"]["repository"] == str(repository)
    assert shown["definition"]["copy"] == [".env"]
    assert str(repository) in cli("projects", "show", "my site").out

    (row,) = json.loads(cli("projects", "list", "--json").out)["projects"]
    assert (row["name"], row["id"], row["source"]) == ("My Site", shown["id"], "command")

    removed = cli("projects", "remove", "MY SITE")
    assert (removed.code, removed.err) == (0, "Removed the project 'My Site'\n")
    assert repository.exists()
    assert cli("projects", "show", "My Site").code == 3


def test_a_relative_path_starts_where_the_command_was_run(
    cli: CommandLine, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository.parent)
    assert cli("projects", "add", "Site", "--repository", "site").code == 0
    shown = json.loads(cli("projects", "show", "Site", "--json").out)
    assert shown["definition"]["repository"] == str(repository)


def test_a_place_that_is_not_there_is_refused(cli: CommandLine, tmp_path: Path) -> None:
    refused = cli("projects", "add", "Site", "--folder", str(tmp_path / "nowhere"))
    assert refused.code == 2
    assert "is no folder that exists" in refused.err


def test_a_folder_without_git_is_refused_as_a_repository(cli: CommandLine, tmp_path: Path) -> None:
    refused = cli("projects", "add", "Site", "--repository", str(tmp_path))
    assert refused.code == 2
    assert "--folder" in refused.err


def test_everything_that_is_wrong_is_said_at_once(cli: CommandLine, tmp_path: Path) -> None:
    refused = cli("projects", "add", "a/b", "--folder", str(tmp_path), "--setup", "x" * 20_000)
    assert refused.code == 2
    assert "'name' must start with" in refused.err
    assert "'setup' must have at most 10000 characters" in refused.err


def test_changes_are_traced_and_looking_is_not(cli: CommandLine, tmp_path: Path) -> None:
    cli("projects", "add", "Site", "--folder", str(tmp_path))
    cli("projects", "list")
    cli("projects", "show", "Site")
    cli("projects", "remove", "Site")
    traces = json.loads(cli("traces", "list", "--json").out)["traces"]
    assert [trace["workflowId"] for trace in traces] == ["cli.projects.remove", "cli.projects.add"]


def test_a_project_of_the_config_file_is_listed_and_not_removed(
    cli: CommandLine, home: Path
) -> None:
    home.mkdir()
    (home / "config.toml").write_text('[projects.Site]\nfolder = "/srv"\n', encoding="utf-8")
    (row,) = json.loads(cli("projects", "list", "--json").out)["projects"]
    assert (row["name"], row["source"]) == ("Site", "file")
    refused = cli("projects", "remove", "Site")
    assert refused.code == 4
    assert "config.toml" in refused.err


def test_a_role_is_added_shown_listed_and_removed(cli: CommandLine) -> None:
    options = ("--allow", "read", "--allow", "search", "--reject", "delete", "--turns", "none")
    added = cli("roles", "add", "backend", "--agent", "claude", *options, "--minutes", "2.5")
    assert (added.code, added.err) == (0, "Added the role 'backend'\n")

    definition = json.loads(cli("roles", "show", "Backend", "--json").out)["definition"]
    assert definition["limits"] == {
        "turns": "none",
        "minutes": 2.5,
        "tokens": "none",
        "cost": "none",
    }
    kinds = {"read": "allow", "search": "allow", "delete": "reject"}
    assert definition["permission"]["kinds"] == kinds

    assert "claude" in cli("roles", "list").out
    (row,) = json.loads(cli("roles", "list", "--project", "demo", "--json").out)["roles"]
    assert row["name"] == "backend"
    assert cli("roles", "remove", "BACKEND").code == 0
    assert json.loads(cli("roles", "list", "--json").out)["roles"][0]["name"] == "coder"


def test_a_role_with_a_command_takes_it_apart_as_a_shell_would(cli: CommandLine) -> None:
    cli("roles", "add", "mine", "--command", "mine --acp 'a b'")
    definition = json.loads(cli("roles", "show", "mine", "--json").out)["definition"]
    assert definition["command"] == ["mine", "--acp", "a b"]


def test_the_values_of_a_roles_variables_are_neither_printed_nor_traced(
    cli: CommandLine, home: Path
) -> None:
    value = "not" + "-a-real-" + "key"
    added = cli("roles", "add", "mine", "--agent", "claude", "--env", f"BASE={value}", "--json")
    shown = cli("roles", "show", "mine")
    assert "BASE" in shown.out
    (trace,) = json.loads(cli("traces", "list", "--json").out)["traces"]
    trace = cli("traces", "show", trace["traceId"], "--json")
    assert "BASE" in trace.out
    assert value not in added.out + shown.out + trace.out


def test_a_variable_without_a_value_is_refused(cli: CommandLine) -> None:
    refused = cli("roles", "add", "mine", "--agent", "claude", "--env", "BASE")
    assert refused.code == 2
    assert "NAME=VALUE" in refused.err


def test_an_agent_is_installed_with_where_it_is(
    cli: CommandLine, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    scripts = {
        "node": "echo v22.4.1",
        "npm": 'mkdir -p "$3/node_modules/.bin" && touch "$3/node_modules/.bin/gemini"',
    }
    for name, script in scripts.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    for name in ("mkdir", "touch", "sh"):
        (programs / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(programs))

    installed = cli("roles", "install", "gemini")
    path = home / "agents" / "gemini" / "0.61.0" / "node_modules" / ".bin" / "gemini"
    assert (installed.code, installed.out) == (0, f"{path}\n")
    assert installed.err == "Installed Gemini CLI 0.61.0\n"

    again = json.loads(cli("roles", "install", "gemini", "--json").out)
    assert (again["installed"], again["path"]) == (False, str(path))


def test_an_unknown_agent_is_not_installed_and_the_closest_is_named(cli: CommandLine) -> None:
    refused = cli("roles", "install", "cluade")
    assert refused.code == 3
    assert "did you mean 'claude'?" in refused.err
