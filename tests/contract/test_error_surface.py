"""Every error of the tree, drawn, coded, and rendered by all three surfaces."""

import inspect
import json
import logging
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from quarterdeck import errors
from quarterdeck.__main__ import Installed
from quarterdeck.app import Quarterdeck
from quarterdeck.cli.logs import LIBRARIES
from quarterdeck.cli.main import run
from quarterdeck.domain.redaction import Redactor
from quarterdeck.errors import QuarterdeckError
from quarterdeck.settings import Settings
from quarterdeck.testing import Deck, quarterdeck_for_tests
from quarterdeck.web.errors import error_handlers
from tests.requirements import requirement
from tests.support.clients import Era, connected
from tests.support.errors import kinds, one_of_each
from tests.support.workshop import Workshop, server_with, workshop_tools

# Codes of the contract, with the exit code and the HTTP status each has everywhere.
GENERAL = {
    "INVALID_INPUT": (2, 400),
    "NOT_FOUND": (3, 404),
    "CONFLICT": (4, 409),
    "DENIED": (5, 403),
    "SERVICE_UNAVAILABLE": (6, 503),
    "TIMEOUT": (7, 504),
    "INTERNAL_ERROR": (1, 500),
}
DRAWN = re.compile(r"^ +[x+] (\w+) +([A-Z_]+) +(\d+) +(\d+)", re.MULTILINE)

each_error = pytest.mark.parametrize("error", one_of_each(), ids=lambda error: type(error).__name__)


@pytest.fixture
async def deck(tmp_path: Path) -> AsyncIterator[Deck]:
    """One database is enough: how an error is worded does not depend on it."""
    async with quarterdeck_for_tests(tmp_path) as opened:
        yield opened


def test_the_whole_tree_stands_in_one_package_which_draws_it() -> None:
    drawn = {
        name: (code, int(exit_), int(http))
        for name, code, exit_, http in DRAWN.findall(errors.__doc__ or "")
    }
    assert drawn == {
        kind.__name__: (kind.code, kind.exit_code, kind.http_status) for kind in kinds()
    }
    for kind in kinds():
        assert kind.__module__.startswith("quarterdeck.errors.")
        assert getattr(errors, kind.__name__) is kind


def test_every_kind_has_a_general_code_and_what_goes_with_it() -> None:
    for kind in kinds():
        assert re.fullmatch(r"[A-Z][A-Z0-9_]*", kind.code)
        # HTTP alone tells a caller who is unknown from one who is not allowed to.
        http = 403 if kind is errors.Unauthenticated else kind.http_status
        assert GENERAL[kind.category] == (kind.exit_code, http)
        assert inspect.getdoc(kind), "says when it is raised"
        assert kind.__doc__ != QuarterdeckError.__doc__
    assert {kind.category for kind in kinds()} == GENERAL.keys()


@each_error
def test_a_message_is_one_sentence_without_a_period(error: QuarterdeckError) -> None:
    assert error.message == str(error)
    assert error.message[0].isupper() or error.message[0] == "'"
    assert not error.message.endswith(".")
    assert "\n" not in error.message
    assert not (error.hint or "").endswith(".")


@each_error
def test_the_body_has_code_message_and_details(error: QuarterdeckError) -> None:
    body = error.body()
    assert body.keys() == {"success", "error"}
    assert body["success"] is False
    inner = json.loads(json.dumps(body["error"]))
    assert inner.keys() == {"code", "message", "details"}
    assert (inner["code"], inner["message"]) == (error.code, error.message)
    specific = error.code != error.category
    assert inner["details"].get("category") == (error.category if specific else None)
    assert inner["details"].get("hint") == error.hint
    assert error.details.items() <= inner["details"].items()


@requirement("INV-MCP-003")
@each_error
async def test_an_mcp_client_gets_a_failed_result_with_the_body(
    deck: Deck, era: Era, error: QuarterdeckError
) -> None:
    workshop = Workshop(deck)
    workshop.failure = error
    async with connected(server_with(deck, workshop_tools(workshop)), era) as client:
        for tool in ("fail", "raise_outside"):
            # `call` checks that the text block holds the same JSON.
            reply = await client.call(tool)
            assert reply.is_error
            assert reply.body == error.body()


class Failing(Installed):
    """A program whose database never opens."""

    def __init__(self, error: QuarterdeckError) -> None:
        self.error = error

    def open(self, settings: Settings) -> AbstractAsyncContextManager[Quarterdeck]:
        raise self.error


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home for the command line, which sets up logging for the process it is in."""
    monkeypatch.setenv("QUARTERDECK_HOME", str(tmp_path))
    loggers = [logging.getLogger(name) for name in (None, *LIBRARIES)]
    before = [(logger.handlers[:], logger.level, logger.propagate) for logger in loggers]
    yield tmp_path
    for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
        logger.handlers, logger.level, logger.propagate = handlers, level, propagate


@each_error
@pytest.mark.usefixtures("home")
def test_the_command_line_prints_error_and_hint_and_returns_the_exit_code(
    error: QuarterdeckError, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(Failing(error), ["memory", "list"]) == error.exit_code
    printed = capsys.readouterr()
    assert printed.out == ""
    first, *rest = printed.err.splitlines()
    assert first.startswith(f"error: {error.message}")
    assert rest == (["", f"hint: {error.hint}"] if error.hint else [])
    assert run(Failing(error), ["memory", "list", "--json"]) == error.exit_code
    assert json.loads(capsys.readouterr().out) == error.body()


@each_error
async def test_an_http_client_gets_the_status_and_the_body(error: QuarterdeckError) -> None:
    async def fail(_request: Request) -> Response:
        raise error

    app = Starlette(routes=[Route("/", fail)], exception_handlers=error_handlers(Redactor()))
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        response = await client.get("/")
    assert response.status_code == error.http_status
    assert response.headers["content-type"] == "application/json"
    assert response.json() == error.body()
