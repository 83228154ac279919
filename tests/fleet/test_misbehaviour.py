"""Agents that do not do what agents should: nothing of it stops the daemon or the agent."""

import gzip
import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from tests.support.ships import Json, Ship, Yard, faulty

pytestmark = [
    pytest.mark.timeout(180),  # real daemons and agents, on a busy machine
    pytest.mark.xdist_group("fleet-misbehaviour"),
]

ENTRIES = "SELECT seq, kind, message FROM agent_log WHERE agent_id = ? ORDER BY seq"
FLOOD = 50 * 1024 * 1024
LONGEST_ENTRY = 64 * 1024
# What a daemon may take beyond what it has before the flood: buffers, not the flood.
MOST_MEMORY = 120 * 1024 * 1024

LIMITS: dict[str, tuple[Json, list[str], str]] = {
    "turns": ({"turns": 5}, ["/loop"], "more than 5 tool calls"),
    "minutes": ({"minutes": 0.01}, ["/hang"], "more than 0.01 minutes"),
    "tokens": ({"tokens": 100}, ["/usage 900 900 0.1", "/hang"], "more than 100 tokens"),
    "cost": ({"cost": 0.5}, ["/usage 1 1 0.9", "/hang"], "a cost of more than 0.5"),
}


@pytest.fixture(scope="module")
async def ship(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Ship]:
    yard = Yard(tmp_path_factory.mktemp("misbehaviour"))
    yard.settings |= {"fleet.restart_seconds": 0.05}
    yard.roles |= {
        name: {"agent": "scripted", "limits": limits} for name, (limits, _, _) in LIMITS.items()
    }
    async with yard.sailing() as ship:
        yield ship


async def test_an_agent_that_cannot_be_started_has_failed_with_the_reason(yard: Yard) -> None:
    yard.settings |= {"fleet.handshake_seconds": 1}
    yard.roles |= {"silent": faulty("--silent"), "gone": faulty("--exit", "7")}
    async with yard.sailing() as ship:
        await ship.create("silent", "/say never", role="silent")
        await ship.create("gone", "/say never", role="gone")
        agents = await ship.settled("silent", "gone")
        tasks = [(await ship.tasks(agent["name"]))[0] for agent in agents]
        assert not yard.left()
    assert [agent["status"] for agent in agents] == ["failed", "failed"]
    assert "no answer to the handshake within 1 s" in agents[0]["reason"]
    assert "exit code 7" in agents[1]["reason"]
    assert [task["state"] for task in tasks] == ["failed", "failed"]
    assert [task["result"] for task in tasks] == [agent["reason"] for agent in agents]


async def test_an_agent_that_cannot_be_started_says_what_to_do(yard: Yard) -> None:
    yard.roles |= {"bold": {"agent": "scripted", "mode": "bold"}}
    async with yard.sailing() as ship:
        await ship.create("bold", "/say never", role="bold")
        [agent] = await ship.settled("bold")
    assert agent["reason"] == (
        "it has no mode 'bold'; change the role's mode; the agent offers: default, plan"
    )


async def test_a_flood_is_kept_whole_in_bounded_memory_while_the_daemon_answers(
    ship: Ship,
) -> None:
    await ship.create("nina", "/say ready")
    await ship.settled("nina")
    daemon = psutil.Process(ship.process.pid)
    before = daemon.memory_info().rss
    await ship.start("nina", f"/flood {FLOOD}")
    most, answers = before, 0
    while (await ship.show("nina"))["status"] == "busy":
        answers += 1
        most = max(most, daemon.memory_info().rss)
    (task, _) = await ship.tasks("nina")
    shown = await ship.answer("show_agent_log", agent_name="nina", page_size=1)
    agent_id = (await ship.show("nina"))["workspace_id"]
    assert task["state"] == "done"
    assert answers, "it answered while the flood lasted"
    assert most - before < MOST_MEMORY
    kept, moved = (
        stored_entries(ship.yard.deck, agent_id),
        archived_entries(ship.yard.deck, agent_id),
    )
    assert shown["archived_count"] == len(moved) > 0
    entries = moved + kept
    assert [entry["seq"] for entry in entries] == list(range(1, len(entries) + 1))
    assert max(len(entry["message"]) for entry in entries) <= LONGEST_ENTRY
    flood = [entry for entry in entries if entry["kind"] == "message"][1:]
    assert sum(len(entry["message"]) for entry in flood) == FLOOD


