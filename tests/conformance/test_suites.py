"""The official conformance suites against a real server, in both protocol eras."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conformance.checks import Baseline, Check, read_results
from tests.conformance.npm import Program

pytestmark = [
    pytest.mark.timeout(300),  # a cold cache means downloads
    pytest.mark.xdist_group("conformance"),  # one server
]

STABLE = "0.1.16"
NEXT = "0.2.0-alpha.12"  # the first to know protocol 2026-07-28

IN_BOTH_ERAS = {
    "dns-rebinding-protection",
    "prompts-list",
    "resources-list",
    "server-sse-multiple-streams",
    "tools-list",
}
IN_THE_OLDER_ERA = IN_BOTH_ERAS | {"logging-set-level", "ping", "server-initialize"}


def conformance(release: str) -> Program:
    return Program("@modelcontextprotocol/conformance", release, "conformance")


@dataclass(frozen=True)
class Suite:
    release: str
    selection: tuple[str, str]
    proves: set[str]

    def run(self, endpoint: str, folder: Path) -> list[Check]:
        """Return what the suite found; its exit code is of no use while scenarios are left out."""
        arguments = ("server", "--url", endpoint, *self.selection, "--output-dir", folder / "out")
        done = conformance(self.release).run(*arguments, home=folder)
        assert "=== SUMMARY ===" in done.stdout, done.stdout + done.stderr
        return read_results(folder / "out")


SUITES = {
    "stable": Suite(STABLE, ("--suite", "all"), proves=IN_THE_OLDER_ERA),
    "2025-11-25": Suite(
        NEXT,
        ("--requirements", "2025-11-25"),
        proves=IN_THE_OLDER_ERA | {"server-session-lifecycle"},
    ),
    "2026-07-28": Suite(
        NEXT,
        ("--requirements", "2026-07-28"),
        proves=IN_BOTH_ERAS
        | {
            "caching",
            "http-header-validation",
            "input-required-result-unsupported-methods",
            "sep-2164-resource-not-found",
            "server-stateless",
        },
    ),
}


@pytest.mark.parametrize("name", SUITES)
def test_the_server_conforms_but_for_what_the_baseline_explains(
    name: str, open_endpoint: str, baseline: Baseline, tmp_path: Path
) -> None:
    checks = SUITES[name].run(open_endpoint, tmp_path)

    problems = baseline.unexplained(checks)
    assert problems == [], "\n".join(problems)
    assert baseline.stale(checks) == []
    assert baseline.proven(checks) == SUITES[name].proves


def test_the_baseline_names_scenarios_that_exist(baseline: Baseline, tmp_path: Path) -> None:
    listing = conformance(NEXT).run("list", "--server", home=tmp_path).stdout
    existing = set(re.findall(r"^ +- (\S+)", listing, re.MULTILINE))
    assert baseline.scenarios() - existing == set()
