"""What agents see of the environment, and what they do not."""

from pathlib import Path

from quarterdeck.domain.roles import Role
from quarterdeck.repositories.runtimes.agent_environment import AgentEnvironment
from tests.support.runtimes import LocalSite, scripted_role

OURS = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/srv/ada",
    "LC_ALL": "C.UTF-8",
    "CODER_SESSION_TOKEN": "not-for-agents",
    "CODER_URL": "https://coder.example.org",
    "QUARTERDECK_HOME": "/srv/ada/.quarterdeck",
    "QUARTERDECK_DATABASE_URL": "postgresql://not-for-agents",
    "OTEL_EXPORTER_OTLP_HEADERS": "not-for-agents",
    "SOME_SECRET": "not-for-agents",
    "PROXY_PASS": "asked for",
}


def write_keys(home: Path, *lines: str) -> None:
    home.mkdir(exist_ok=True)
    file = home / "env"
    file.write_text("\n".join(lines), encoding="utf-8")
    file.chmod(0o600)


def test_an_agent_gets_named_variables_its_keys_and_what_its_role_says(tmp_path: Path) -> None:
    write_keys(tmp_path, "ANTHROPIC_API_KEY=fake", "OPENAI_API_KEY=fake", "EXTRA=from the file")
    role = Role(
        id="r1",
        name="coder",
        agent="claude",
        env={"GREETING": "hello", "HOME": "/elsewhere"},
        pass_env=("EXTRA", "PROXY_PASS", "CODER_SESSION_TOKEN", "NOT_THERE"),
    )
    assert AgentEnvironment(tmp_path, OURS).of(role, "a1") == {
        "PATH": "/usr/bin:/bin",
        "HOME": "/elsewhere",
        "LC_ALL": "C.UTF-8",
        "ANTHROPIC_API_KEY": "fake",
        "EXTRA": "from the file",
        "PROXY_PASS": "asked for",
        "GREETING": "hello",
    }


def test_codex_is_told_to_use_its_key_and_to_ask_a_person_unless_the_role_says_otherwise(
    tmp_path: Path,
) -> None:
    environment = AgentEnvironment(tmp_path, OURS)
    asks = environment.of(Role(id="r1", name="coder", agent="codex"), "a1")
    assert asks["INITIAL_AGENT_MODE"] == "workspace-write"
    assert "api-key" in asks["DEFAULT_AUTH_REQUEST"]
    chosen = Role(id="r1", name="coder", agent="codex", env={"INITIAL_AGENT_MODE": "agent"})
    assert environment.of(chosen, "a1")["INITIAL_AGENT_MODE"] == "agent"


def test_a_workspaces_own_commands_get_no_keys(tmp_path: Path) -> None:
    write_keys(tmp_path, "ANTHROPIC_API_KEY=fake")
    found = AgentEnvironment(tmp_path, OURS).of_commands()
    assert sorted(found) == ["HOME", "LC_ALL", "PATH"]


async def test_a_running_agent_sees_no_secret_of_ours(site: LocalSite) -> None:
    write_keys(site.home, "ANTHROPIC_API_KEY=fake")
    site.environment = {**site.environment, **OURS}
    site.role = scripted_role(env={"GREETING": "hello"})
    async with site.harness() as local:
        spec = await local.started()
        await local.run(spec, "/run cat /proc/$PPID/environ 2>/dev/null || ps eww $PPID")
        seen = "".join(getattr(e, "text", "") for e in local.listener.events[spec.agent_id])
        assert "GREETING=hello" in seen
        assert "not-for-agents" not in seen
        assert "ANTHROPIC_API_KEY" not in seen
        assert "coder.example.org" not in seen
