"""What every memory, trace and daemon repository promises, on both databases."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quarterdeck.domain.ids import new_id
from quarterdeck.domain.json import JsonObject, JsonValue
from quarterdeck.domain.memory import KEY_LENGTH, NAMESPACE_LENGTH, MemoryEntry
from quarterdeck.domain.trace import EventType, Trace, TraceEvent, TraceStatus
from quarterdeck.ports.store import Transaction
from tests.requirements import requirement
from tests.support.stores import NOON, Database

LAST = "\U0010ffff"
SHIP = "\U0001f6a2"
LATER = NOON + timedelta(hours=1)

# One database for all examples: each uses keys of its own, or replaces what was there.
many_examples = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
# Everything a caller may use as a name: any character but NUL and halves of surrogate pairs.
names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=40
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
)
documents = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=10),
    st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner),
        max_leaves=8,
    ),
    max_size=4,
)


async def found(database: Database, key: str, *, namespace: str = "default") -> MemoryEntry:
    entry = await database.find(key, namespace=namespace)
    assert entry is not None
    return entry


async def test_a_stored_entry_is_found_under_its_name_only(database: Database) -> None:
    assert await database.keep("key", {"a": 1}, namespace="here") is False
    entry = await found(database, "key", namespace="here")
    assert (entry.namespace, entry.key, entry.value) == ("here", "key", {"a": 1})
    assert entry.stored_at == NOON
    assert await database.find("key", namespace="there") is None
    assert await database.find("Key", namespace="here") is None


@requirement("INV-MCP-MEM-001")
async def test_an_overwrite_keeps_its_place_and_gets_a_new_stored_time(database: Database) -> None:
    for key in ("first", "second", "third"):
        await database.keep(key)
    before = await found(database, "first")
    assert await database.keep("first", {"new": True}, now=LATER) is True
    after = await found(database, "first")
    assert await database.keys() == ["first", "second", "third"]
    assert (after.value, after.stored_at, after.place) == ({"new": True}, LATER, before.place)
    assert after.seq > (await found(database, "third")).seq


@requirement("INV-MCP-MEM-001")
async def test_a_key_stored_again_after_its_removal_goes_to_the_end(database: Database) -> None:
    for key in ("first", "second"):
        await database.keep(key)
    for key in ("second", "first"):
        await remove(database, key)
        await database.keep(key)
        assert (await database.keys())[-1] == key


async def remove(database: Database, key: str, *, namespace: str = "default") -> bool:
    return await database.store.write(lambda tx: database.memory.remove(tx, namespace, key))


async def page(
    database: Database, after: int, limit: int = 3, *, prefix: str = ""
) -> Sequence[MemoryEntry]:
    return await database.store.read(
        lambda tx: database.memory.list(tx, None, prefix, after=after, limit=limit)
    )


@requirement("INV-MCP-MEM-001")
async def test_pages_neither_overlap_nor_miss_while_entries_change_between_them(
    database: Database,
) -> None:
    for number in range(12):
        await database.keep(f"key-{number:02}")
    seen, after = list[str](), 0
    while rows := await page(database, after):
        seen += [row.key for row in rows]
        after = rows[-1].place
        await database.keep(rows[0].key, {"overwritten": True})
        await database.keep("key-11", {"overwritten": True})
        await remove(database, rows[-1].key)
        await database.keep("key-00")
    assert seen == [f"key-{number:02}" for number in range(12)]


@requirement("INV-MCP-MEM-001")
async def test_a_listing_shows_no_values(database: Database) -> None:
    await database.keep("key", {"secret": 1})
    assert [row.value for row in await page(database, 0)] == [{}]


@requirement("INV-MCP-MEM-002")
async def test_namespaces_match_exactly(database: Database) -> None:
    for namespace in ("team", "Team", "team ", "tea", "team-a", "team_a", "t%"):
        await database.keep(namespace, namespace=namespace)
    for namespace in ("team", "Team", "team_a", "t%"):
        assert await database.keys(namespace=namespace) == [namespace]
    assert await database.keys(namespace="TEAM") == []
    assert len(await database.keys()) == 7


TRICKY = [
    "plain",
    "Plain",
    "100%",
    "100 percent",
    "a_b",
    "axb",
    "back\\slash",
    "back\\\\slash",
    "it's",
    "it''s",
    '"quoted"',
    "emoji" + SHIP,
    "emoji" + chr(ord(SHIP) + 1),
    "\ud7ff" + "before the surrogates",
    "\ue000" + "after the surrogates",
    LAST,
    LAST + "a",
    LAST * 2,
    "z" + LAST,
    "z" + LAST + "a",
    "{",
    "é",
    "e\u0301",
    "../up",
    " lead",
    "\ttab",
    "line\nbreak",
]


@requirement("INV-MCP-MEM-003")
async def test_a_prefix_means_its_very_characters(database: Database) -> None:
    for key in TRICKY:
        await database.keep(key)
    prefixes = [key[:size] for key in TRICKY for size in range(1, len(key) + 1)] + ["", "absent"]
    for prefix in prefixes:
        expected = [key for key in TRICKY if key.startswith(prefix)]
        assert await database.keys(prefix=prefix) == expected, repr(prefix)
        assert await count(database, prefix) == len(expected), repr(prefix)


@requirement("INV-MCP-MEM-003")
@many_examples
@given(keys=st.lists(names, max_size=5), prefix=names)
async def test_any_prefix_finds_exactly_the_keys_that_start_with_it(
    database: Database, keys: list[str], prefix: str
) -> None:
    keys = [*keys, *(prefix + key for key in keys[:2])]
    await database.clear()
    for key in keys:
        await database.keep(key)
    expected = {key for key in keys if key.startswith(prefix)}
    assert set(await database.keys(prefix=prefix)) == expected


async def count(database: Database, prefix: str, *, namespace: str | None = None) -> int:
    return await database.store.read(lambda tx: database.memory.count(tx, namespace, prefix))


async def test_counting_follows_namespace_and_prefix(database: Database) -> None:
    for namespace in ("one", "two"):
        for key in ("a-1", "a-2", "b-1"):
            await database.keep(key, namespace=namespace)
    await database.keep("a-1", namespace="one")
    assert await count(database, "") == 6
    assert await count(database, "a") == 4
    assert await count(database, "a", namespace="one") == 2
    assert await count(database, "", namespace="two") == 3
    assert await count(database, "", namespace="three") == 0


@requirement("INV-MCP-MEM-004")
async def test_removing_tells_whether_there_was_something_and_may_be_repeated(
    database: Database,
) -> None:
    await database.keep("key")
    await database.keep("key", namespace="other")
    assert await remove(database, "key") is True
    assert await remove(database, "key") is False
    assert await remove(database, "never there") is False
    assert await database.find("key") is None
    assert await database.keys() == ["key"]


@many_examples
@given(namespace=names, key=names)
async def test_any_name_is_found_again_as_it_was_written(
    database: Database, namespace: str, key: str
) -> None:
    await database.keep(key, {"key": key}, namespace=namespace)
    entry = await found(database, key, namespace=namespace)
    assert (entry.namespace, entry.key, entry.value) == (namespace, key, {"key": key})
    assert key in await database.keys(namespace=namespace, prefix=key)
    assert await remove(database, key, namespace=namespace) is True


@pytest.mark.parametrize("character", ["a", "é", "ΐ", "界", SHIP, LAST])
async def test_the_longest_names_are_stored(database: Database, character: str) -> None:
    """PostgreSQL limits what an index entry may hold; a name of wide characters comes close."""
    # Different characters, because PostgreSQL compresses what repeats.
    start = min(ord(character), 0x10FFFF - KEY_LENGTH)
    letters = "".join(chr(start + offset) for offset in range(KEY_LENGTH))
    for key in (character * KEY_LENGTH, letters):
        namespace = key[:NAMESPACE_LENGTH]
        await database.keep(key, {key: key}, namespace=namespace)
        assert (await found(database, key, namespace=namespace)).value == {key: key}
        assert await database.search(key) == [key]


EXACT_VALUES: dict[str, JsonValue] = {
    "big integer": 2**200,
    "negative": -(2**63) - 1,
    "float": 0.1 + 0.2,
    "tiny": 5e-324,
    "huge": 1.7976931348623157e308,
    "whole float": 1.0,
    "nested nulls": [None, {"a": None}, [[None]]],
    "nul": "before\x00after",
    "control": "\x01\x1f\x7f\x85\u2028",
    "emoji": SHIP + "\ufe0f\u200d" + LAST,
    "quotes": "'\"\\ %s :name $1 ?",
    "empty": ["", {}, []],
    "boolean": [True, False],
    "": "an empty name",
}


@pytest.mark.parametrize("name", EXACT_VALUES)
async def test_a_value_comes_back_exactly(database: Database, name: str) -> None:
    value: JsonObject = {name: EXACT_VALUES[name]}
    await database.keep("key", value)
    entry = await found(database, "key")
    assert entry.value == value
    assert repr(entry.value) == repr(value), "1 and 1.0 and True are different values"


@many_examples
@given(value=documents)
async def test_any_document_comes_back_exactly(database: Database, value: JsonObject) -> None:
    await database.keep("key", value)
    assert repr((await found(database, "key")).value) == repr(value)


def trace_of(
    second: float,
    *,
    parent_id: str | None = None,
    daemon_id: str = "daemon",
    status: TraceStatus = TraceStatus.SUCCESS,
    events: tuple[TraceEvent, ...] = (),
) -> Trace:
    started_at = NOON + timedelta(seconds=second)
    ended_at = None if status is TraceStatus.RUNNING else started_at + timedelta(seconds=1)
    return Trace(
        trace_id=new_id(started_at),
        parent_id=parent_id,
        workflow_id="mcp.memory_store",
        operation="memory.store",
        surface="mcp",
        actor="local",
        daemon_id=daemon_id,
        status=status,
        started_at=started_at,
        ended_at=ended_at,
        duration_us=0 if ended_at is None else 1_000_000,
        events=events,
        event_count=len(events),
    )


def event(sequence: int, kind: EventType, payload: str = "{}") -> TraceEvent:
    return TraceEvent(sequence, kind, NOON + timedelta(microseconds=sequence), payload)


async def add(database: Database, *traces: Trace) -> None:
    def decide(tx: Transaction) -> None:
        for trace in traces:
            database.traces.add(tx, trace)

    await database.store.write(decide)


async def listed(
    database: Database, status: TraceStatus | None = None, limit: int = 100
) -> list[str]:
    rows = await database.store.read(lambda tx: database.traces.list(tx, status, limit))
    return [row.trace_id for row in rows]


async def stored_trace(database: Database, trace_id: str) -> Trace | None:
    return await database.store.read(lambda tx: database.traces.find(tx, trace_id))


async def test_a_trace_comes_back_with_its_events_in_order(database: Database) -> None:
    events = (
        event(1, EventType.RUN_START),
        event(2, EventType.TOOL_INVOKE, '{"input":{"a":[1,null,"é"]}}'),
        TraceEvent(3, EventType.TOOL_RESULT, LATER, "{}", TraceStatus.FAILURE, 12_345),
        event(4, EventType.ERROR),
        event(5, EventType.RUN_END),
    )
    trace = trace_of(0, status=TraceStatus.FAILURE, events=events)
    await add(database, trace)
    assert await stored_trace(database, trace.trace_id) == trace
    assert await stored_trace(database, "absent") is None


@pytest.mark.parametrize("text", ["\x85", "\u2028", "\u2029", "\x7f", "\\n", SHIP, LAST, "'", "%"])
async def test_any_text_in_an_event_comes_back(database: Database, text: str) -> None:
    events = tuple(event(number, EventType.TOOL_INVOKE, f'{{"a":"{text}"}}') for number in (1, 2))
    trace = trace_of(0, events=events)
    await add(database, trace)
    assert await stored_trace(database, trace.trace_id) == trace


async def test_closing_a_trace_ends_it_and_adds_to_its_events(database: Database) -> None:
    opened = trace_of(0, status=TraceStatus.RUNNING, events=(event(1, EventType.RUN_START),))
    closed = opened._replace(
        status=TraceStatus.SUCCESS,
        ended_at=LATER,
        duration_us=99,
        events=(event(2, EventType.TOOL_RESULT), event(3, EventType.RUN_END)),
    )
    await add(database, opened)
    await database.store.write(lambda tx: database.traces.close(tx, closed))
    stored = await stored_trace(database, opened.trace_id)
    assert stored is not None
    assert (stored.status, stored.ended_at, stored.duration_us) == (TraceStatus.SUCCESS, LATER, 99)
    assert stored.events == opened.events + closed.events
    assert stored.event_count == 3


async def test_traces_are_listed_newest_first_and_ties_by_id(database: Database) -> None:
    traces = [trace_of(second) for second in (3, 1, 2, 2, 2)]
    await add(database, *traces)
    newest_first = sorted(traces, key=lambda t: (t.started_at, t.trace_id), reverse=True)
    expected = [trace.trace_id for trace in newest_first]
    assert await listed(database) == expected
    assert await listed(database, limit=2) == expected[:2]


async def test_a_listing_can_be_of_one_status_and_has_no_events(database: Database) -> None:
    traces = {
        status: trace_of(number, status=status, events=(event(1, EventType.RUN_START),))
        for number, status in enumerate(TraceStatus)
    }
    await add(database, *traces.values())
    for status, trace in traces.items():
        (row,) = await database.store.read(lambda tx, s=status: database.traces.list(tx, s, 10))
        assert (row.trace_id, row.status, row.events) == (trace.trace_id, status, ())
        assert row.event_count == 1


async def test_work_inside_a_call_is_listed_under_it_and_not_among_calls(
    database: Database,
) -> None:
    root, other = trace_of(0), trace_of(1)
    children = [trace_of(second, parent_id=root.trace_id) for second in (4, 2, 3)]
    await add(database, root, other, *children)
    assert await listed(database) == [other.trace_id, root.trace_id]
    rows = await database.store.read(lambda tx: database.traces.children(tx, root.trace_id))
    oldest_first = sorted(children, key=lambda trace: trace.started_at)
    assert [row.trace_id for row in rows] == [child.trace_id for child in oldest_first]


async def test_open_traces_are_found_by_the_process_that_left_them(database: Database) -> None:
    running = TraceStatus.RUNNING
    mine, done, theirs = (
        trace_of(0, daemon_id="mine", status=running),
        trace_of(1, daemon_id="mine"),
        trace_of(2, daemon_id="theirs", status=running),
    )
    await add(database, mine, done, theirs)
    rows = await database.store.read(lambda tx: database.traces.open_of(tx, "mine"))
    assert [row.trace_id for row in rows] == [mine.trace_id]


async def prune(
    database: Database, *, before: datetime = NOON, keep: int = 1000, most: int = 1000
) -> int:
    return await database.store.write(
        lambda tx: database.traces.prune(tx, before=before, keep=keep, most=most)
    )


async def test_pruning_by_age_takes_finished_traces_that_started_before(
    database: Database,
) -> None:
    old, exact, new = trace_of(-1), trace_of(0), trace_of(1)
    running = trace_of(-2, status=TraceStatus.RUNNING)
    await add(database, old, exact, new, running)
    assert await prune(database, before=NOON) == 1
    assert await listed(database) == [new.trace_id, exact.trace_id, running.trace_id]
    assert await prune(database, before=NOON) == 0


async def test_pruning_by_count_takes_the_oldest_and_leaves_the_newest(
    database: Database,
) -> None:
    traces = [trace_of(second) for second in range(6)]
    running = trace_of(-1, status=TraceStatus.RUNNING)
    await add(database, *traces, running)
    assert await prune(database, keep=4) == 2
    kept = [trace.trace_id for trace in reversed(traces[2:])]
    assert await listed(database) == [*kept, running.trace_id]


async def test_pruning_by_count_keeps_that_many_of_one_moment(database: Database) -> None:
    traces = [trace_of(0) for _ in range(5)]
    await add(database, *traces)
    assert await prune(database, before=NOON - timedelta(days=1), keep=2) == 3
    newest = sorted((trace.trace_id for trace in traces), reverse=True)[:2]
    assert await listed(database) == newest


async def test_pruning_goes_by_the_oldest_first_in_portions(database: Database) -> None:
    traces = [trace_of(second) for second in range(-5, 0)]
    await add(database, *traces)
    assert await prune(database, most=2) == 2
    assert await listed(database) == [trace.trace_id for trace in reversed(traces[2:])]
    assert [await prune(database, most=2) for _ in range(3)] == [2, 1, 0]


async def test_a_pruned_trace_leaves_nothing(database: Database) -> None:
    trace = trace_of(-1, events=(event(1, EventType.RUN_START),))
    await add(database, trace)
    await prune(database)
    assert await stored_trace(database, trace.trace_id) is None
    await add(database, trace)
    assert await stored_trace(database, trace.trace_id) == trace


async def test_processes_are_running_until_they_are_noted_as_ended(database: Database) -> None:
    def decide(tx: Transaction) -> None:
        for daemon_id, node_id in (("a", "node"), ("b", "node"), ("c", "elsewhere")):
            database.daemons.add(tx, daemon_id, node_id, "host", NOON)
        database.daemons.remove(tx, "a")
        database.daemons.remove(tx, "never started")

    await database.store.write(decide)
    assert await database.store.read(lambda tx: database.daemons.list(tx, "node")) == ["b"]
