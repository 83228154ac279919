from datetime import datetime, timedelta
from typing import Any

from quarterdeck.testing import FixedClock
from tests.requirements import requirement
from tests.support.clients import ToolClient


async def keep(client: ToolClient, *keys: str, namespace: str = "default") -> None:
    for key in keys:
        await client.answer("memory_store", key=key, value={"v": 1}, namespace=namespace)


async def listed(client: ToolClient, **arguments: object) -> list[str]:
    return [row["key"] for row in (await client.answer("memory_list", **arguments))["keys"]]


async def test_a_row_has_key_namespace_and_time_but_no_value(client: ToolClient) -> None:
    await keep(client, "plan", namespace="demo")
    answer = await client.answer("memory_list")
    assert datetime.fromisoformat(answer["keys"][0].pop("storedAt")).tzinfo is not None
    assert answer == {
        "keys": [{"key": "plan", "namespace": "demo"}],
        "total": 1,
        "hasMore": False,
    }


async def test_an_empty_memory_is_an_empty_list(client: ToolClient) -> None:
    assert await client.answer("memory_list") == {"keys": [], "total": 0, "hasMore": False}
    assert await client.answer("memory_list", namespace="unknown", prefix="x") == {
        "keys": [],
        "total": 0,
        "hasMore": False,
    }


@requirement("INV-MCP-MEM-001")
async def test_keys_come_by_first_store_and_an_overwrite_keeps_its_place(
    client: ToolClient, clock: FixedClock
) -> None:
    await keep(client, "b", "a", "c")
    first = (await client.answer("memory_list"))["keys"][0]
    clock.advance(timedelta(hours=1))
    await keep(client, "b")
    rows = (await client.answer("memory_list"))["keys"]
    assert [row["key"] for row in rows] == ["b", "a", "c"]
    assert datetime.fromisoformat(rows[0]["storedAt"]) > datetime.fromisoformat(first["storedAt"])


async def test_a_key_that_was_deleted_and_stored_again_is_the_newest(client: ToolClient) -> None:
    await keep(client, "a", "b")
    await client.answer("memory_delete", key="a")
    await keep(client, "a")
    assert await listed(client) == ["b", "a"]


@requirement("INV-MCP-MEM-002")
async def test_the_namespace_filter_is_an_exact_match(client: ToolClient) -> None:
    for namespace in ("team", "Team", "team2", "tea", "te%", "te_m"):
        await keep(client, f"of {namespace}", namespace=namespace)
    for namespace in ("team", "Team", "te%", "te_m"):
        answer = await client.answer("memory_list", namespace=namespace)
        assert [row["key"] for row in answer["keys"]] == [f"of {namespace}"]
        assert answer["total"] == 1
    assert len(await listed(client)) == len(await listed(client, namespace=None)) == 6


@requirement("INV-MCP-MEM-003")
async def test_the_prefix_filter_regards_case_and_is_no_pattern(client: ToolClient) -> None:
    await keep(
        client, "Deploy/a", "deploy/a", "deploy/b", "DEPLOY", "deploy", "de%", "d_x", "é1", "É1"
    )
    assert await listed(client, prefix="deploy") == ["deploy/a", "deploy/b", "deploy"]
    assert await listed(client, prefix="deploy/") == ["deploy/a", "deploy/b"]
    assert await listed(client, prefix="D") == ["Deploy/a", "DEPLOY"]
    assert await listed(client, prefix="de%") == ["de%"]
    assert await listed(client, prefix="d_") == ["d_x"]
    assert await listed(client, prefix="é") == ["é1"]
    assert len(await listed(client, prefix="")) == 9
    assert len(await listed(client, prefix=None)) == 9


async def test_a_prefix_ends_where_the_last_character_ends(client: ToolClient) -> None:
    await keep(client, "a", "a\N{ROCKET}", "a\U0010ffff", "a\U0010ffffb", "b")
    assert await listed(client, prefix="a") == ["a", "a\N{ROCKET}", "a\U0010ffff", "a\U0010ffffb"]
    assert await listed(client, prefix="a\U0010ffff") == ["a\U0010ffff", "a\U0010ffffb"]


async def test_total_counts_all_matches_and_has_more_tells_of_the_rest(client: ToolClient) -> None:
    await keep(client, "k1", "k2", "k3", "other")
    for limit, has_more in ((1, True), (2, True), (3, False), (4, False)):
        answer = await client.answer("memory_list", prefix="k", limit=limit)
        assert (answer["total"], answer["hasMore"]) == (3, has_more)
        assert ("nextCursor" in answer) is has_more


async def test_a_hundred_keys_come_back_unless_another_limit_is_set(client: ToolClient) -> None:
    await keep(client, *(f"{number:03}" for number in range(101)))
    assert len(await listed(client)) == len(await listed(client, limit=None)) == 100
    assert len(await listed(client, limit=1)) == 1
    assert len(await listed(client, limit=1000)) == 101


async def test_pages_cover_every_key_once_although_keys_come_and_go(client: ToolClient) -> None:
    await keep(client, "a", "b", "c", "d", "e")
    seen: list[str] = []
    arguments: dict[str, Any] = {"limit": 2}
    while True:
        answer = await client.answer("memory_list", **arguments)
        seen += [row["key"] for row in answer["keys"]]
        if not answer["hasMore"]:
            break
        if len(seen) == 2:
            await client.answer("memory_delete", key="a")
            await keep(client, "f", "b")
        arguments["cursor"] = answer["nextCursor"]
    assert seen == ["a", "b", "c", "d", "e", "f"]


async def test_a_cursor_works_with_the_same_filters(client: ToolClient) -> None:
    await keep(client, "k1", "x", "k2", namespace="n")
    await keep(client, "k3")
    first = await client.answer("memory_list", namespace="n", prefix="k", limit=1)
    rest = {"namespace": "n", "prefix": "k", "cursor": first["nextCursor"]}
    assert await listed(client, **rest) == ["k2"]


async def test_only_its_own_cursors_are_accepted(client: ToolClient) -> None:
    for cursor in ("x", "MQ", "bTE6LTE", "bTI6MQ", "é", "a b", "1", "m1:1", "0" * 100):
        problems = await client.refusal("memory_list", cursor=cursor)
        assert problems == {"cursor": "is not a cursor of memory_list"}


async def test_arguments_outside_their_limits_are_refused_and_not_clamped(
    client: ToolClient,
) -> None:
    for arguments, field in [
        ({"limit": 0}, "limit"),
        ({"limit": 1001}, "limit"),
        ({"limit": "5"}, "limit"),
        ({"limit": True}, "limit"),
        ({"limit": 5.5}, "limit"),
        ({"limit": -(10**30)}, "limit"),
        ({"namespace": ""}, "namespace"),
        ({"namespace": "n" * 101}, "namespace"),
        ({"namespace": "a\x00b"}, "namespace"),
        ({"prefix": "p" * 201}, "prefix"),
        ({"prefix": "a\x00b"}, "prefix"),
        ({"prefix": 5}, "prefix"),
        ({"cursor": ""}, "cursor"),
        ({"cursor": "c" * 101}, "cursor"),
        ({"cursor": 5}, "cursor"),
        ({"offset": 5}, "offset"),
    ]:
        assert list(await client.refusal("memory_list", **arguments)) == [field]
    assert await listed(client, prefix="p" * 200, namespace="n" * 100, limit=1000) == []
