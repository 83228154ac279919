"""The scripted agent as a part of the package: small, alone, and documented."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from quarterdeck.testing.scripted_agent.directives.table import DIRECTIVES
from tests.support.acp_clients import RecordingClient
from tests.support.repository import ROOT

GUIDE = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
LOADED = """
import json, sys
before = set(sys.modules)
import quarterdeck.testing.scripted_agent.__main__
print(json.dumps(sorted(set(sys.modules) - before)))
"""
OWN = ("quarterdeck", "quarterdeck.testing")
# Each would cost megabytes, times the hundreds of agents that have to fit.
TOO_BIG = {
    "argparse",
    "asyncio",
    "dataclasses",
    "http.client",
    "logging",
    "subprocess",
    "urllib.request",
}


def test_it_loads_the_standard_library_alone_and_little_of_it() -> None:
    command = [sys.executable, "-c", LOADED]
    loaded: list[str] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    foreign = [
        name
        for name in loaded
        if not name.startswith("quarterdeck.testing.scripted_agent")
        and name not in OWN
        and name.partition(".")[0] not in sys.stdlib_module_names
    ]
    assert foreign == []
    assert TOO_BIG.isdisjoint(loaded)


def test_the_guide_has_every_directive_as_it_is_written() -> None:
    rows = re.findall(r"^\| `/([\w-]+) ?([^`]*)`", GUIDE, re.MULTILINE)
    assert dict(rows) == {"help": "", **{name: each.arguments for name, each in DIRECTIVES.items()}}


def test_the_guide_has_every_flag() -> None:
    command = [sys.executable, "-m", "quarterdeck.testing.scripted_agent", "--help"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    flags = set(re.findall(r"--[a-z]+", shown)) - {"--help"}
    assert set(re.findall(r"^\| `(--[a-z]+)", GUIDE, re.MULTILINE)) == flags


async def test_the_guides_example_works(tmp_path: Path) -> None:
    example, *_ = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(example, names)  # noqa: S102 - the example is ours
    client = RecordingClient()
    assert await names["ask"](client, str(tmp_path)) == "end_turn"
    assert client.said == "It is written."
