"""Who gets in to a real server, from where; and that what lets them in is written down nowhere."""

import os
import pwd
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import anyio
import httpx2
import psutil
import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp.shared.exceptions import MCPError

from quarterdeck.daemon.key import KEY_FILE, new_secret
from tests.support.mcp_clients import ERAS, HTTP_CLIENTS, call_every_tool
from tests.support.servers import (
    END_SECONDS,
    QUARTERDECK,
    bearer,
    environment,
    http_server,
    key_of,
    process,
    stream,
)

pytestmark = pytest.mark.xdist_group("access")  # one server for all

ANOTHER_USER = """
import sys, urllib.error, urllib.request

address, key_file = sys.argv[1:]
try:
    print("read", open(key_file).read())
except OSError as error:
    print("cannot read:", type(error).__name__)
try:
    print("answered", urllib.request.urlopen(address, b"{}").status)
except urllib.error.HTTPError as error:
    print("refused:", error.code)
"""


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """A folder that everybody can look into, so that nothing but our own modes is in the way."""
    with tempfile.TemporaryDirectory(prefix="quarterdeck-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    with http_server(home=home) as (url, server):
        yield url
        server.send_signal(signal.SIGTERM)
        assert server.wait(END_SECONDS) == 0
        # All refusals of a minute are worth one line.
        for line in stream(server.stderr).read().splitlines():
            assert "without a valid token" in line


def token(home: Path, *arguments: str) -> str:
    """Make a token as a user does, beside the server that runs."""
    made = subprocess.run(
        [QUARTERDECK, "token", "create", *arguments],
        env=environment(home),
        capture_output=True,
        text=True,
        check=True,
    )
    return made.stdout.strip()


def revoke(home: Path, name: str) -> None:
    command = [QUARTERDECK, "token", "revoke", name]
    subprocess.run(command, env=environment(home), capture_output=True, check=True)


def post(address: str, headers: dict[str, str]) -> httpx2.Response:
    return httpx2.post(f"{address}/mcp", json={}, headers=headers)


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("client", HTTP_CLIENTS)
async def test_a_client_with_a_token_calls_every_tool(
    client: str, mode: str, address: str, home: Path
) -> None:
    secret = token(home, f"{client}-{mode}", "--scope", "write", "--scope", "approve")
    with anyio.fail_after(50):
        async with HTTP_CLIENTS[client](mode, f"{address}/mcp", secret) as connected:
            await call_every_tool(connected)


@pytest.mark.parametrize("mode", ERAS)
async def test_a_token_that_is_revoked_beside_the_server_ends_at_once(
    mode: str, address: str, home: Path
) -> None:
    secret = token(home, f"revoked-{mode}")
    async with Client(f"{address}/mcp", auth=secret, mode=mode) as client:
        assert not (await client.call_tool_mcp("memory_list", {})).is_error
        revoke(home, f"revoked-{mode}")
        with pytest.raises(MCPError):
            await client.call_tool_mcp("memory_list", {})
    refused = post(address, bearer(secret))
    assert refused.status_code == 401
    assert "has been revoked" in refused.json()["error"]["message"]


@pytest.mark.parametrize("headers", [{}, bearer("guess"), bearer(new_secret())], ids=range(3))
def test_without_a_token_the_answer_says_how_to_get_one(
    address: str, headers: dict[str, str]
) -> None:
    refused = post(address, headers)
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert "quarterdeck token create" in refused.json()["error"]["details"]["hint"]


@pytest.mark.parametrize("foreign", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}])
def test_a_foreign_host_or_origin_is_refused_with_the_key_in_hand(
    address: str, home: Path, foreign: dict[str, str]
) -> None:
    assert post(address, foreign | bearer(key_of(home))).status_code in {403, 421}
    assert post(address, bearer(key_of(home))).status_code == 400


@pytest.mark.skipif(os.geteuid() != 0, reason="only on a system where the tests run as root")
def test_another_user_of_the_machine_gets_nothing(address: str, home: Path) -> None:
    private = home / "quarterdeck"
    assert _tried_by_nobody(address, private) == ["cannot read: PermissionError", "refused: 401"]
    private.chmod(0o755)
    assert _tried_by_nobody(address, private) == ["cannot read: PermissionError", "refused: 401"]


def _tried_by_nobody(address: str, private: Path) -> list[str]:
    nobody = pwd.getpwnam("nobody")
    tried = subprocess.run(
        [_plain_python(), "-c", ANOTHER_USER, f"{address}/mcp", str(private / KEY_FILE)],
        user=nobody.pw_uid,
        group=nobody.pw_gid,
        extra_groups=[],
        env={"PATH": os.defpath},
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )
    return tried.stdout.splitlines()


