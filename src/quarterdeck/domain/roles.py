"""Roles: which agent does the work, with what, within which limits, and what it may do unasked."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StringConstraints,
    model_validator,
)

from quarterdeck.domain.definitions import BUILT_IN, Defined, Definition, Line, Text, no_nul
from quarterdeck.domain.known_agents import KNOWN_AGENTS, SCRIPTED, KnownAgent
from quarterdeck.errors import closest_name

PROMPT_LENGTH = 100_000
NO_LIMIT = "none"
DEFAULT_ROLE = "coder"

ToolKind = Literal[
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
]
TOOL_KINDS: tuple[str, ...] = get_args(ToolKind)
Decision = Literal["ask", "allow", "reject"]

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _unlimited(value: object) -> object:
    # TOML cannot write that there is nothing.
    return None if value == NO_LIMIT else value


def _known_agent(name: str) -> str:
    if name in KNOWN_AGENTS:
        return name
    closest = closest_name(name.lower(), tuple(KNOWN_AGENTS))
    advice = f"did you mean {closest!r}?" if closest else f"known are {', '.join(KNOWN_AGENTS)}"
    raise ValueError(f"is not an agent that is known by name ({advice}); any other needs a command")


def _no_sandbox(value: object) -> object:
    if value not in ("none", False):
        raise ValueError(
            "must be 'none': there is no sandbox yet, and an agent that was promised one is not"
            " started without it"
        )
    return "none"


def _variable(name: str) -> str:
    if not _VARIABLE.fullmatch(name):
        raise ValueError("must be the name of an environment variable")
    if name.startswith("QUARTERDECK_"):
        raise ValueError("must not start with QUARTERDECK_, which is for Quarterdeck itself")
    return name


Variable = Annotated[str, AfterValidator(_variable)]
Word = Annotated[str, StringConstraints(min_length=1), AfterValidator(no_nul)]
Prompt = Annotated[str, StringConstraints(max_length=PROMPT_LENGTH), AfterValidator(no_nul)]
Count = Annotated[int, Field(strict=True, ge=1, le=1_000_000_000_000)]
Amount = Annotated[float, Field(strict=True, gt=0, le=1_000_000, allow_inf_nan=False)]


class Limits(Definition):
    """When a task is stopped, because agents do not stop by themselves; `None` is never.

    `turns` counts the tool calls of a task, `tokens` and `cost` (in US dollars) what the agent
    reports of it.
    """

    turns: Annotated[Count | None, BeforeValidator(_unlimited)] = 500
    minutes: Annotated[Amount | None, BeforeValidator(_unlimited)] = 120
    tokens: Annotated[Count | None, BeforeValidator(_unlimited)] = None
    cost: Annotated[Amount | None, BeforeValidator(_unlimited)] = None


class PermissionPolicy(Definition):
    """What is answered when the agent asks whether it may; `kinds` go before `default`."""

    default: Decision = "ask"
    kinds: Mapping[ToolKind, Decision] = Field(default_factory=dict[ToolKind, Decision])
    question_seconds: Annotated[int, Field(strict=True, ge=1, le=604_800)] = 3600
    on_timeout: Literal["reject", "allow"] = "reject"

    def decide(self, kind: str | None) -> Decision:
        """Return what to do with a question about a tool of this kind; new kinds are `other`."""
        rules: dict[str, Decision] = {**self.kinds}
        return rules.get(kind if kind and kind in TOOL_KINDS else "other", self.default)


class RoleDefinition(Definition):
    """A role as a user writes it, in a file or by a command.

    `env` is given to the agent as it stands; `pass_env` names variables of the home's `env` file
    or of the daemon, beside the keys that a known agent takes.
    """

    description: Line = ""
    agent: Annotated[str, AfterValidator(_known_agent)] | None = None
    command: tuple[Word, ...] = ()
    env: Mapping[Variable, Text] = Field(default_factory=dict[str, str], repr=False)
    pass_env: tuple[Variable, ...] = ()
    system_prompt: Prompt = ""
    model: Line | None = None
    mode: Line | None = None
    limits: Limits = Limits()
    permission: PermissionPolicy = PermissionPolicy()
    sandbox: Annotated[Literal["none"], BeforeValidator(_no_sandbox)] = "none"
    # What the agent may do with the fleet's own tools; nothing means that it does not get them.
    quarterdeck: tuple[Literal["read", "write"], ...] = ()
    # Whether a restart goes on with the conversation, where the agent can.
    resume: Annotated[bool, Field(strict=True)] = True

    @model_validator(mode="after")
    def _has_one_agent(self) -> "RoleDefinition":
        if bool(self.agent) == bool(self.command):
            raise ValueError("must have either an agent or a command")
        return self

    @property
    def known(self) -> KnownAgent | None:
        """Return what is known of the agent, unless the role has a command of its own."""
        return KNOWN_AGENTS[self.agent] if self.agent else None


class Role(RoleDefinition, Defined):
    """A role that agents can have."""


# What there is as long as nobody has defined a role: enough to see everything work.
BUILT_IN_ROLE = Role(
    id="5c7a1f0e-93c1-5d0b-8a53-3c3c5d0f6b01",
    name=DEFAULT_ROLE,
    seeded_by=BUILT_IN,
    agent=SCRIPTED,
    description="Scripted agent that needs no model; add a role to work with a real one",
)


def environment_of(role: RoleDefinition, available: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a role gives to its agent, beside those that every agent gets.

    Of what is `available` in the home's `env` file and to the daemon, only the keys that a known
    agent takes and those that the role names are passed on.
    """
    known = role.known
    wanted = (*(known.credentials if known else ()), *role.pass_env)
    passed = {name: available[name] for name in wanted if name in available}
    return {**(known.environment if known else {}), **passed, **role.env}
