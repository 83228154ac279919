"""What every token repository promises, on both databases."""

from datetime import datetime, timedelta

import pytest

from quarterdeck.domain.access import Scope
from quarterdeck.domain.ids import new_id
from quarterdeck.domain.tokens import Token
from tests.support.stores import NOON, Database

LATER = NOON + timedelta(hours=1)


def token(name: str, *, at: datetime = NOON, **others: datetime | None) -> Token:
    return Token(
        id=new_id(at),
        name=name,
        hash=f"hash of {name} {at}",
        scopes=frozenset({Scope.WRITE, Scope.READ}),
        created_at=at,
        **others,
    )


async def add(database: Database, *tokens: Token) -> None:
    for each in tokens:
        await database.store.write(lambda tx, new=each: database.tokens.add(tx, new))


async def find(database: Database, token_id: str) -> Token | None:
    return await database.store.read(lambda tx: database.tokens.find(tx, token_id))


async def find_living(database: Database, name: str) -> Token | None:
    return await database.store.read(lambda tx: database.tokens.find_living(tx, name))


async def revoke(database: Database, token_id: str, now: datetime = LATER) -> bool:
    return await database.store.write(lambda tx: database.tokens.revoke(tx, token_id, now))


async def test_a_token_is_found_as_it_was_added_by_id_name_and_hash(database: Database) -> None:
    plain = token("plain")
    full = token("full", expires_at=LATER, revoked_at=LATER, last_used_at=NOON)
    await add(database, plain, full)

    for each in (plain, full):
        assert await find(database, each.id) == each
        found = await database.store.read(
            lambda tx, wanted=each.hash: database.tokens.find_hash(tx, wanted)
        )
        assert found == each
    assert await find_living(database, "plain") == plain
    assert await find_living(database, "full") is None
    assert await find_living(database, "Plain") is None
    assert await find(database, "plain") is None


async def test_tokens_are_listed_newest_first(database: Database) -> None:
    tokens = [token(f"t{hour}", at=NOON + timedelta(hours=hour)) for hour in range(3)]
    await add(database, *tokens)
    assert await database.store.read(database.tokens.list) == tokens[::-1]


async def test_a_token_is_revoked_once_and_keeps_the_moment(database: Database) -> None:
    await add(database, given := token("given"), other := token("other"))

    assert await revoke(database, given.id) is True
    assert await revoke(database, given.id, LATER + timedelta(hours=1)) is False
    assert await revoke(database, "no such token") is False

    revoked = await find(database, given.id)
    assert revoked is not None
    assert revoked.revoked_at == LATER
    assert await find(database, other.id) == other


async def test_a_name_is_free_again_once_its_token_is_revoked(database: Database) -> None:
    await add(database, first := token("ci"))
    second = token("ci", at=LATER)
    with pytest.raises(Exception, match=r"(?i)unique"):
        await add(database, second)

    await revoke(database, first.id)
    await add(database, second)

    assert await find_living(database, "ci") == second


async def test_the_last_use_is_remembered_and_never_goes_back(database: Database) -> None:
    await add(database, used := token("used"), token("unused"))

    for moment in (NOON, LATER, NOON):
        await database.store.write(
            lambda tx, now=moment: database.tokens.note_use(tx, used.id, now)
        )

    listed = await database.store.read(database.tokens.list)
    assert {each.name: each.last_used_at for each in listed} == {"used": LATER, "unused": None}
