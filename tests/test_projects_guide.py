"""`docs/projects.md` says what the code does."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from quarterdeck.domain.known_agents import KNOWN_AGENTS, KnownAgent
from quarterdeck.domain.projects import ProjectDefinition
from quarterdeck.domain.roles import Limits, PermissionPolicy, RoleDefinition
from quarterdeck.settings import load_settings
from tests.support.repository import ROOT

GUIDE = (ROOT / "docs" / "projects.md").read_text(encoding="utf-8")
FIRST_CELLS = re.findall(r"^\| (`.+?) \|", GUIDE, re.MULTILINE)
DOCUMENTED = {name for cell in FIRST_CELLS for name in re.findall(r"`([^`]+)`", cell)}


def keys(model: type[BaseModel], prefix: str = "") -> set[str]:
    return {prefix + (field.alias or name) for name, field in model.model_fields.items()}


def test_every_key_of_a_project_and_of_a_role_is_documented_and_no_other() -> None:
    ours = keys(ProjectDefinition) | keys(RoleDefinition) - {"limits", "permission"}
    ours |= keys(Limits, "limits.") | keys(PermissionPolicy, "permission.")
    assert ours | set(KNOWN_AGENTS) == DOCUMENTED


@pytest.mark.parametrize("agent", KNOWN_AGENTS.values(), ids=lambda agent: agent.name)
def test_a_known_agent_is_documented_with_its_version_and_keys(agent: KnownAgent) -> None:
    (row,) = [line for line in GUIDE.splitlines() if line.startswith(f"| `{agent.name}` |")]
    assert agent.title in row
    assert re.findall(r"`([A-Z_]+)`", row) == list(agent.credentials)
    if agent.package:
        assert f"| {agent.package.version} |" in row
        assert f"`{agent.package.name}`" in row


def test_the_example_is_sound(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.+?)```", GUIDE, re.DOTALL)
    (tmp_path / "config.toml").write_text(example, encoding="utf-8")
    settings = load_settings(environ={"QUARTERDECK_HOME": str(tmp_path)})
    assert set(settings.projects) == {"Site", "Notes"}
    assert set(settings.roles) == {"coder", "writer"}
