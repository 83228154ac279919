"""A silenced checker is a decision, so it carries its reason."""

import re
from pathlib import Path

import pytest

from tests.support.repository import ROOT

SUPPRESSION = re.compile(
    r"#\s*(?:noqa|type: ignore|pyright: ignore|pragma: no cover)(?::\s*[A-Z0-9, ]+\b|\[[^\]]*\])?"
)
REASON = re.compile(r"[A-Za-z]{2,}\W+\w")


def test_every_suppression_says_why() -> None:
    silent = [
        f"{path.relative_to(ROOT)}:{number}"
        for folder in ("bench", "scripts", "src", "tests")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path != Path(__file__)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if not has_reason(line)
    ]
    assert silent == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = 1", True),
        ("except Exception:  # noqa: BLE001 - the last line of defence", True),
        ("x = y  # type: ignore[attr-defined]  # untyped upstream package", True),
        ("except Exception:  # noqa: BLE001", False),
        ("x = y  # type: ignore[attr-defined]", False),
        ("x = y  # pyright: ignore", False),
    ],
)
def test_a_reason_is_words_after_the_code(*, line: str, expected: bool) -> None:
    assert has_reason(line) is expected


def has_reason(line: str) -> bool:
    suppression = SUPPRESSION.search(line)
    return suppression is None or REASON.search(line[suppression.end() :]) is not None
