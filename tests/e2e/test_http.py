"""`quarterdeck up`, as a server process on a free port."""

import signal
from collections.abc import Iterator
from pathlib import Path

import anyio
import httpx2
import pytest
from fastmcp import Client

from tests.support.mcp_clients import ERAS, HTTP_CLIENTS, call_every_tool
from tests.support.servers import END_SECONDS, bearer, http_server, key_of, process, stream

pytestmark = pytest.mark.xdist_group("http")  # one server for all


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def key(address: str, home: Path) -> str:
    assert address
    return key_of(home)


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    with http_server(home=home) as (url, server):
        yield url
        server.send_signal(signal.SIGTERM)
        assert server.wait(END_SECONDS) == 0
        assert stream(server.stderr).read() == ""


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("client", HTTP_CLIENTS)
async def test_a_client_lists_and_calls_every_tool(
    client: str, mode: str, address: str, key: str
) -> None:
    with anyio.fail_after(50):
        async with HTTP_CLIENTS[client](mode, f"{address}/mcp", key) as connected:
            await call_every_tool(connected)


@pytest.mark.parametrize("mode", ERAS)
async def test_the_address_narrows_the_tools_for_listing_and_calling(
    mode: str, address: str, key: str
) -> None:
    async with Client(f"{address}/mcp/x/trace,meta", auth=key, mode=mode) as client:
        names = {tool.name for tool in await client.list_tools()}
        hidden = await client.call_tool_mcp("memory_list", {})
        offered = await client.call_tool_mcp("trace_list", {})

    assert names == {"trace_list", "trace_get", "trace_analyze", "mcp_list_resources"}
    assert hidden.structured_content["error"]["code"] == "NOT_FOUND"
    assert offered.is_error is False


@pytest.mark.parametrize("path", ["memry", "memry/readonly"])
def test_an_address_that_names_an_unknown_toolset_is_not_found(
    path: str, address: str, key: str
) -> None:
    refused = httpx2.post(f"{address}/mcp/x/{path}", json={}, headers=bearer(key))

    assert refused.status_code == 404
    assert "did you mean 'memory'?" in refused.json()["error"]["details"]["hint"]


def test_the_start_page_lists_the_tools_in_plain_http(address: str) -> None:
    page = httpx2.get(f"{address}/")
    assert page.status_code == 200
    assert "memory_store" in page.text
    assert f"{address}/mcp" in page.text


def test_the_health_check_answers(address: str) -> None:
    assert httpx2.get(f"{address}/healthz").json()["ok"] is True


@pytest.mark.parametrize("path", ["/", "/healthz", "/mcp"])
def test_a_foreign_host_is_refused(path: str, address: str) -> None:
    refused = httpx2.get(f"{address}{path}", headers={"Host": "evil.example"})
    assert refused.status_code == 421


def test_a_port_in_use_is_reported_with_what_to_do(address: str, tmp_path: Path) -> None:
    with process("up", "--port", address.rpartition(":")[2], home=tmp_path) as server:
        out, log = server.communicate(timeout=END_SECONDS)
        assert (server.returncode, out) == (6, "")
    assert "Address already in use" in log
    assert "hint: " in log
    assert "--port" in log


def test_ctrl_c_ends_the_server_although_a_client_holds_a_stream(tmp_path: Path) -> None:
    with http_server(home=tmp_path) as (url, server):
        with httpx2.Client(base_url=url, headers=bearer(key_of(tmp_path))) as client:
            session = open_session(client)
            with client.stream("GET", "/mcp", headers=session) as held:
                assert held.status_code == 200
                server.send_signal(signal.SIGINT)
                assert server.wait(END_SECONDS) == 0
        assert "Traceback" not in stream(server.stderr).read()
    left = {path.name for path in (tmp_path / "quarterdeck" / "run").iterdir()}
    assert left <= {"daemon.lock", "start.lock"}, "locks stay as files, but nobody holds them"


def open_session(client: httpx2.Client) -> dict[str, str]:
    """Return the headers of a new session of the older protocol."""
    accept = {"Accept": "application/json, text/event-stream"}
    params = {
        "protocolVersion": ERAS["legacy"],
        "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    answer = client.post("/mcp", json=message, headers=accept)
    return {"Accept": "text/event-stream", "Mcp-Session-Id": answer.headers["mcp-session-id"]}
