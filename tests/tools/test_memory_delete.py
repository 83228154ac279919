from quarterdeck.domain.trace import EventType
from quarterdeck.testing import Deck
from tests.requirements import requirement
from tests.support.clients import ToolClient
from tests.support.records import newest_trace, payload_of


async def test_deleting_forgets_the_entry_and_says_so(client: ToolClient) -> None:
    await client.answer("memory_store", key="plan", value={"word": 1}, namespace="demo")
    assert await client.answer("memory_delete", key="plan", namespace="demo") == {
        "deleted": True,
        "key": "plan",
        "namespace": "demo",
        "message": "Deleted 'plan' in namespace 'demo'",
    }
    assert not (await client.answer("memory_retrieve", key="plan", namespace="demo"))["found"]
    assert (await client.answer("memory_list"))["total"] == 0
    assert (await client.answer("memory_search", query="word"))["count"] == 0


@requirement("INV-MCP-MEM-004")
async def test_deleting_an_absent_key_reports_it_and_succeeds(client: ToolClient) -> None:
    await client.answer("memory_store", key="plan", value={})
    assert (await client.answer("memory_delete", key="plan"))["deleted"]
    for _ in range(2):
        assert await client.answer("memory_delete", key="plan") == {
            "deleted": False,
            "key": "plan",
            "namespace": "default",
            "message": "Nothing stored under 'plan' in namespace 'default'",
        }


@requirement("INV-MCP-MEM-005")
async def test_each_deletion_leaves_a_trace_with_the_key(client: ToolClient, deck: Deck) -> None:
    await client.answer("memory_store", key="plan", value={})
    for deleted in (True, False):
        await client.answer("memory_delete", key="plan")
        trace = await newest_trace(deck)
        assert trace.workflow_id == "mcp.memory_delete"
        assert payload_of(trace, EventType.TOOL_INVOKE)["input"] == {"key": "plan"}
        output = payload_of(trace, EventType.TOOL_RESULT)["output"]
        assert (output["key"], output["deleted"]) == ("plan", deleted)


async def test_only_the_named_entry_goes(client: ToolClient) -> None:
    for key, namespace in (("plan", "a"), ("plan", "b"), ("Plan", "a"), ("plan 2", "a")):
        await client.answer("memory_store", key=key, value={}, namespace=namespace)
    await client.answer("memory_delete", key="plan", namespace="a")
    rows = (await client.answer("memory_list"))["keys"]
    assert [(row["key"], row["namespace"]) for row in rows] == [
        ("plan", "b"),
        ("Plan", "a"),
        ("plan 2", "a"),
    ]


async def test_without_a_namespace_it_is_default(client: ToolClient) -> None:
    await client.answer("memory_store", key="plan", value={}, namespace="other")
    for arguments in ({}, {"namespace": None}):
        answer = await client.answer("memory_delete", key="plan", **arguments)
        assert (answer["deleted"], answer["namespace"]) == (False, "default")
    assert (await client.answer("memory_list"))["total"] == 1


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
        ({"key": "k", "namespace": 5}, "namespace"),
        ({"key": "k", "namespace": "a\x00b"}, "namespace"),
        ({"key": "k", "force": True}, "force"),
    ]:
        assert list(await client.refusal("memory_delete", **arguments)) == [field]
    answer = await client.answer("memory_delete", key="k" * 500, namespace="n" * 100)
    assert not answer["deleted"]
