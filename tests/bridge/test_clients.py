"""`quarterdeck mcp`, launched as clients launch it: one daemon behind all of them."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from tests.bridge.conftest import Join, joining
from tests.support.bridges import CLIENT, ERAS, VERSIONS, Bridge, Era, Json, bare_bridge
from tests.support.mcp_clients import ERAS as MODES
from tests.support.mcp_clients import STDIO_CLIENTS, call_every_tool
from tests.support.servers import END_SECONDS
from tests.support.workshop_daemons import daemon_process, end_daemons

pytestmark = pytest.mark.xdist_group("bridge-2")

MANY_ROWS = {"rows": ["x" * 1000] * 900}
# Characters that some take for the end of a line.
ODD_LINES = {"text": "a\u2028b\u2029c\x85d\x0be\x0cf\r\n\x1cg"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The home of all tests that leave its daemon alone; the first of them starts it."""
    home = tmp_path_factory.mktemp("shared")
    yield home
    end_daemons(home)


@pytest.fixture
def visit(shared: Path) -> Iterator[Join]:
    with joining(shared) as start:
        yield start


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("client", STDIO_CLIENTS)
async def test_a_client_lists_and_calls_every_tool(
    client: str, mode: str, shared: Path, tmp_path: Path
) -> None:
    log = tmp_path / "stderr.log"
    with anyio.fail_after(50):
        async with STDIO_CLIENTS[client](mode, shared, log, flags=()) as connected:
            await call_every_tool(connected)
    logged = log.read_text(encoding="utf-8").splitlines()
    assert [line for line in logged if line != "Starting the Quarterdeck daemon"] == []


def test_two_clients_see_each_others_memory_at_once(visit: Join) -> None:
    one, other = visit("legacy"), visit("modern")
    one.tool("memory_store", key="from legacy", value={"n": 1}, namespace="both")
    assert other.tool("memory_retrieve", key="from legacy", namespace="both")["value"] == {"n": 1}
    other.tool("memory_store", key="from modern", value={"n": 2}, namespace="both")
    assert one.tool("memory_list", namespace="both")["total"] == 2


def test_stdout_has_the_protocol_alone_and_the_end_of_stdin_ends_it(visit: Join, era: Era) -> None:
    client = visit(era)
    client.tool("memory_list")
    number = client.start("tools/list")
    client.answer(number)
    assert client.end() == (0, "", [])


def test_an_answer_that_is_on_its_way_at_the_end_of_stdin_still_arrives(
    visit: Join, era: Era
) -> None:
    client = visit(era)
    numbers = [
        client.start_tool("memory_store", key=f"{era}-last-{n}", value=MANY_ROWS) for n in range(5)
    ]
    code, logged, rest = client.end()
    assert (code, logged) == (0, "")
    assert sorted(message["id"] for message in rest) == numbers
    assert all(message["result"]["isError"] is False for message in rest)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_while_stdin_is_open_and_leaves_the_daemon_alone(
    visit: Join, shared: Path, number: signal.Signals, era: Era
) -> None:
    client = visit(era)
    client.tool("memory_list")
    daemon = daemon_process(shared).pid
    client.process.send_signal(number)
    assert client.process.wait(END_SECONDS) == 0
    assert client.end() == (0, "", [])
    assert daemon_process(shared).pid == daemon


def test_lines_that_are_piped_in_at_once_are_taken_in_order(shared: Path) -> None:
    with bare_bridge(shared, "legacy") as client:
        client.start_reading()
        hello: Json = {
            "protocolVersion": VERSIONS["legacy"],
            "capabilities": {},
            "clientInfo": CLIENT,
        }
        lines = [
            {"id": 0, "method": "initialize", "params": hello},
            {"method": "notifications/initialized"},
            {"id": "one", "method": "tools/call", "params": {"name": "memory_list"}},
            {"id": 2, "method": "ping"},
        ]
        assert client.process.stdin is not None
        client.process.stdin.write(
            b"".join(json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n" for line in lines)
        )
        code, logged, answers = client.end()
    assert (code, logged) == (0, "")
    found = {answer["id"]: answer["result"] for answer in answers if "id" in answer}
    assert next(iter(found)) == 0
    assert set(found) == {0, "one", 2}
    assert found["one"]["isError"] is False


def test_it_ends_when_nobody_reads_its_answers(shared: Path) -> None:
    with bare_bridge(shared, "modern") as client:
        assert client.process.stdout is not None
        client.process.stdout.close()
        client.start_tool("memory_list")
        assert client.process.wait(END_SECONDS) == 0
        assert client.process.stderr is not None
        assert client.process.stderr.read() == b""


@pytest.mark.parametrize("value", [MANY_ROWS, ODD_LINES], ids=["large", "odd lines"])
def test_a_message_arrives_as_it_was_sent(visit: Join, era: Era, value: dict[str, object]) -> None:
    client = visit(era)
    client.tool("memory_store", key="message", value=value)
    assert client.tool("memory_retrieve", key="message")["value"] == value


def test_many_requests_run_side_by_side(visit: Join, era: Era) -> None:
    client = visit(era)
    numbers = [client.start_tool("memory_list", limit=1) for _ in range(100)]
    assert all(client.result(number)["isError"] is False for number in numbers)


def test_toolsets_are_narrowed_for_one_client_alone(visit: Join) -> None:
    for era in ERAS:
        narrow, wide = visit(era, "--toolsets", "trace"), visit(era)
        assert names(narrow) == {"trace_list", "trace_get", "trace_analyze"}
        assert names(wide) > names(narrow)
        refused = narrow.result(narrow.start_tool("memory_list"))
        assert refused["structuredContent"]["error"]["code"] == "NOT_FOUND"


def names(client: Bridge) -> set[str]:
    return {tool["name"] for tool in client.ask("tools/list")["result"]["tools"]}
