import pytest


def test_a_test_in_which_a_reply_breaks_its_schema_fails(
    pytester: pytest.Pytester, broken_answers: list[str]
) -> None:
    pytester.makepyfile(
        """
        import logging
        pytest_plugins = ["tests.support.schemas"]

        def log():
            logging.getLogger("quarterdeck.tools.calling").error("x breaks its schema: y")

        def test_unaware():
            log()

        def test_aware(broken_answers):
            log()
            assert broken_answers == ["x breaks its schema: y"]
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=2, errors=1)
    assert len(broken_answers) == 2, "this test heard them too"
