"""The session that README shows, carried out by a real client against a fresh daemon."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

from tests.support.servers import http_server, key_of

README = Path(__file__).parents[2] / "README.md"
PAIR = re.compile(r"""(\S+?)=("(?:[^"\\]|\\.)*"|\[[^\]]*\]|\S+)""")


class Exchange(NamedTuple):
    tool: str
    arguments: dict[str, Any]
    shown: dict[str, Any]


def transcript() -> Iterator[Exchange]:
    text = README.read_text(encoding="utf-8")
    for asked, told in re.findall(r"^> (.+)\n< (.+)$", text, flags=re.MULTILINE):
        tool, _, arguments = asked.partition(" ")
        yield Exchange(tool, pairs(arguments), pairs(told))


def pairs(text: str) -> dict[str, Any]:
    return {name: json.loads(value) for name, value in PAIR.findall(text)}


def at(path: str, answer: Any) -> Any:  # noqa: ANN401 - whatever the answer holds
    for step in path.split("."):
        answer = answer[int(step)] if step.isdigit() else answer[step]
    return answer


def test_readme_shows_the_whole_life_of_an_agent() -> None:
    tools = [exchange.tool for exchange in transcript()]
    assert tools[:3] == ["list_agent_projects", "create_agent", "wait_for_agent"]
    assert {"show_agent_log", "show_agent_task_history", "show_agent_diff"} <= set(tools)
    assert tools[-4:] == ["start_agent_task", "cancel_agent_task", "restart_agent", "delete_agent"]


@pytest.mark.timeout(120)
async def test_what_readme_shows_of_a_first_agent_is_what_happens(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with http_server(home=home) as (url, _):
        transport = StreamableHttpTransport(f"{url}/mcp", auth=key_of(home))
        async with Client(transport) as client:
            for tool, arguments, shown in transcript():
                answer = await client.call_tool(tool, arguments, raise_on_error=False)
                body = answer.structured_content
                seen = {path: at(path, body) for path in shown}
                assert seen == shown, body
