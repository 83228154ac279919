"""The MCP Inspector's command line against the server, in both eras, on both transports."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.checks import Baseline
from tests.conformance.npm import Done, Program
from tests.support.repository import ROOT
from tests.support.servers import QUARTERDECK

pytestmark = [
    pytest.mark.timeout(300),  # a cold cache means downloads
    pytest.mark.xdist_group("conformance"),  # one server
    pytest.mark.parametrize("era", ["legacy", "modern"]),
    pytest.mark.parametrize("transport", ["stdio", "http"]),
]

INSPECTOR = Program("@modelcontextprotocol/inspector", "2.12.0", "mcp-inspector")
OFFERED = sorted(path.stem for path in (ROOT / "tests/contract/toolsnaps").glob("*.json"))
COMPLAINT = re.compile(r'^(?:Error|Warning): tool "(.+)"\n +Path: (.+)$', re.MULTILINE)


@pytest.fixture(scope="session", autouse=True)
def fetched() -> None:
    """Ask a registry that is out of reach once, not in each test."""
    INSPECTOR.installed()


@pytest.fixture
def server(transport: str, request: pytest.FixtureRequest) -> list[str]:
    """How the server is named to the Inspector: an address, or a command to start."""
    if transport == "http":
        header = f"Authorization: {request.getfixturevalue('authorization')}"
        return [request.getfixturevalue("endpoint"), "--header", header]
    return ["--", str(QUARTERDECK), "mcp", "--standalone"]


def test_every_tool_is_listed_with_a_portable_schema(
    era: str, server: list[str], baseline: Baseline, tmp_path: Path
) -> None:
    listing = inspect("tools/list", "--strict", era=era, server=server, home=tmp_path)

    complaints = [" ".join(found.groups()) for found in COMPLAINT.finditer(listing.stderr)]
    assert sorted(tool["name"] for tool in result(listing)["tools"]) == OFFERED
    assert sorted(complaints) == sorted(baseline.schema_warnings), listing.stderr


def test_a_tool_is_called(era: str, server: list[str], tmp_path: Path) -> None:
    entry = {"key": f"inspected {era}", "value": {"text": "ahoy", "to": None}}
    called = ["--tool-name", "memory_store", "--tool-args-json", json.dumps(entry)]

    stored = result(inspect("tools/call", *called, era=era, server=server, home=tmp_path))

    assert stored["isError"] is False
    assert stored["structuredContent"]["key"] == entry["key"]
    # Only the modern era names the server in each result, so this tells which one was spoken.
    assert ("_meta" in stored) is (era == "modern")


def inspect(method: str, *options: str, era: str, server: list[str], home: Path) -> Done:
    chosen = ["--protocol-era", era, "--format", "json", "--method", method, *options]
    done = INSPECTOR.run("--cli", *chosen, *server, home=home)
    assert done.returncode == 0, done.stderr
    return done


def result(done: Done) -> dict[str, Any]:
    return json.loads(done.stdout)["result"]
