from datetime import UTC, datetime, timedelta

from quarterdeck.testing import FixedClock
from tests.support.clients import ToolClient


async def test_a_stored_value_is_found_with_its_time(client: ToolClient, clock: FixedClock) -> None:
    before = clock.now()
    await client.answer("memory_store", key="plan", value={"a": 1}, namespace="demo")
    answer = await client.answer("memory_retrieve", key="plan", namespace="demo")
    stored_at = answer.pop("storedAt")
    assert answer == {"found": True, "key": "plan", "namespace": "demo", "value": {"a": 1}}
    assert stored_at.endswith("Z")
    assert before < datetime.fromisoformat(stored_at) < clock.now()


async def test_an_absent_key_is_an_answer_and_no_error(client: ToolClient) -> None:
    assert await client.answer("memory_retrieve", key="nowhere") == {
        "found": False,
        "key": "nowhere",
        "namespace": "default",
        "message": "Nothing stored under 'nowhere' in namespace 'default'",
    }


async def test_a_key_is_compared_exactly(client: ToolClient) -> None:
    await client.answer("memory_store", key="Straße", value={"v": 1})
    for other in ("straße", "STRASSE", "Stra", "Straße ", "Strasse"):
        assert not (await client.answer("memory_retrieve", key=other))["found"]
    assert (await client.answer("memory_retrieve", key="Straße"))["found"]


async def test_a_namespace_is_compared_exactly(client: ToolClient) -> None:
    await client.answer("memory_store", key="k", value={"v": 1}, namespace="Team")
    for other in ("team", "Tea", "Team ", "default", "all"):
        assert not (await client.answer("memory_retrieve", key="k", namespace=other))["found"]


async def test_the_time_is_that_of_the_latest_store(client: ToolClient, clock: FixedClock) -> None:
    await client.answer("memory_store", key="k", value={"v": 1})
    clock.advance(timedelta(hours=1))
    await client.answer("memory_store", key="k", value={"v": 2})
    answer = await client.answer("memory_retrieve", key="k")
    assert datetime.fromisoformat(answer["storedAt"]) > datetime(2026, 3, 1, 13, tzinfo=UTC)


async def test_a_null_inside_a_value_is_kept(client: ToolClient) -> None:
    await client.answer("memory_store", key="k", value={"none": None, "in": [None, {"n": None}]})
    answer = await client.answer("memory_retrieve", key="k")
    assert answer["value"] == {"none": None, "in": [None, {"n": None}]}


async def test_names_outside_their_limits_are_refused(client: ToolClient) -> None:
    for arguments, field in [
        ({}, "key"),
        ({"key": None}, "key"),
        ({"key": ""}, "key"),
        ({"key": "k" * 501}, "key"),
        ({"key": 5}, "key"),
        ({"key": "a\x00b"}, "key"),
        ({"key": "k", "namespace": ""}, "namespace"),
        ({"key": "k", "namespace": "n" * 101}, "namespace"),
        ({"key": "k", "namespace": True}, "namespace"),
        ({"key": "k", "namespace": "a\x00b"}, "namespace"),
        ({"key": "k", "name_space": "n"}, "name_space"),
    ]:
        assert list(await client.refusal("memory_retrieve", **arguments)) == [field]
    for arguments in ({"key": "k" * 500, "namespace": "n" * 100}, {"key": "k", "namespace": None}):
        assert not (await client.answer("memory_retrieve", **arguments))["found"]
