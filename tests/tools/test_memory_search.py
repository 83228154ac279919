from datetime import datetime
from typing import Any

from tests.support.clients import ToolClient


async def found(client: ToolClient, query: str, **arguments: object) -> list[str]:
    answer = await client.answer("memory_search", query=query, **arguments)
    return [hit["key"] for hit in answer["results"]]


async def keep(client: ToolClient, *keys: str, **values: dict[str, Any]) -> None:
    for key in keys:
        await client.answer("memory_store", key=key, value={})
    for key, value in values.items():
        await client.answer("memory_store", key=key, value=value)


async def test_a_hit_has_key_namespace_value_and_time(client: ToolClient) -> None:
    await client.answer("memory_store", key="plan", value={"a": [1, None]}, namespace="demo")
    answer = await client.answer("memory_search", query="plan", namespace="demo")
    [hit] = answer.pop("results")
    assert answer == {"query": "plan", "namespace": "demo", "count": 1}
    assert datetime.fromisoformat(hit.pop("storedAt")).tzinfo is not None
    assert hit == {"key": "plan", "namespace": "demo", "value": {"a": [1, None]}}


async def test_without_a_namespace_all_are_searched(client: ToolClient) -> None:
    for namespace in ("a", "b"):
        await client.answer("memory_store", key="plan", value={}, namespace=namespace)
    answer = await client.answer("memory_search", query="plan")
    assert answer["namespace"] == "all"
    assert [hit["namespace"] for hit in answer["results"]] == ["b", "a"]
    assert await client.answer("memory_search", query="plan", namespace=None) == answer


async def test_a_namespace_is_searched_alone_and_exactly(client: ToolClient) -> None:
    await client.answer("memory_store", key="plan", value={}, namespace="Team")
    assert await found(client, "plan", namespace="Team") == ["plan"]
    for other in ("team", "Tea", "Team2", "all"):
        assert await found(client, "plan", namespace=other) == []


async def test_the_best_match_comes_first_and_of_equals_the_newest(client: ToolClient) -> None:
    await keep(client, about={"text": "how to deploy"}, notes={"deploy": True})
    await keep(client, "redeploy", "the-deploy-log", "deploy-steps", "deploy", "deploy-list")
    assert await found(client, "Deploy") == [
        "deploy",
        "deploy-list",
        "deploy-steps",
        "the-deploy-log",
        "redeploy",
        "notes",
        "about",
    ]


async def test_all_words_of_the_query_have_to_be_there(client: ToolClient) -> None:
    await keep(client, one={"text": "the quick brown fox"}, two={"text": "a quick red fox"})
    assert await found(client, "FOX quick") == ["two", "one"]
    assert await found(client, "fox brown") == ["one"]
    assert await found(client, "fox blue") == []


async def test_a_query_is_text_and_never_syntax(client: ToolClient) -> None:
    await keep(client, "100%", "a_b", "it's", 'say "hi"', "x*y", "NEAR(a)", "plain")
    for query, keys in {
        "%": ["100%"],
        "_": ["a_b"],
        "'": ["it's"],
        '"': ['say "hi"'],
        "*": ["x*y"],
        "NEAR(": ["NEAR(a)"],
        "plain OR a_b": [],
        "pla*": [],
        "' OR 1=1 --": [],
        "key:plain": [],
        "-plain": ["plain"],
        "\\": [],
    }.items():
        assert await found(client, query) == keys


async def test_ten_results_come_back_unless_another_limit_is_set(client: ToolClient) -> None:
    await keep(client, *(f"item {number:03}" for number in range(101)))
    for arguments, count in (
        ({}, 10),
        ({"limit": None}, 10),
        ({"limit": 1}, 1),
        ({"limit": 100}, 100),
    ):
        answer = await client.answer("memory_search", query="item", **arguments)
        assert answer["count"] == len(answer["results"]) == count
    assert (await found(client, "item"))[0] == "item 100"


async def test_arguments_outside_their_limits_are_refused_and_not_clamped(
    client: ToolClient,
) -> None:
    for arguments, field in [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "q" * 501}, "query"),
        ({"query": 5}, "query"),
        ({"query": "a\x00b"}, "query"),
        ({"query": "q", "limit": 0}, "limit"),
        ({"query": "q", "limit": 101}, "limit"),
        ({"query": "q", "limit": -1}, "limit"),
        ({"query": "q", "limit": "5"}, "limit"),
        ({"query": "q", "limit": True}, "limit"),
        ({"query": "q", "limit": 5.5}, "limit"),
        ({"query": "q", "limit": 10**30}, "limit"),
        ({"query": "q", "namespace": ""}, "namespace"),
        ({"query": "q", "namespace": "n" * 101}, "namespace"),
        ({"query": "q", "namespace": "a\x00b"}, "namespace"),
        ({"query": "q", "Limit": 5}, "Limit"),
    ]:
        assert list(await client.refusal("memory_search", **arguments)) == [field]
    assert await found(client, "q" * 500, namespace="n" * 100) == []
