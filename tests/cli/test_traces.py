import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from quarterdeck.app import open_quarterdeck
from quarterdeck.services.calls import Call
from quarterdeck.settings import load_settings
from tests.cli.conftest import CommandLine


class LongAgo:
    """A clock that stands forty days back."""

    def now(self) -> datetime:
        return datetime.now(UTC) - timedelta(days=40)

    def ticks_us(self) -> int:
        return 0


@pytest.fixture
def trace_id(cli: CommandLine) -> str:
    cli("memory", "store", "k", '{"text": "ahoy"}')
    (trace,) = json.loads(cli("traces", "list", "--json").out)["traces"]
    return trace["traceId"]


def test_list_shows_one_line_for_each_call(cli: CommandLine, trace_id: str) -> None:
    header, line = cli("traces", "list").out.splitlines()
    assert header.split() == ["ID", "STARTED", "STATUS", "TOOK", "CALL"]
    assert line.startswith(trace_id)
    assert line.split()[3] == "success"
    assert line.endswith(" cli.memory.store")


def test_list_can_be_narrowed_to_a_status(cli: CommandLine, trace_id: str) -> None:
    cli("memory", "store", "k", "no object")
    failures = json.loads(cli("traces", "list", "--status", "failure", "--json").out)["traces"]
    assert [trace["status"] for trace in failures] == ["failure"]
    assert trace_id not in [trace["traceId"] for trace in failures]


def test_show_prints_the_events_in_order(cli: CommandLine, trace_id: str) -> None:
    shown = cli("traces", "show", trace_id).out
    assert f"id       {trace_id}\n" in shown
    assert "call     cli.memory.store\n" in shown
    events = [line.split()[1] for line in shown.splitlines() if line.startswith("   ")]
    assert events == ["run.start", "tool.invoke", "tool.result", "run.end"]
    answer = json.loads(cli("traces", "show", trace_id, "--json").out)
    assert [event["type"] for event in answer["events"]] == events


def test_analyze_says_what_the_events_tell(cli: CommandLine) -> None:
    cli("memory", "store", "k", "no object")
    (trace,) = json.loads(cli("traces", "list", "--json").out)["traces"]
    told = cli("traces", "analyze", trace["traceId"]).out
    assert told.startswith("summary  cli.memory.store ")
    assert "issue    INVALID_INPUT: 'value' is not a JSON object\n" in told
    answer = json.loads(cli("traces", "analyze", trace["traceId"], "--json").out)
    assert answer["metrics"]["errorCount"] == 1


@pytest.mark.parametrize("command", ["show", "analyze"])
def test_an_unknown_trace_is_not_found(command: str, cli: CommandLine) -> None:
    assert cli("traces", command, "nowhere").code == 3


async def leave_an_old_trace(home: Path) -> None:
    settings = load_settings(environ={"QUARTERDECK_HOME": str(home)})
    async with open_quarterdeck(settings, clock=LongAgo()) as deck:
        call = Call(surface="cli", name="cli.old", input={})
        await deck.calls.serve(call, lambda: deck.memory.delete("k"))


def test_prune_deletes_what_is_past_its_age_and_says_how_many(
    cli: CommandLine, home: Path, trace_id: str
) -> None:
    anyio.run(leave_an_old_trace, home)
    pruned = cli("traces", "prune")
    assert (pruned.code, pruned.out, pruned.err) == (0, "", "Deleted 1 trace\n")
    traces = json.loads(cli("traces", "list", "--json").out)["traces"]
    assert [trace["workflowId"] for trace in traces] == ["cli.traces.prune", "cli.memory.store"]
    assert json.loads(cli("traces", "prune", "--json").out) == {"pruned": 0}