def _plain_python() -> str:
    """Return a Python that another user may start; the tests' own may lie in a private folder."""
    found = [path for path in ("/usr/bin/python3", "/usr/local/bin/python3") if Path(path).exists()]
    return (found or [sys.executable])[0]


def test_the_key_stays_over_a_restart_and_is_in_no_log_no_process_and_no_file_but_its_own(
    tmp_path: Path,
) -> None:
    secrets: list[str] = []
    logs: list[str] = []
    seen: list[bytes] = []
    for run in ("first", "second"):
        with http_server(home=tmp_path) as (url, server):
            key, made = key_of(tmp_path), token(tmp_path, run, "--scope", "admin")
            secrets += [key, made]
            for secret in (key, made, made + "x", key[:-1]):
                post(url, bearer(secret))
                httpx2.get(f"{url}/control/{secret}", headers=bearer(secret))
            seen += [_shown(member) for member in _family(server.pid)]
            server.send_signal(signal.SIGTERM)
            assert server.wait(END_SECONDS) == 0
            logs += [stream(server.stdout).read(), stream(server.stderr).read()]

    assert secrets[0] == secrets[2], "the key is kept"
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != KEY_FILE]
    assert any(path.suffix == ".db" for path in files)
    written = b"".join(path.read_bytes() for path in files)
    for secret in secrets:
        hidden = secret.removeprefix("qd_")
        assert hidden not in "".join(logs)
        assert hidden.encode() not in written
        assert hidden.encode() not in b"".join(seen)


def _family(pid: int) -> list[psutil.Process]:
    started = psutil.Process(pid)
    return [psutil.Process(), started, *started.children(recursive=True)]


def _shown(member: psutil.Process) -> bytes:
    """Return what a list of processes shows of one, to its own user."""
    shown = [*member.cmdline(), *(f"{name}={value}" for name, value in member.environ().items())]
    return "\0".join(shown).encode()


def test_a_key_that_others_can_read_stops_the_start(tmp_path: Path) -> None:
    with http_server(home=tmp_path) as (_, server):
        server.send_signal(signal.SIGTERM)
        assert server.wait(END_SECONDS) == 0
    (tmp_path / "quarterdeck" / KEY_FILE).chmod(0o644)
    with process("up", "--port", "0", home=tmp_path) as server:
        out, log = server.communicate(timeout=END_SECONDS)
    assert (server.returncode, out) == (2, "")
    assert "chmod 600" in log


def test_a_server_on_every_address_answers_to_its_names_and_warns_that_it_does_not_encrypt(
    tmp_path: Path,
) -> None:
    (tmp_path / "quarterdeck").mkdir()
    (tmp_path / "quarterdeck" / "config.toml").write_text(
        '[server]\nhost = "0.0.0.0"\nallowed_hosts = ["deck.example"]\n', encoding="utf-8"
    )
    with http_server(home=tmp_path) as (url, server):
        key = bearer(key_of(tmp_path))
        for host, status in (("deck.example", 400), ("evil.example", 421)):
            assert post(url, key | {"Host": host}).status_code == status
        assert post(url, {"Host": "deck.example"}).status_code == 401
        server.send_signal(signal.SIGTERM)
        assert server.wait(END_SECONDS) == 0
        warned, refused = stream(server.stderr).read().splitlines()
    assert "TLS proxy" in warned
    assert "SSH tunnel" in warned
    assert "without a valid token" in refused


def test_every_address_without_names_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "quarterdeck").mkdir()
    (tmp_path / "quarterdeck" / "config.toml").write_text(
        '[server]\nhost = "0.0.0.0"\n', encoding="utf-8"
    )
    with process("up", "--port", "0", home=tmp_path) as server:
        out, log = server.communicate(timeout=END_SECONDS)
    assert (server.returncode, out) == (2, "")
    assert "server.allowed_hosts" in log


@pytest.mark.parametrize("mode", ERAS)
async def test_a_client_that_is_launched_read_only_sees_only_what_reads(
    mode: str, address: str, home: Path, tmp_path: Path
) -> None:
    assert address
    launched = StdioTransport(
        str(QUARTERDECK),
        ["mcp", "--read-only"],
        env=environment(home),
        keep_alive=False,
        log_file=tmp_path / "stderr",
    )
    async with Client(launched, mode=mode) as client:
        shown = {tool.name for tool in await client.list_tools()}
        refused = await client.call_tool_mcp("memory_store", {"key": "k", "value": {}})

    assert "memory_list" in shown
    assert "memory_store" not in shown
    assert refused.structured_content is not None
    assert refused.structured_content["error"]["code"] == "NOT_FOUND"
