import pytest

from tests.conformance.checks import Baseline, Check

BASELINE = Baseline(
    faults={"caching:known": "to be mended"},
    lacking={"images": "a tool", "stateless:one": "a tool"},
    proving_nothing={"text": "a tool"},
    schema_warnings={},
)
FAILING = [
    Check("caching", "known", "FAILURE"),
    Check("images", "whatever", "FAILURE"),
    Check("stateless", "one", "FAILURE"),
]


def test_problems_that_the_baseline_names_are_explained() -> None:
    assert BASELINE.unexplained(FAILING) == []
    assert BASELINE.stale(FAILING) == []


@pytest.mark.parametrize("status", ["FAILURE", "WARNING"])
@pytest.mark.parametrize(("scenario", "check"), [("ping", "ping"), ("stateless", "two")])
def test_any_other_problem_is_not(scenario: str, check: str, status: str) -> None:
    problem = Check(scenario, check, status, "no answer")
    assert BASELINE.unexplained([*FAILING, problem]) == [f"{scenario}:{check}: no answer"]


@pytest.mark.parametrize("scenario", ["images", "text"])
def test_a_message_that_breaks_the_schema_is_never_explained_by_a_missing_part(
    scenario: str,
) -> None:
    broken = Check(scenario, "wire-schema-valid", "FAILURE")
    assert BASELINE.unexplained([broken]) == [f"{scenario}:wire-schema-valid: "]


def test_an_entry_that_passes_is_stale_and_one_that_is_not_run_is_not() -> None:
    mended = [Check("images", "whatever", "SUCCESS"), Check("stateless", "one", "SUCCESS")]
    assert BASELINE.stale(mended) == ["images", "stateless:one"]


def test_what_is_left_out_and_what_only_speaks_well_proves_nothing() -> None:
    passed = [
        Check("ping", "ping", "SUCCESS"),
        Check("images", "whatever", "SUCCESS"),
        Check("text", "text", "SUCCESS"),
        Check("tasks", "wire-schema-valid", "SUCCESS"),
    ]
    assert BASELINE.proven(passed) == {"ping"}
