import json
import logging
import subprocess
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from quarterdeck import __version__
from quarterdeck.__main__ import Installed
from quarterdeck.app import Quarterdeck
from quarterdeck.cli.main import COMMANDS, command_tree
from quarterdeck.errors import QuarterdeckError, StorageUnavailable, TraceNotFound
from quarterdeck.settings import Settings
from tests.cli.conftest import CommandLine
from tests.support.errors import one_of_each

TOKEN = "ghp_" + "a" * 36
HEAVY = ("alembic", "fastmcp", "mcp", "pydantic", "pydantic_settings", "rich", "sqlalchemy", "yaml")


class Failing(Installed):
    """A program whose database never opens."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def open(self, settings: Settings) -> AbstractAsyncContextManager[Quarterdeck]:
        raise self.error


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",), ("--home", "x", "--help")])
def test_help_names_every_command_with_its_summary(
    arguments: tuple[str, ...], cli: CommandLine
) -> None:
    finished = cli(*arguments)
    assert finished.code == 0
    width = max(len(command.name) for command in COMMANDS)
    for command in COMMANDS:
        assert f"  {command.name:<{width}}  {command.summary}\n" in finished.out


def test_the_summaries_are_what_the_commands_say_of_themselves() -> None:
    tree = command_tree()
    said = {command.name: tree[command.name].help.partition("\n")[0] for command in COMMANDS}
    assert said == {command.name: command.summary for command in COMMANDS}


def test_help_loads_nothing_that_is_slow_to_load() -> None:
    program = (
        "import sys; from quarterdeck.__main__ import Installed; from quarterdeck.cli import main;"
        "main.run(Installed(), ['--help']); print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "quarterdeck.cli.main" in loaded
    assert loaded.isdisjoint({*HEAVY, "cyclopts", "asyncio"})


def test_finding_a_command_loads_nothing_that_is_slow_to_load() -> None:
    program = (
        "import sys; from quarterdeck.cli.main import COMMANDS, command_tree;"
        "tree = command_tree(); [tree[command.name] for command in COMMANDS]; print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "quarterdeck.cli.doctor" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_the_version_is_printed(cli: CommandLine) -> None:
    assert cli("--version") == (0, f"quarterdeck {__version__}\n", "")


@pytest.mark.parametrize(
    "order", [("--home", "{}", "config", "path"), ("config", "path", "--home={}")]
)
def test_the_home_can_be_given_before_and_after_the_command(
    order: tuple[str, ...], cli: CommandLine, tmp_path: Path
) -> None:
    finished = cli(*(part.format(tmp_path) for part in order))
    assert finished.out == f"{tmp_path / 'config.toml'}\n"


@pytest.mark.parametrize(
    ("arguments", "said", "helping"),
    [
        (("memroy",), '"memory"', "quarterdeck --help"),
        (("memory", "stor"), '"store"', "quarterdeck memory --help"),
        (("memory", "get"), "KEY", "quarterdeck memory get --help"),
        (("memory", "list", "--limit", "0"), "--limit", "quarterdeck memory list --help"),
        (("memory", "list", "--limit", "many"), "--limit", "quarterdeck memory list --help"),
        (("traces", "list", "--status", "odd"), "failure", "quarterdeck traces list --help"),
        (("up", "--prot", "1"), "--port", "quarterdeck up --help"),
    ],
)
def test_a_wrong_command_line_is_refused_with_what_was_meant(
    arguments: tuple[str, ...], said: str, helping: str, cli: CommandLine
) -> None:
    finished = cli(*arguments)
    assert (finished.code, finished.out) == (2, "")
    first, blank, hint = finished.err.splitlines()
    assert first.startswith("error: ")
    assert said in first
    assert (blank, hint) == ("", f"hint: run '{helping}'")


@pytest.mark.parametrize("error", one_of_each(), ids=lambda error: type(error).__name__)
def test_every_error_has_its_exit_code_its_message_and_its_hint(
    error: QuarterdeckError, cli: CommandLine
) -> None:
    finished = cli("memory", "list", program=Failing(error))
    assert (finished.code, finished.out) == (error.exit_code, "")
    assert finished.err.startswith(f"error: {error.message}")
    assert not error.hint or finished.err.endswith(f"\n\nhint: {error.hint}\n")


@pytest.mark.parametrize("error", one_of_each(), ids=lambda error: type(error).__name__)
def test_with_json_an_error_is_also_printed_as_the_shared_body(
    error: QuarterdeckError, cli: CommandLine
) -> None:
    finished = cli("memory", "list", "--json", program=Failing(error))
    assert finished.code == error.exit_code
    assert json.loads(finished.out) == error.body()
    assert finished.err.startswith("error: ")


def test_the_reason_of_an_error_is_shown(cli: CommandLine) -> None:
    finished = cli("memory", "list", program=Failing(StorageUnavailable("the disk is full")))
    assert finished.err.startswith("error: The database could not be used (the disk is full)\n")


def test_an_error_inside_a_task_group_is_the_error_itself(cli: CommandLine) -> None:
    inner = ExceptionGroup("tasks", [StorageUnavailable("locked")])
    finished = cli("memory", "list", program=Failing(ExceptionGroup("tasks", [inner])))
    assert finished.code == StorageUnavailable.exit_code


@pytest.mark.parametrize("arguments", [("memory", "list"), ("memory", "list", "--json")])
def test_no_error_shows_a_credential(arguments: tuple[str, ...], cli: CommandLine) -> None:
    error = TraceNotFound(TOKEN)
    finished = cli(*arguments, program=Failing(error))
    assert "not found" in finished.err
    assert TOKEN not in finished.out + finished.err


def test_no_error_shows_the_database_password(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    password = "mast-" + "and-" + "keel"
    url = "postgresql://" + f"ada:{password}@db.example/fleet"
    monkeypatch.setenv("QUARTERDECK_DATABASE_URL", url)
    finished = cli("memory", "list", program=Failing(StorageUnavailable(f"no route to {url}")))
    assert "no route to" in finished.err
    assert password not in finished.err


def test_a_bug_is_an_internal_error_without_its_text(cli: CommandLine) -> None:
    finished = cli("memory", "list", program=Failing(RuntimeError("left over from lunch")))
    assert finished.code == 1
    assert finished.err.startswith("error: Quarterdeck failed to carry out the request\n")
    assert "QUARTERDECK_LOG_LEVEL=debug" in finished.err
    assert "lunch" not in finished.err


def test_the_traceback_of_a_bug_is_logged_redacted_when_debugging(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUARTERDECK_LOG_LEVEL", "debug")
    finished = cli("memory", "list", program=Failing(RuntimeError(f"left with {TOKEN}")))
    assert "Traceback (most recent call last)" in finished.err
    assert "RuntimeError: left with" in finished.err
    assert TOKEN not in finished.err


def test_an_interrupted_command_ends_quietly_with_130(cli: CommandLine) -> None:
    assert cli("memory", "list", program=Failing(KeyboardInterrupt())) == (130, "", "")


def test_a_reader_that_goes_away_is_no_error(home: Path) -> None:
    command = [sys.executable, "-m", "quarterdeck", "config", "show"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_a_command_that_only_answers_does_not_log_below_a_warning(cli: CommandLine) -> None:
    assert cli("memory", "list").err == ""
    assert logging.getLogger().level == logging.WARNING
