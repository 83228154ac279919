"""The guide says what the program does."""

import re

import pytest
from pydantic import BaseModel

from quarterdeck.overrides.model import (
    AnnotationsOverride,
    ArgumentOverride,
    PromptOverride,
    ResourceOverride,
    ToolOverride,
)
from quarterdeck.overrides.nodes import MOST_NESTED
from quarterdeck.overrides.reading import MOST_BYTES, parse_metadata
from tests.support.repository import ROOT

GUIDE = (ROOT / "docs" / "metadata.md").read_text(encoding="utf-8")


def test_its_example_is_taken_and_shows_every_section() -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)
    found = parse_metadata(example, "metadata.yaml").overrides
    assert found.tools
    assert found.resources
    assert found.resource_templates
    assert found.prompts


@pytest.mark.parametrize(
    ("of", "model"),
    [
        ("a tool", ToolOverride),
        ("a resource, a template", ResourceOverride),
        ("a prompt", PromptOverride),
        ("an argument", ArgumentOverride),
        ("`annotations`", AnnotationsOverride),
    ],
)
def test_it_names_every_field_and_no_other(of: str, model: type[BaseModel]) -> None:
    (row,) = [line for line in GUIDE.splitlines() if line.startswith(f"| {of} |")]
    named = re.findall(r"`(\w+)`", row.split("|")[2].partition(":")[0])
    assert named == list(model.model_fields)


def test_it_tells_the_limits() -> None:
    assert f"At most {MOST_BYTES // 1024**2} MiB is read" in GUIDE
    assert f"nested at most {MOST_NESTED} levels" in GUIDE
