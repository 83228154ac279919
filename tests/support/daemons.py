"""The daemon of a home, as tests start it, ask it and talk to it."""

import json
import os
import subprocess
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp
import psutil
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

from quarterdeck.daemon.address import Address, find
from quarterdeck.daemon.key import read_key
from tests.support.mcp_clients import ERAS, Official, ToolClient
from tests.support.raw_stdio import RawStdio, request, tool_call
from tests.support.servers import QUARTERDECK, environment

# Shorter than a daemon waits for calls that are running.
ANSWER_SECONDS = 50


def deck_home(home: Path) -> Path:
    """Return the `QUARTERDECK_HOME` of a user whose `HOME` is `home`."""
    return home / "quarterdeck"


def address_of(home: Path) -> Address:
    address = find(deck_home(home))
    assert address is not None, "a daemon runs"
    return address


def quarterdeck(
    *arguments: str,
    home: Path,
    program: Path = QUARTERDECK,
    environ: Mapping[str, str] | None = None,
) -> "subprocess.CompletedProcess[str]":
    """Run one command to its end."""
    return subprocess.run(
        [program, *arguments],
        env=environment(home) | dict(environ or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=ANSWER_SECONDS,
        check=False,
    )


@contextmanager
def running(
    *arguments: str, home: Path, program: Path = QUARTERDECK
) -> Generator["subprocess.Popen[str]"]:
    """Run a command beside the test; it is gone afterwards."""
    with subprocess.Popen(
        [program, *arguments],
        env=environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def start(*arguments: str, home: Path, program: Path = QUARTERDECK) -> Address:
    """Start the daemon on a free port."""
    done = quarterdeck("up", "--detach", "--port", "0", *arguments, home=home, program=program)
    assert done.returncode == 0, done.stderr
    return address_of(home)


def http(home: Path, method: str, path: str) -> httpx2.Response:
    """Ask the daemon as somebody whom it lets in."""
    return httpx2.request(
        method,
        f"{address_of(home).url}{path}",
        headers={"Authorization": f"Bearer {read_key(deck_home(home))}"},
        timeout=ANSWER_SECONDS,
        trust_env=False,
    )


def await_end_of_offer(home: Path) -> None:
    """Return once nobody finds the daemon any more, though it may be busy yet."""
    while find(deck_home(home)) is not None:
        pass  # pytest-timeout is the limit


def living_daemons(home: Path) -> list[psutil.Process]:
    """Return the processes that work in the home, whether or not they are its daemon."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter(["cwd", "status"]):
        is_here = process.info["cwd"] == os.path.realpath(deck_home(home))
        if is_here and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process)
    return found


@asynccontextmanager
async def attached(era: str, home: Path) -> AsyncGenerator[ToolClient]:
    """Connect an MCP client through `quarterdeck mcp`."""
    server = StdioServerParameters(command=str(QUARTERDECK), args=["mcp"], env=environment(home))
    log = home / "stderr.log"
    with log.open("w", encoding="utf-8") as stderr:
        async with mcp.Client(stdio_client(server, errlog=stderr), mode=era) as client:
            assert client.protocol_version == ERAS[era]
            yield Official(client)


class Bridge(RawStdio):
    """`quarterdeck mcp`, spoken to line by line."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        super().__init__(process)
        self.process = process
        self._number = 1

    def shake_hands(self) -> None:
        hello = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        }
        self.send(request(1, "initialize", hello))
        assert self.answer()["id"] == 1
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def ask(self, tool: str, **arguments: object) -> int:
        """Call a tool without waiting; return the number of the call."""
        self._number += 1
        self.send(tool_call(self._number, tool, arguments))
        return self._number

    def answer_to(self, number: int) -> dict[str, Any]:
        """Return the result of a call; what the server says meanwhile is passed over."""
        while (message := self.answer()).get("id") != number:
            pass
        return message["result"]

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Return the structured answer of a call that succeeds."""
        result = self.answer_to(self.ask(tool, **arguments))
        assert not result.get("isError"), json.dumps(result)
        return result["structuredContent"]

    def tool_names(self) -> set[str]:
        self._number += 1
        self.send(request(self._number, "tools/list", {}))
        return {tool["name"] for tool in self.answer_to(self._number)["tools"]}


@contextmanager
def bridge(
    *arguments: str,
    home: Path,
    program: Path = QUARTERDECK,
    environ: Mapping[str, str] | None = None,
    shaken: bool = True,
) -> Generator[Bridge]:
    """Start `quarterdeck mcp` in a session of its own, and end it on the way out."""
    with subprocess.Popen(
        [program, "mcp", *arguments],
        env=environment(home) | dict(environ or {}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            started = Bridge(process)
            if shaken:
                started.shake_hands()
            yield started
        finally:
            process.kill()
