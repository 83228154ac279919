from tests.support.clients import ToolClient

MIB = 1024 * 1024
FRAME = len('{"text":""}')


def nested(levels: int) -> dict[str, object]:
    """Return objects inside each other, `levels` of them."""
    value: dict[str, object] = {}
    for _ in range(levels - 1):
        value = {"in": value}
    return value


async def test_storing_confirms_the_key_and_where_it_is(client: ToolClient) -> None:
    answer = await client.answer("memory_store", key="plan", value={"a": 1}, namespace="demo")
    assert answer == {
        "success": True,
        "key": "plan",
        "namespace": "demo",
        "message": "Stored 'plan' in namespace 'demo'",
    }


async def test_without_a_namespace_it_is_default(client: ToolClient) -> None:
    assert (await client.answer("memory_store", key="a", value={}))["namespace"] == "default"
    assert (await client.answer("memory_retrieve", key="a", namespace="default"))["found"]


async def test_a_null_namespace_counts_as_left_out(client: ToolClient) -> None:
    answer = await client.answer("memory_store", key="a", value={}, namespace=None)
    assert answer["namespace"] == "default"


async def test_storing_again_replaces_the_value_and_says_so(client: ToolClient) -> None:
    await client.answer("memory_store", key="plan", value={"old": 1, "gone": True})
    answer = await client.answer("memory_store", key="plan", value={"new": 2})
    assert answer["message"] == "Replaced 'plan' in namespace 'default'"
    assert (await client.answer("memory_retrieve", key="plan"))["value"] == {"new": 2}
    assert (await client.answer("memory_list"))["total"] == 1


async def test_the_same_key_lives_in_each_namespace_on_its_own(client: ToolClient) -> None:
    await client.answer("memory_store", key="plan", value={"of": "a"}, namespace="a")
    await client.answer("memory_store", key="plan", value={"of": "b"}, namespace="b")
    found = await client.answer("memory_retrieve", key="plan", namespace="a")
    assert found["value"] == {"of": "a"}


async def test_a_value_comes_back_as_it_was_sent(client: ToolClient) -> None:
    value: dict[str, object] = {
        "text": 'Grüße, 東京 \N{ROCKET} \u2028 \x85 \x00 \x1f \\ " /',
        "numbers": [0, -1, 2**63, 10**40, 0.1, 1e300, -0.0],
        "nothing": None,
        "empty": {"list": [], "object": {}, "": ""},
        "truth": [True, False],
    }
    await client.answer("memory_store", key="all kinds", value=value)
    answer = await client.answer("memory_retrieve", key="all kinds")
    assert answer["value"] == value
    assert list(answer["value"]) == list(value)


async def test_keys_up_to_500_characters_are_plain_text(client: ToolClient) -> None:
    keys = ["k", "k" * 500, "\N{ROCKET}" * 500, " ", "../../etc/passwd", "é", "e\u0301", "\u2028"]
    for key in keys:
        assert (await client.answer("memory_store", key=key, value={"v": key}))["key"] == key
    for key in keys:
        assert (await client.answer("memory_retrieve", key=key))["value"] == {"v": key}
    assert [row["key"] for row in (await client.answer("memory_list"))["keys"]] == keys


async def test_namespaces_up_to_100_characters_are_plain_text(client: ToolClient) -> None:
    for namespace in ["n", "n" * 100, "../up", "all", "Default"]:
        await client.answer("memory_store", key="k", value={"v": 1}, namespace=namespace)
        assert (await client.answer("memory_retrieve", key="k", namespace=namespace))["found"]
    assert not (await client.answer("memory_retrieve", key="k"))["found"]


async def test_names_outside_their_limits_are_refused(client: ToolClient) -> None:
    value = {"v": 1}
    for arguments, field, problem in [
        ({"key": ""}, "key", "should have at least 1 character"),
        ({"key": "k" * 501}, "key", "should have at most 500 characters"),
        ({"key": "k", "namespace": ""}, "namespace", "should have at least 1 character"),
        ({"key": "k", "namespace": "n" * 101}, "namespace", "should have at most 100 characters"),
        ({"key": "a\x00b"}, "key", "must not contain a NUL character"),
        ({"key": "k", "namespace": "a\x00b"}, "namespace", "must not contain a NUL character"),
    ]:
        problems = await client.refusal("memory_store", value=value, **arguments)
        assert list(problems) == [field]
        assert problem in problems[field]
    assert (await client.answer("memory_list"))["total"] == 0


async def test_a_value_must_be_an_object(client: ToolClient) -> None:
    for value in ("text", ["list"], 5, True, None, 1.5):
        problems = await client.refusal("memory_store", key="k", value=value)
        assert problems == {"value": "must be an object"}
    assert (await client.answer("memory_list"))["total"] == 0


async def test_nothing_is_coerced_into_text(client: ToolClient) -> None:
    for wrong in (5, True, ["k"], {"k": 1}):
        assert "key" in await client.refusal("memory_store", key=wrong, value={})
        assert "namespace" in await client.refusal(
            "memory_store", key="k", value={}, namespace=wrong
        )


async def test_a_value_of_exactly_one_mebibyte_is_accepted(client: ToolClient) -> None:
    text = "x" * (MIB - FRAME)
    await client.answer("memory_store", key="full", value={"text": text})
    assert (await client.answer("memory_retrieve", key="full"))["value"] == {"text": text}


async def test_a_value_one_byte_larger_is_refused(client: ToolClient) -> None:
    for text in ("x" * (MIB - FRAME + 1), "é" * ((MIB - FRAME) // 2 + 1)):
        problems = await client.refusal("memory_store", key="over", value={"text": text})
        size = FRAME + len(text.encode())
        assert problems == {"value": f"is {size} bytes of JSON; the limit is {MIB}"}
    assert not (await client.answer("memory_retrieve", key="over"))["found"]


async def test_a_value_may_be_nested_a_hundred_levels_deep(client: ToolClient) -> None:
    await client.answer("memory_store", key="deep", value=nested(100))
    assert (await client.answer("memory_retrieve", key="deep"))["value"] == nested(100)
    problems = await client.refusal("memory_store", key="deeper", value=nested(101))
    assert problems == {"value": "is nested more than 100 levels deep"}


async def test_every_problem_is_named_at_once(client: ToolClient) -> None:
    reply = await client.call("memory_store", ky="k", valeu={}, namespace=5, colour="red")
    assert reply.error["message"] == "'key' is required (and 5 more)"
    assert reply.error["details"] == {
        "fields": [
            {"field": "key", "problem": "is required"},
            {"field": "value", "problem": "is required"},
            {"field": "namespace", "problem": "must be a string"},
            {"field": "ky", "problem": "is not an argument; did you mean 'key'?"},
            {"field": "valeu", "problem": "is not an argument; did you mean 'value'?"},
            {"field": "colour", "problem": "is not an argument"},
        ],
        "hint": "memory_store takes: key, value, namespace",
    }
