"""The gate: what is open, what opens the rest, and what a refusal says."""

from collections.abc import AsyncIterator
from datetime import timedelta

import httpx2
import pytest

from quarterdeck.daemon.key import new_secret
from quarterdeck.domain.access import Scope
from quarterdeck.services.calls import Call
from quarterdeck.testing import Deck, FixedClock
from tests.support.records import root_traces
from tests.support.sites import Site, site

CLOSED = [
    "/mcp",
    "/mcp/readonly",
    "/mcp/x/memory",
    "/mcp/x/memory/readonly",
    "/metrics",
    "/control",
    "/control/stop",
    "/control/reload",
    "/control/call",
    "/nowhere",
    "/healthz/",
    "//",
    "/favicon.ico",
    "/.well-known/oauth-protected-resource",
]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
async def here(deck: Deck) -> AsyncIterator[Site]:
    async with site(deck) as opened:
        yield opened


async def status(here: Site, secret: str, path: str = "/nowhere") -> int:
    """Return what somebody with `secret` gets; where there is nothing, 404 is an open gate."""
    async with here.http(secret) as http:
        return (await http.get(path)).status_code


async def revoke(deck: Deck, name: str) -> None:
    call = Call(surface="cli", name="cli.token.revoke", input=None, recorded=False)
    await deck.quarterdeck.calls.serve(call, lambda: deck.quarterdeck.tokens.revoke(name))


async def test_the_start_page_and_the_health_check_are_open(here: Site) -> None:
    async with here.http() as http:
        assert (await http.get("/")).status_code == 200
        assert (await http.get("/healthz")).json() == {"ok": True, "instance": "instance"}
    assert here.attempts.refused == 0


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
async def test_everything_else_asks_for_a_token_and_says_how_to_get_one(
    here: Site, method: str
) -> None:
    async with here.http() as http:
        answers = [await http.request(method, here.url + path) for path in CLOSED]

    for answer in answers:
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == 'Bearer realm="quarterdeck"'
        error = answer.json()["error"]
        assert error["code"] == "DENIED"
        assert "quarterdeck token create" in error["details"]["hint"]
        assert "[redacted]" not in answer.text
    assert here.attempts.refused == len(CLOSED)
    assert here.delays == [], "who shows nothing guesses nothing"
    assert await root_traces(here.deck) == []


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer ", "Basic {key}", "{key}", "Bearer {key} {key}", "Bearer x{key}"]
)
async def test_a_key_shown_in_another_form_opens_nothing(here: Site, header: str) -> None:
    async with here.http(Authorization=header.format(key=here.key).strip()) as http:
        answer = await http.get("/nowhere")
    assert answer.status_code == 401
    assert here.key not in answer.text


async def test_the_key_of_the_home_opens_everything(here: Site) -> None:
    for path in ("/nowhere", "/control"):
        assert await status(here, here.key, path) == 404
    async with here.http(Authorization=f"bearer  {here.key}") as http:
        assert (await http.get("/nowhere")).status_code == 404
    assert here.attempts.refused == 0


async def test_a_token_opens_until_it_is_revoked(here: Site) -> None:
    made = await here.token("ci")
    assert await status(here, made.secret) == 404

    await revoke(here.deck, "ci")

    async with here.http(made.secret) as http:
        answer = await http.get("/nowhere")
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]
    assert answer.json()["error"]["message"] == "The access token 'ci' has been revoked"


async def test_a_token_opens_until_it_expires(here: Site, clock: FixedClock) -> None:
    call = Call(surface="cli", name="cli.token.create", input=None, recorded=False)
    product = here.deck.quarterdeck
    made = await product.calls.serve(
        call, lambda: product.tokens.create("brief", [Scope.READ], life=timedelta(hours=1))
    )
    assert await status(here, made.secret) == 404

    clock.advance(timedelta(hours=1))

    async with here.http(made.secret) as http:
        answer = await http.get("/nowhere")
    assert answer.status_code == 401
    assert answer.json()["error"]["message"] == "The access token 'brief' has expired"


async def test_guesses_are_counted_and_slowed_and_a_right_token_never_is(here: Site) -> None:
    made = await here.token("ci")
    for _ in range(4):
        assert await status(here, new_secret()) == 401
        assert await status(here, made.secret) == 404
        assert await status(here, here.key) == 404

    assert here.attempts.refused == 4
    assert len(here.delays) == 4
    assert here.delays == sorted(set(here.delays))
    assert await root_traces(here.deck) == [], "refused requests leave no trace"


async def test_a_foreign_host_or_origin_is_refused_before_anybody_looks_at_a_token(
    here: Site,
) -> None:
    for secret in (None, new_secret(), here.key):
        for path in ("/", "/mcp", "/nowhere"):
            async with here.http(secret, Host="evil.example") as http:
                assert (await http.get(path)).status_code == 421
            async with here.http(secret, Origin="http://evil.example") as http:
                assert (await http.get(path)).status_code == 403
    assert here.attempts.refused == 0
    assert here.delays == []


async def test_the_server_answers_to_the_names_it_was_given_and_to_no_others(deck: Deck) -> None:
    async with site(deck, allowed_hosts=("deck.example", "2001:db8::7")) as here:

        async def answer(**headers: str) -> int:
            async with here.http(here.key, **headers) as http:
                return (await http.get("/nowhere")).status_code

        for host in ("deck.example", "DECK.example:7420", "[2001:db8::7]:7420", "localhost"):
            assert await answer(Host=host) == 404
        for host in ("other.example", "a.deck.example", "deck.example.evil.example", "2001:db8::8"):
            assert await answer(Host=host) == 421
        for origin in ("http://deck.example", "https://deck.example"):
            assert await answer(Host="deck.example", Origin=origin) == 404
        for origin in ("https://other.example", "null", "https://deck.example.evil.example"):
            assert await answer(Host="deck.example", Origin=origin) == 403


@pytest.mark.parametrize("path", ["/control", "/control/stop", "/control/reload", "/control/call"])
async def test_only_an_admin_controls_the_daemon(here: Site, path: str) -> None:
    everything_else = await here.token("worker", Scope.WRITE, Scope.APPROVE)
    admin = await here.token("boss", Scope.ADMIN)

    async with here.http(everything_else.secret) as http:
        refused = await http.get(path)
    assert refused.status_code == 403
    assert refused.json()["error"]["details"]["scope"] == "admin"
    assert await status(here, admin.secret, path) == 404


async def test_a_session_answers_only_to_the_token_that_began_it(here: Site) -> None:
    first, second = await here.token("one"), await here.token("two")
    async with here.http(first.secret, **ACCEPT) as http:
        began = await http.post("/mcp", json=INITIALIZE)
    session = {"Mcp-Session-Id": began.headers["mcp-session-id"]}
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}

    async def listed(secret: str) -> httpx2.Response:
        async with here.http(secret, **ACCEPT, **session) as http:
            return await http.post("/mcp", json=listing)

    assert (await listed(second.secret)).status_code == 404
    assert (await listed(here.key)).status_code == 404
    assert (await listed(first.secret)).status_code == 200
