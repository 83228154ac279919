"""From a command to what a connected client reads, with real processes all the way."""

import json
from pathlib import Path
from typing import Any

from fastmcp import Client
from mcp.types import Tool

from tests.support.daemons import quarterdeck
from tests.support.servers import http_server, key_of


async def memory_store(client: Client[Any]) -> Tool:
    (tool,) = [tool for tool in await client.list_tools() if tool.name == "memory_store"]
    return tool


async def test_words_that_were_set_and_reloaded_reach_a_client(tmp_path: Path) -> None:
    with http_server(home=tmp_path) as (url, _):
        made = quarterdeck("metadata", "init", home=tmp_path)
        assert made.returncode == 0, made.stderr
        async with Client(f"{url}/mcp", auth=key_of(tmp_path)) as client:
            for arguments in (("description", "Our words."), ("annotations.open_world", "true")):
                done = quarterdeck("metadata", "set", "memory_store", *arguments, home=tmp_path)
                assert done.returncode == 0, done.stderr
            checked = quarterdeck("metadata", "validate", "--json", home=tmp_path)
            assert json.loads(checked.stdout)["against"] == f"the daemon at {url}"
            assert (await memory_store(client)).description != "Our words."
            assert quarterdeck("reload", home=tmp_path).returncode == 0
            store = await memory_store(client)
            assert store.description == "Our words."
            assert store.annotations is not None
            assert store.annotations.open_world_hint is True

            done = quarterdeck("metadata", "unset", "memory_store", home=tmp_path)
            assert done.returncode == 0, done.stderr
            assert quarterdeck("reload", home=tmp_path).returncode == 0
            assert (await memory_store(client)).description != "Our words."
