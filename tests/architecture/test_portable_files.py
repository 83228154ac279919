"""What is committed must mean the same on every machine."""

import re
from collections.abc import Iterator

import pytest

from tests.support.repository import ROOT, committable_files

# Written so that no pattern matches its own source.
MACHINE_SPECIFIC = {
    "a path of one machine": re.compile(r"(?<![\w.~$}])/(?:home|root|Users|work)/\w"),
    "a package registry": re.compile(r"(?:pypi|pythonhosted|npmjs)\.(?:org|com)"),
    "a mirror": re.compile(r"https?://[^/\s]*(?:artifactory|mirror|nexus|proxy)[^/\s]*"),
    "an index option": re.compile(r"^\s*--(?:(?:extra-)?index-url|find-links)\b", re.MULTILINE),
}


def test_no_file_names_a_machine_or_a_registry() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {finding}"
        for path in committable_files()
        for finding in findings(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "cd /" + "home/ada/project",
        "https://files.python" + "hosted.org/packages",
        "https:" + "//mirror.example/simple",
        "--index-" + "url https://example",
    ],
)
def test_the_patterns_find_what_they_are_for(text: str) -> None:
    assert len(list(findings(text))) == 1


def findings(text: str) -> Iterator[str]:
    for kind, pattern in MACHINE_SPECIFIC.items():
        for match in pattern.finditer(text):
            yield f"line {text.count(chr(10), 0, match.start()) + 1} names {kind}"
