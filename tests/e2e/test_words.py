"""The user's words through every way in, and exchanged while clients are connected."""

import subprocess
import sys
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Literal

import httpx2
import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp import StdioServerParameters
from mcp.client import Client as SdkClient
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.subscriptions import ToolsListChanged

from tests.support.bridges import Era, bridge
from tests.support.daemons import address_of, deck_home, http, quarterdeck
from tests.support.servers import (
    END_SECONDS,
    QUARTERDECK,
    bearer,
    environment,
    key_of,
    said_until_ready,
)
from tests.support.wordy import IN_WORDS, WORDS, shown
from tests.support.workshop_daemons import end_daemons

pytestmark = [pytest.mark.timeout(120), pytest.mark.xdist_group("words")]

SCRIPT = Path(__file__).parents[1] / "support" / "wordy.py"
Way = Literal["bridge", "standalone", "http"]
BAD = f"{WORDS}  nobody:\n    title: x\nversin: 1\n"
PROBLEM = "line 32: versin: 'versin' is unknown, did you mean 'version'?"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    deck_home(tmp_path).mkdir()
    yield tmp_path
    end_daemons(tmp_path)


def say(home: Path, text: str) -> None:
    (deck_home(home) / "metadata.yaml").write_text(text, encoding="utf-8")


@contextmanager
def daemon(home: Path) -> Generator[None]:
    """Be the daemon of a home, with one more of each kind to list."""
    with subprocess.Popen(
        [sys.executable, SCRIPT, "up", "--port", "0"],
        env=environment(home),
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        try:
            said_until_ready(process.stdout)
            yield
        finally:
            process.kill()
            process.wait(END_SECONDS)


def connected(way: Way, home: Path, mode: str) -> AbstractAsyncContextManager[Client[Any]]:
    if way == "http":
        return Client(f"{address_of(home).url}/mcp", auth=key_of(home), mode=mode)
    command = {
        "bridge": [str(QUARTERDECK), "mcp"],
        "standalone": [sys.executable, str(SCRIPT), "mcp", "--standalone"],
    }[way]
    transport = StdioTransport(
        command[0], command[1:], env=environment(home), keep_alive=False, log_file=home / "log"
    )
    return Client(transport, mode=mode)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("way", ["bridge", "standalone", "http"])
async def test_every_list_is_in_the_users_words(home: Path, way: Way, mode: str) -> None:
    say(home, WORDS)
    with daemon(home):
        async with connected(way, home, mode) as client:
            assert await shown(client) == IN_WORDS


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_bridged_client_is_told_of_a_reload_and_then_shown_other_words(
    home: Path, era: Era
) -> None:
    with daemon(home), bridge(home, era) as client:
        if era == "modern":
            client.start("subscriptions/listen", notifications={"toolsListChanged": True})
            client.told("notifications/subscriptions/acknowledged")
        before = titles(client.ask("tools/list"))
        say(home, WORDS)
        done = quarterdeck("reload", home=home)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        client.told("notifications/tools/list_changed")
        if era == "legacy":
            client.told("notifications/resources/list_changed")
            client.told("notifications/prompts/list_changed")
        assert before["memory_store"] != "Put away"
        assert titles(client.ask("tools/list"))["memory_store"] == "Put away"


def titles(answer: dict[str, Any]) -> dict[str, str | None]:
    return {tool["name"]: tool.get("title") for tool in answer["result"]["tools"]}


@asynccontextmanager
async def listening(way: Way, home: Path) -> AsyncGenerator[SdkClient]:
    if way == "http":
        async with (
            httpx2.AsyncClient(headers=bearer(key_of(home)), timeout=30) as opened,
            SdkClient(
                streamable_http_client(f"{address_of(home).url}/mcp", http_client=opened)
            ) as client,
        ):
            yield client
        return
    server = StdioServerParameters(command=str(QUARTERDECK), args=["mcp"], env=environment(home))
    async with SdkClient(stdio_client(server)) as client:
        yield client


@pytest.mark.parametrize("way", ["bridge", "http"])
async def test_the_official_client_hears_of_a_reload(home: Path, way: Way) -> None:
    with daemon(home):
        async with (
            listening(way, home) as client,
            client.listen(tools_list_changed=True) as changes,
        ):
            say(home, WORDS)
            assert http(home, "POST", "/control/reload").json() == {"warnings": []}
            assert await anext(changes) == ToolsListChanged()
            listed = {tool.name: tool.title for tool in (await client.list_tools()).tools}
            assert listed["memory_store"] == "Put away"


async def test_a_bad_file_leaves_the_old_words_in_force(home: Path) -> None:
    say(home, WORDS)
    with daemon(home):
        say(home, BAD)
        done = quarterdeck("reload", home=home)
        assert done.returncode == 2
        assert PROBLEM in done.stderr
        async with connected("http", home, "auto") as client:
            assert await shown(client) == IN_WORDS
        say(home, f"strict: false\n{WORDS}  nobody:\n    title: x\n")
        done = quarterdeck("reload", home=home)
        assert done.returncode == 0
        assert "there is no prompt 'nobody' (skipped)" in done.stderr


def test_a_reload_without_a_daemon_says_so(home: Path) -> None:
    done = quarterdeck("reload", home=home)
    assert done.returncode == 3
    assert "No daemon is running" in done.stderr


STRICT = "tools:\n  memory_stor: {}\n  memory_list: {arguments: {limt: {}}}\n"
PROBLEMS = (
    "line 2: tools.memory_stor: there is no tool 'memory_stor', did you mean 'memory_store'?;"
    " line 3: tools.memory_list.arguments.limt: the tool 'memory_list' has no argument 'limt',"
    " did you mean 'limit'?"
)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("mcp", "--standalone"), 2),
        (("up", "--port", "0"), 2),
        (("up", "--detach", "--port", "0"), 6),
        (("mcp",), 6),  # which starts the daemon
    ],
)
def test_no_server_starts_with_a_strict_file_that_does_not_fit(
    home: Path, command: tuple[str, ...], code: int
) -> None:
    say(home, STRICT)
    done = quarterdeck(*command, home=home)
    assert done.returncode == code
    assert PROBLEMS in done.stderr
    assert address_is_unknown(home)


def address_is_unknown(home: Path) -> bool:
    return quarterdeck("status", home=home).returncode == 3


def test_the_doctor_finds_what_does_not_fit(home: Path) -> None:
    say(home, STRICT)
    done = quarterdeck("doctor", home=home)
    assert done.returncode == 1
    assert PROBLEMS in done.stdout


def test_a_lenient_file_that_does_not_fit_is_a_warning_in_the_log(home: Path) -> None:
    say(home, "strict: false\ntools:\n  memory_stor: {}\n")
    done = quarterdeck("mcp", "--standalone", home=home)
    assert done.returncode == 0
    assert "tools.memory_stor: there is no tool 'memory_stor'" in done.stderr


def test_words_from_the_file_that_a_variable_names(home: Path) -> None:
    elsewhere = home / "words.yaml"
    elsewhere.write_text(STRICT, encoding="utf-8")
    done = quarterdeck(
        "mcp", "--standalone", home=home, environ={"QUARTERDECK_METADATA": str(elsewhere)}
    )
    assert done.returncode == 2
    assert str(elsewhere) in done.stderr


def test_the_open_start_page_keeps_to_the_packages_words(home: Path) -> None:
    say(home, WORDS)
    with daemon(home):
        page = httpx2.get(address_of(home).url, trust_env=False).text
    assert "memory_store" in page
    assert "Put away" not in page
