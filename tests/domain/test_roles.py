import json

import pytest
from pydantic import ValidationError

from quarterdeck.domain.definitions import Flaw, flaws_of
from quarterdeck.domain.known_agents import KNOWN_AGENTS, KnownAgent
from quarterdeck.domain.roles import PermissionPolicy, RoleDefinition, environment_of


def flaws(**fields: object) -> list[Flaw]:
    with pytest.raises(ValidationError) as refused:
        RoleDefinition.model_validate(fields)
    return list(flaws_of(refused.value, RoleDefinition))


def only_flaw(**fields: object) -> Flaw:
    (flaw,) = flaws(**fields)
    return flaw


def test_a_role_of_a_known_agent_needs_no_more_than_its_name() -> None:
    role = RoleDefinition(agent="claude")
    assert role.known is KNOWN_AGENTS["claude"]
    assert role.permission.default == "ask"
    assert role.quarterdeck == ()


def test_a_role_is_limited_unless_it_says_otherwise() -> None:
    limits = RoleDefinition(agent="claude").limits
    assert limits.turns is not None
    assert limits.minutes is not None


def test_a_limit_is_lifted_by_the_word_none() -> None:
    role = RoleDefinition.model_validate({"agent": "codex", "limits": {"turns": "none"}})
    assert role.limits.turns is None


@pytest.mark.parametrize("fields", [{}, {"agent": "claude", "command": ["claude"]}])
def test_a_role_has_either_an_agent_or_a_command(fields: dict[str, object]) -> None:
    assert only_flaw(**fields) == Flaw((), "must have either an agent or a command")


def test_an_unknown_agent_is_refused_with_the_closest_known_one() -> None:
    assert "did you mean 'claude'?" in only_flaw(agent="cluade").problem


def test_an_unknown_key_is_refused_with_the_closest_known_one_at_any_depth() -> None:
    flaw = only_flaw(agent="claude", limits={"turn": 3})
    assert flaw == Flaw(("limits", "turn"), "is not a setting (did you mean 'turns'?)")


def test_every_problem_is_named_at_once() -> None:
    found = flaws(agent="nobody", limits={"minutes": 0, "turns": "5"}, env={"A-B": "x"})
    assert {flaw.place for flaw in found} == {
        ("agent",),
        ("limits", "minutes"),
        ("limits", "turns"),
        ("env", "A-B"),
    }


@pytest.mark.parametrize("sandbox", ["bubblewrap", True])
def test_asking_for_a_sandbox_is_refused_as_long_as_there_is_none(sandbox: object) -> None:
    assert "there is no sandbox yet" in only_flaw(agent="claude", sandbox=sandbox).problem


@pytest.mark.parametrize("scope", ["approve", "admin"])
def test_an_agent_is_never_given_a_persons_rights(scope: str) -> None:
    assert only_flaw(agent="claude", quarterdeck=[scope]).place == ("quarterdeck", "0")


def test_quarterdecks_own_variables_cannot_be_set_for_an_agent() -> None:
    assert "QUARTERDECK_" in only_flaw(agent="claude", env={"QUARTERDECK_HOME": "x"}).problem


def test_what_an_error_says_never_quotes_the_value() -> None:
    with pytest.raises(ValidationError) as refused:
        RoleDefinition.model_validate({"agent": "claude", "env": {"KEY": "hush\0hush"}})
    assert "hush" not in str(refused.value)


def test_a_role_does_not_show_its_environment_when_printed() -> None:
    assert "hush-hush" not in repr(RoleDefinition(agent="claude", env={"KEY": "hush-hush"}))


def test_a_kind_of_tool_is_decided_by_its_own_rule_before_the_default() -> None:
    policy = PermissionPolicy(default="reject", kinds={"read": "allow", "other": "ask"})
    assert policy.decide("read") == "allow"
    assert policy.decide("other") == "ask"


def test_a_kind_without_a_rule_is_decided_by_the_default() -> None:
    policy = PermissionPolicy(default="reject", kinds={"other": "allow"})
    assert policy.decide("execute") == "reject"


def test_a_kind_nobody_has_heard_of_counts_as_other() -> None:
    policy = PermissionPolicy(default="reject", kinds={"other": "ask"})
    assert policy.decide("teleport") == "ask"
    assert policy.decide(None) == "ask"


@pytest.mark.parametrize("agent", KNOWN_AGENTS.values(), ids=lambda agent: agent.name)
def test_every_known_agent_has_a_command_and_what_its_session_carries_is_json(
    agent: KnownAgent,
) -> None:
    assert RoleDefinition(agent=agent.name).known is agent
    assert agent.command
    assert json.loads(json.dumps(agent.session_meta)) == agent.session_meta


def test_the_environment_has_no_more_of_the_daemons_than_the_agent_needs() -> None:
    role = RoleDefinition(agent="opencode", pass_env=("EXTRA",), env={"MODE": "x"})
    available = {"OPENAI_API_KEY": "k", "EXTRA": "e", "MISTRAL_API_KEY": "m", "HOME": "/root"}
    assert environment_of(role, available) == {
        "OPENCODE_PERMISSION": '{"bash":"ask","edit":"ask"}',
        "OPENAI_API_KEY": "k",
        "EXTRA": "e",
        "MODE": "x",
    }


def test_a_variable_of_the_role_wins_over_the_daemons() -> None:
    role = RoleDefinition(agent="claude", env={"ANTHROPIC_API_KEY": "of the role"})
    available = {"ANTHROPIC_API_KEY": "of the daemon"}
    assert environment_of(role, available) == {"ANTHROPIC_API_KEY": "of the role"}
