"""In CI a skipped test is a failure, because nothing may be missing there.

Two reasons stay: another operating system ("only on macOS"), and the reference folder that
may lie beside the repository ("no ../shared").
"""

import os
from collections.abc import Generator

import pytest

ACCEPTED_REASONS = ("only on ", "no ../shared")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    # An expected failure is reported as skipped too; it did run.
    if not hasattr(report, "wasxfail"):
        _fail_when_skipped_in_ci(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _fail_when_skipped_in_ci(report)
    return report


def _fail_when_skipped_in_ci(report: pytest.TestReport | pytest.CollectReport) -> None:
    if os.environ.get("CI") != "true" or not report.skipped:
        return
    reason = _reason(report)
    if not reason.startswith(ACCEPTED_REASONS):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, where no part may be missing: {reason}"


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")
