import re
import tomllib

import quarterdeck
from tests.support.repository import ROOT


def test_package_metadata_and_changelog_agree_on_the_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == quarterdeck.__version__ == newest_changelog_version()


def newest_changelog_version() -> str:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = re.search(r"^## \[?(\d+\.\d+\.\d+)", changelog, re.MULTILINE)
    assert heading, "CHANGELOG.md has no heading with a version"
    return heading[1]
