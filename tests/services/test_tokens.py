"""Tokens: made, used, taken back; their secrets are kept nowhere."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

import pytest

from quarterdeck.daemon.key import is_secret, new_secret
from quarterdeck.domain.access import ALL_SCOPES, ONLY_READ, Caller, Scope, Scopes
from quarterdeck.domain.tokens import NewToken, TokenRow
from quarterdeck.errors import Conflict, Denied, InvalidInput, NotFound, Unauthenticated
from quarterdeck.services.calls import Call
from quarterdeck.testing import Deck, FixedClock
from tests.support.records import all_rows, newest_trace, root_traces

T = TypeVar("T")
HOUR = timedelta(hours=1)


async def serve(deck: Deck, body: Callable[[], Awaitable[T]], *, scopes: Scopes = ALL_SCOPES) -> T:
    call = Call(surface="cli", name="cli.token", input={"name": "ci"}, scopes=scopes)
    return await deck.quarterdeck.calls.serve(call, body)


async def create(
    deck: Deck,
    name: str | None = "ci",
    *scopes: Scope,
    life: timedelta | None = HOUR,
) -> NewToken:
    tokens = deck.quarterdeck.tokens
    return await serve(deck, lambda: tokens.create(name, scopes or (Scope.READ,), life=life))


async def revoke(deck: Deck, name: str) -> bool:
    return (await serve(deck, lambda: deck.quarterdeck.tokens.revoke(name))).revoked


async def listed(deck: Deck) -> list[TokenRow]:
    return (await serve(deck, deck.quarterdeck.tokens.list)).tokens


async def identify(deck: Deck, secret: str) -> Caller:
    return await deck.quarterdeck.tokens.identify(secret)


async def problem_with(deck: Deck, secret: str) -> tuple[object, str]:
    with pytest.raises(Unauthenticated) as refusal:
        await identify(deck, secret)
    assert secret not in str(refusal.value.body())
    assert "quarterdeck token create" in (refusal.value.hint or "")
    return refusal.value.details["problem"], refusal.value.message


async def test_a_new_token_names_its_caller_and_gives_what_its_scopes_include(deck: Deck) -> None:
    made = await create(deck, "ci", Scope.WRITE)

    assert is_secret(made.secret)
    assert made.token.scopes == [Scope.WRITE]
    assert await identify(deck, made.secret) == Caller(
        made.token.id, frozenset({Scope.READ, Scope.WRITE}), "ci"
    )


async def test_a_token_without_a_name_gets_one_of_its_own(deck: Deck) -> None:
    first, second = await create(deck, None), await create(deck, None)
    assert first.token.name != second.token.name


async def test_the_secret_is_kept_nowhere(deck: Deck) -> None:
    made = await create(deck)
    await identify(deck, made.secret)
    await problem_with(deck, new_secret())

    assert [row.name for row in await listed(deck)] == ["ci"]
    assert made.secret not in str(all_rows(deck))
    assert made.secret.removeprefix("qd_") not in str(all_rows(deck))


async def test_making_and_revoking_is_traced_and_showing_a_token_is_not(deck: Deck) -> None:
    made = await create(deck)
    trace = await newest_trace(deck)
    assert trace.operation == "token.create"
    assert "[redacted]" not in str(trace.events), "there was nothing to redact"

    await identify(deck, made.secret)
    await revoke(deck, "ci")

    traces = await root_traces(deck)
    assert [trace.operation for trace in traces] == ["token.revoke", "token.create"]


async def test_a_revoked_token_opens_nothing_from_then_on(deck: Deck) -> None:
    made = await create(deck)
    await identify(deck, made.secret)

    assert await revoke(deck, "ci") is True
    assert await problem_with(deck, made.secret) == (
        "revoked",
        "The access token 'ci' has been revoked",
    )
    assert await revoke(deck, made.token.id) is False


async def test_a_token_expires(deck: Deck, clock: FixedClock) -> None:
    short, endless = await create(deck, "short"), await create(deck, "endless", life=None)
    clock.advance(HOUR)

    assert await problem_with(deck, short.secret) == (
        "expired",
        "The access token 'short' has expired",
    )
    assert (await identify(deck, endless.secret)).token == "endless"
    assert {row.name: row.state for row in await listed(deck)} == {
        "short": "expired",
        "endless": "active",
    }


@pytest.mark.parametrize("secret", ["", "qd_", "guess", "qd_" + "a" * 44, "qd_" + "ü" * 43])
async def test_what_is_no_token_is_not_told_apart_from_a_wrong_one(deck: Deck, secret: str) -> None:
    with pytest.raises(Unauthenticated) as refusal:
        await identify(deck, secret)
    assert refusal.value.message == (await problem_with(deck, new_secret()))[1]


async def test_a_name_belongs_to_one_token_until_it_is_revoked_or_expires(
    deck: Deck, clock: FixedClock
) -> None:
    await create(deck)
    with pytest.raises(Conflict) as refusal:
        await create(deck)
    assert "token revoke ci" in (refusal.value.hint or "")

    await revoke(deck, "ci")
    await create(deck)
    clock.advance(HOUR)
    newest = await create(deck)

    assert [row.state for row in await listed(deck)] == ["active", "expired", "revoked"]
    assert (await identify(deck, newest.secret)).id == newest.token.id


async def test_the_last_use_is_noted_at_most_once_a_minute(deck: Deck, clock: FixedClock) -> None:
    made = await create(deck)
    assert (await listed(deck))[0].last_used_at is None

    await identify(deck, made.secret)
    first = (await listed(deck))[0].last_used_at
    await identify(deck, made.secret)
    assert (await listed(deck))[0].last_used_at == first
    clock.advance(timedelta(minutes=1))
    await identify(deck, made.secret)
    last = (await listed(deck))[0].last_used_at

    assert first is not None
    assert last is not None
    assert last > first


async def test_revoking_what_is_not_there_says_where_to_look(deck: Deck) -> None:
    with pytest.raises(NotFound) as refusal:
        await revoke(deck, "nobody")
    assert "token list" in (refusal.value.hint or "")
    with pytest.raises(InvalidInput):
        await revoke(deck, "a\x00")


async def test_a_bad_name_and_no_scope_are_refused(deck: Deck) -> None:
    tokens = deck.quarterdeck.tokens
    with pytest.raises(InvalidInput):
        await create(deck, "two words")
    with pytest.raises(InvalidInput):
        await serve(deck, lambda: tokens.create("none", (), life=None))
    assert await listed(deck) == []


@pytest.mark.parametrize("scopes", [ONLY_READ, frozenset(Scope) - {Scope.ADMIN}])
async def test_only_an_admin_deals_with_tokens(deck: Deck, scopes: Scopes) -> None:
    tokens = deck.quarterdeck.tokens
    await create(deck)
    for body in (
        lambda: tokens.create("mine", (Scope.ADMIN,), life=None),
        lambda: tokens.revoke("ci"),
        tokens.list,
    ):
        with pytest.raises(Denied) as refusal:
            await serve(deck, body, scopes=scopes)
        assert refusal.value.details["scope"] == "admin"
    assert [row.state for row in await listed(deck)] == ["active"]
