import logging

import pytest

from quarterdeck.cli.logs import log_to_stderr
from quarterdeck.settings import load_settings

TOKEN = "ghp_" + "a" * 36
PASSWORD = "mast-" + "and-" + "keel"


@pytest.fixture(autouse=True)
def database_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "QUARTERDECK_DATABASE_URL", "postgresql://" + f"ada:{PASSWORD}@db.example/fleet"
    )


def test_messages_and_their_arguments_are_redacted(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr(load_settings(), serves=True)
    logging.getLogger("somewhere").warning("token %s, password %s", TOKEN, PASSWORD)
    logged = capsys.readouterr().err
    assert "WARNING somewhere: token" in logged
    assert TOKEN not in logged
    assert PASSWORD not in logged


def test_tracebacks_are_redacted(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr(load_settings(), serves=True)
    error = ValueError(f"no {TOKEN} and no {PASSWORD}")
    logging.getLogger("somewhere").error("It failed", exc_info=error)
    logged = capsys.readouterr().err
    assert "ValueError: no " in logged
    assert TOKEN not in logged
    assert PASSWORD not in logged


def test_a_server_logs_its_own_information_and_the_warnings_of_libraries(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log_to_stderr(load_settings(), serves=True)
    logging.getLogger("quarterdeck.somewhere").info("ours")
    logging.getLogger("alembic.runtime").info("theirs")
    logging.getLogger("fastmcp.server").warning("their warning")
    logged = capsys.readouterr().err
    assert "ours" in logged
    assert "theirs" not in logged
    assert logged.count("their warning") == 1


def test_debugging_shows_what_libraries_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUARTERDECK_LOG_LEVEL", "debug")
    log_to_stderr(load_settings(), serves=False)
    logging.getLogger("alembic.runtime").debug("theirs")
    assert "theirs" in capsys.readouterr().err
