"""What a conformance suite found, and how it is judged against the baseline."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import yaml

RESULT_FOLDER = re.compile(r"server-(?P<scenario>.+)-\d{4}-\d\d-\d\dT[\d-]+Z")


@dataclass(frozen=True)
class Check:
    scenario: str
    id: str
    status: str
    message: str = ""

    @property
    def name(self) -> str:
        return f"{self.scenario}:{self.id}"

    @property
    def is_problem(self) -> bool:
        """A warning stands for a SHOULD of the specification, and counts like a MUST."""
        return self.status in {"FAILURE", "WARNING"}

    @property
    def is_of_the_wire(self) -> bool:
        """Whether each message was held to the specification's schema, whatever it said."""
        return self.id.startswith("wire-schema-")


@dataclass(frozen=True)
class Baseline:
    """Names of scenarios (`ping`) or of single checks (`ping:its-id`), each with its reason."""

    faults: Mapping[str, str]
    lacking: Mapping[str, str]
    proving_nothing: Mapping[str, str]
    schema_warnings: Mapping[str, str]

    @classmethod
    def read(cls, path: Path) -> Self:
        return cls(**yaml.safe_load(path.read_text(encoding="utf-8")))

    def unexplained(self, checks: Iterable[Check]) -> list[str]:
        """Return the problems that no entry foresees."""
        return [
            f"{check.name}: {check.message}"
            for check in checks
            if check.is_problem and not self._explains(check)
        ]

    def stale(self, checks: Iterable[Check]) -> list[str]:
        """Return the entries for problems that are gone."""
        ran, failed = set[str](), set[str]()
        for check in checks:
            ran |= {check.scenario, check.name}
            if check.is_problem:
                failed |= {check.scenario, check.name}
        return sorted((self.faults.keys() | self.lacking.keys()) & ran - failed)

    def scenarios(self) -> set[str]:
        """Return the scenarios that any entry is about."""
        named = self.faults.keys() | self.lacking.keys() | self.proving_nothing.keys()
        return {name.partition(":")[0] for name in named}

    def proven(self, checks: Iterable[Check]) -> set[str]:
        """Return the scenarios of which something passed that says something about us."""
        left_out = self.lacking.keys() | self.proving_nothing.keys()
        passed = (check for check in checks if check.status == "SUCCESS")
        return {check.scenario for check in passed if not check.is_of_the_wire} - left_out

    def _explains(self, check: Check) -> bool:
        if check.name in self.faults:
            return True
        left_out = self.lacking.keys() | self.proving_nothing.keys()
        return not check.is_of_the_wire and not left_out.isdisjoint({check.scenario, check.name})


def read_results(folder: Path) -> list[Check]:
    """Return every check of a run, from the files that the suite wrote."""
    return [check for results in sorted(folder.iterdir()) for check in _of_scenario(results)]


def _of_scenario(results: Path) -> list[Check]:
    named = RESULT_FOLDER.fullmatch(results.name)
    assert named, f"{results.name} is not named as the suite names results"
    checks = json.loads((results / "checks.json").read_text(encoding="utf-8"))
    return [
        Check(named["scenario"], check["id"], check["status"], check.get("errorMessage") or "")
        for check in checks
    ]
