import pytest

SKIPS = """
import pytest

def test_missing(): pytest.skip("no database here")
def test_platform(): pytest.skip("only on macOS")
def test_reference(): pytest.skip("no ../shared")

@pytest.mark.xfail(reason="known")
def test_known(): assert False
"""
MODULE_SKIP = 'import pytest\npytest.importorskip("a_part_that_is_not_there")'


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeconftest('pytest_plugins = ["tests.support.skips"]')
    pytester.makeini("[pytest]\nanyio_mode = auto")
    return pytester


def test_in_ci_a_skip_for_a_missing_part_fails(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    project.makepyfile(SKIPS)
    project.runpytest_inprocess().assert_outcomes(failed=1, skipped=2, xfailed=1)


def test_in_ci_a_skipped_module_is_an_error(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    project.makepyfile(MODULE_SKIP)
    project.runpytest_inprocess().assert_outcomes(errors=1)


def test_elsewhere_a_skip_stays_a_skip(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    project.makepyfile(SKIPS)
    project.runpytest_inprocess().assert_outcomes(skipped=3, xfailed=1)
