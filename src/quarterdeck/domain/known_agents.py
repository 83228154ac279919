"""The agents that Quarterdeck knows by name: how each is started, fetched and humoured.

Versions are pinned, because each of them was tried; what is special about an agent is data here,
so that the runtime that minds it has no names in it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from quarterdeck.domain.json import JsonObject, JsonValue

SCRIPTED = "scripted"


@dataclass(frozen=True, slots=True)
class Package:
    """Where an agent comes from; `needs` is the least version of what runs it.

    `script` is a file of an npm package that puts its program into place; no other script is run.
    """

    registry: Literal["npm", "pypi"]
    name: str
    version: str
    needs: tuple[int, ...]
    script: str | None = None


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """An agent that speaks the Agent Client Protocol, with its quirks."""

    name: str
    title: str
    command: tuple[str, ...]
    package: Package | None = None
    # Variables it takes a key from; any one of them is enough.
    credentials: tuple[str, ...] = ()
    # Variables it needs in order to behave.
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    # What `session/new` has to carry as `_meta`.
    session_meta: JsonObject = field(default_factory=dict[str, JsonValue])
    # Where in `_meta` it takes instructions; without, they go with the first task.
    instructions_meta: tuple[str, ...] = ()
    # Variable with a folder of its own, in which it keeps conversations.
    state_variable: str | None = None
    # Some say that they can load a session, and then cannot.
    loads_sessions: bool = True
    # Some stay when their stdin is closed, and have to be told by a signal.
    ends_with_stdin: bool = True


KNOWN_AGENTS = {
    agent.name: agent
    for agent in (
        KnownAgent(
            name="claude",
            title="Claude Code",
            command=("claude-agent-acp",),
            package=Package("npm", "@agentclientprotocol/claude-agent-acp", "0.99.0", (22,)),
            credentials=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
            # It offers to skip all questions otherwise, and then refuses to start as root.
            session_meta={"claudeCode": {"options": {"allowDangerouslySkipPermissions": False}}},
            instructions_meta=("systemPrompt", "append"),
        ),
        KnownAgent(
            name="codex",
            title="Codex",
            command=("codex-acp",),
            package=Package("npm", "@agentclientprotocol/codex-acp", "2.6.0", (22,)),
            credentials=("OPENAI_API_KEY", "CODEX_API_KEY"),
            environment={
                # Its own default, "agent", has a model answer what a person should be asked.
                "INITIAL_AGENT_MODE": "workspace-write",
                # Unless it is logged in, it does not look for a key by itself.
                "DEFAULT_AUTH_REQUEST": '{"methodId":"api-key"}',
            },
            ends_with_stdin=False,
        ),
        KnownAgent(
            name="gemini",
            title="Gemini CLI",
            command=("gemini", "--acp"),
            package=Package("npm", "@google/gemini-cli", "0.61.0", (22,)),
            credentials=("GEMINI_API_KEY",),
            loads_sessions=False,
        ),
        KnownAgent(
            name="opencode",
            title="OpenCode",
            command=("opencode", "acp"),
            # What it ships as a program is a notice, until the script has exchanged it.
            package=Package("npm", "opencode-ai", "1.18.33", (22,), script="postinstall.mjs"),
            # It asks nothing unless it is told to.
            environment={"OPENCODE_PERMISSION": '{"bash":"ask","edit":"ask"}'},
            credentials=("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"),
        ),
        # No package of it is known to work: what is on PATH is used.
        KnownAgent(
            name="goose",
            title="Goose",
            command=("goose", "acp"),
            credentials=("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY"),
        ),
        KnownAgent(
            name="vibe",
            title="Mistral Vibe",
            command=("vibe-acp",),
            package=Package("pypi", "mistral-vibe", "3.0.3", (3, 12)),
            credentials=("MISTRAL_API_KEY",),
        ),
        # Its command is this very Python, wherever that is: see where commands are resolved.
        KnownAgent(
            name=SCRIPTED,
            title="The scripted agent of Quarterdeck, which needs no model",
            command=("python", "-m", "quarterdeck.testing.scripted_agent"),
            state_variable="QUARTERDECK_SCRIPTED_STATE",
        ),
    )
}
