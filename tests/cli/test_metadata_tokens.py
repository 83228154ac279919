"""`metadata tokens`: an estimate of what the words cost a model."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import CommandLine
from tests.support.furnished import Furnished
from tests.support.repository import ROOT


def bill(cli: CommandLine, *arguments: str) -> dict[str, Any]:
    done = cli("metadata", "tokens", "--json", *arguments)
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_every_tool_has_its_price_and_the_totals_are_their_sums(cli: CommandLine) -> None:
    found = bill(cli)
    entries = found["entries"]
    assert {"memory_store", "trace_get", "mcp_list_resources"} <= {one["name"] for one in entries}
    assert all(0 < one["read"] < one["listed"] for one in entries)
    for which in ("read", "listed"):
        assert found[which] == sum(one[which] for one in entries)
        tools = [one for one in entries if one["kind"] == "tool"]
        assert sum(one[which] for one in tools) == sum(one[which] for one in found["toolsets"])
    assert "estimate" in found["method"]


def test_the_readme_has_the_figures_of_the_whole_surface(cli: CommandLine) -> None:
    found = bill(cli)
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    figures = re.search(r"cost a model about (\d+) tokens .* is sent about (\d+)\.", readme)
    assert figures is not None
    read, listed = map(int, figures.groups())
    assert (read, listed) == (round(found["read"], -1), round(found["listed"], -2))


def test_a_choice_of_toolsets_costs_less(cli: CommandLine) -> None:
    every = {one["toolset"]: one["read"] for one in bill(cli)["toolsets"]}
    some = bill(cli, "--toolsets", "memory,meta")
    assert {one["toolset"] for one in some["toolsets"]} == {"memory", "meta"}
    resources = sum(one["read"] for one in some["entries"] if one["kind"] != "tool")
    assert some["read"] == every["memory"] + every["meta"] + resources
    refused = cli("metadata", "tokens", "--toolsets", "memroy")
    assert refused.code == 2
    assert "did you mean 'memory'?" in refused.err


def test_other_words_cost_other_tokens_and_both_are_shown(cli: CommandLine, home: Path) -> None:
    plain = cli("metadata", "tokens").out
    assert "PACKAGE" not in plain.splitlines()[0]
    home.mkdir(exist_ok=True)
    long = "x" * 4000
    (home / "metadata.yaml").write_text(
        f"tools:\n  memory_store:\n    mode: append\n    description: {long}\n", encoding="utf-8"
    )
    found = bill(cli)
    assert found["read"] == pytest.approx(found["packageRead"] + 1000, abs=3)
    changed = cli("metadata", "tokens").out
    assert changed.splitlines()[0].split()[-1] == "PACKAGE"
    assert changed.splitlines()[-1].split()[-1] == str(found["packageRead"])


def test_four_characters_of_the_entry_are_one_token(cli: CommandLine) -> None:
    done = cli("metadata", "tokens", "--json", program=Furnished())
    first, *_ = json.loads(done.out)["entries"]
    entry = '{"name":"memory_store","description":"' + "d" * 400 + '"}'
    assert first["listed"] == first["read"] == -(-len(entry) // 4)
    kinds = [one["kind"] for one in json.loads(done.out)["entries"]]
    assert kinds == ["tool", "tool", "resource", "template", "prompt"]