async def test_a_line_of_20_mb_is_left_out_and_said_so(ship: Ship) -> None:
    await ship.create("omar", f"/big {20 * 1024 * 1024}", "/say still here")
    (agent,) = await ship.settled("omar")
    said = await ship.said("omar")
    assert agent["last_report"] == "still here"
    assert "bytes, which is too long" in said


async def test_an_update_of_an_unknown_kind_is_logged_and_does_no_harm(ship: Ship) -> None:
    await ship.create("pia", "/unknown brand new", "/say still here")
    (agent,) = await ship.settled("pia")
    said = await ship.said("pia")
    assert (agent["status"], agent["task_state"]) == ("idle", "done")
    assert "brand new" in said


async def test_an_agent_that_ignores_a_cancel_is_mended_by_a_restart(ship: Ship) -> None:
    await ship.create("quin", "/say first", "/ignore-cancel", "/say deaf", "/hang")
    await ship.is_at("quin", "deaf")
    canceled = await ship.answer("cancel_agent_task", agent_name="quin")
    assert (canceled["interrupt_sent"], canceled["stopped"]) == (True, False)
    assert "restart_agent" in canceled["message"]
    assert (await ship.show("quin"))["status"] == "canceling"
    await ship.answer("restart_agent", agent_name="quin")
    (agent,) = await ship.settled("quin")
    assert (agent["status"], agent["task_state"]) == ("idle", "canceled")
    await ship.start("quin", "/say fine again")
    (agent,) = await ship.settled("quin")
    assert agent["last_report"] == "fine again"


async def test_a_task_that_would_go_on_for_ever_is_stopped_at_its_limit(ship: Ship) -> None:
    for name, (_, lines, _) in LIMITS.items():
        await ship.create(name, *lines, role=name)
    agents = await ship.settled(*LIMITS)
    assert [agent["status"] for agent in agents] == ["idle"] * len(LIMITS)
    for name, (_, _, reason) in LIMITS.items():
        await assert_stopped_at(ship, name, reason)


async def test_an_agent_that_ignores_its_limit_too_is_ended_and_comes_back(ship: Ship) -> None:
    await ship.create("sam", "/ignore-cancel", "/hang", role="minutes")
    await ship.seen("sam", lambda agent: agent["status"] == "idle")
    await assert_stopped_at(ship, "sam", "more than 0.01 minutes")
    await ship.start("sam", "/say fine again")
    (agent,) = await ship.settled("sam")
    assert agent["last_report"] == "fine again"


async def assert_stopped_at(ship: Ship, name: str, reason: str) -> None:
    (task,) = await ship.tasks(name)
    assert task["state"] == "failed"
    assert task["result"].startswith(f"stopped at a limit of its role: {reason}")
    warnings = [entry for entry in await ship.log(name) if entry["kind"] == "limit"]
    assert [(entry["level"], entry["message"]) for entry in warnings] == [
        ("WARN", f"Stopped at a limit: {reason}")
    ]


def stored_entries(deck: Path, agent_id: str) -> list[Json]:
    """Return what the database keeps, oldest first."""
    with sqlite3.connect(deck / "quarterdeck.db") as connection:
        rows = connection.execute(ENTRIES, (agent_id,))
        return [dict(zip(("seq", "kind", "message"), row, strict=True)) for row in rows]


def archived_entries(deck: Path, agent_id: str) -> list[Json]:
    """Return what was moved to files, oldest first."""
    files = sorted((deck / "logs" / "agents" / agent_id).glob("*.jsonl.gz"))
    texts = [gzip.decompress(file.read_bytes()).decode() for file in files]
    return [json.loads(line) for text in texts for line in text.splitlines()]
