"""`quarterdeck roles`: which agents do the work, and what they may do."""

import shlex
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from quarterdeck.cli.definitions import given, print_definition
from quarterdeck.cli.options import AsJson, Injected
from quarterdeck.cli.progress import shown_progress
from quarterdeck.cli.render import print_json, print_table, remark
from quarterdeck.errors import InvalidInput

if TYPE_CHECKING:
    from quarterdeck.domain.json import JsonObject

app = App(name="roles", help="See and change which agents do the work, and what they may do.")

RoleName = Annotated[str, Parameter(name="NAME", help="Name of the role.")]
Decision = Literal["ask", "allow", "reject"]
Kind = Literal[
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
Kinds = tuple[Kind, ...]
Count = int | Literal["none"]
Amount = float | Literal["none"]


@app.command
async def add(
    name: RoleName,
    /,
    *,
    agent: Annotated[
        str | None,
        Parameter(help="Agent known by name: claude, codex, gemini, opencode, goose or vibe."),
    ] = None,
    command: Annotated[
        str | None, Parameter(help="Command of any other agent that speaks ACP, as one text.")
    ] = None,
    description: Annotated[
        str, Parameter(help="What it is for, in one line.", show_default=False)
    ] = "",
    env: Annotated[
        tuple[str, ...],
        Parameter(
            help="Variable for the agent, NAME=VALUE; may be repeated. Keys belong in the file"
            " 'env' of the home.",
            negative=(),
            show_default=False,
        ),
    ] = (),
    pass_env: Annotated[
        tuple[str, ...],
        Parameter(
            help="Variable to take from the file 'env'; may be repeated.",
            negative=(),
            show_default=False,
        ),
    ] = (),
    system_prompt: Annotated[
        str, Parameter(help="What to tell the agent before all tasks.", show_default=False)
    ] = "",
    model: Annotated[str | None, Parameter(help="Model the agent shall use.")] = None,
    mode: Annotated[str | None, Parameter(help="Mode the agent shall work in.")] = None,
    permission: Annotated[
        Decision, Parameter(help="Answer when the agent asks whether it may.")
    ] = "ask",
    ask: Annotated[
        Kinds,
        Parameter(help="Kind of tool to ask a person about.", negative=(), show_default=False),
    ] = (),
    allow: Annotated[
        Kinds, Parameter(help="Kind of tool to allow.", negative=(), show_default=False)
    ] = (),
    reject: Annotated[
        Kinds, Parameter(help="Kind of tool to refuse.", negative=(), show_default=False)
    ] = (),
    turns: Annotated[Count | None, Parameter(help="Most tool calls of a task, or none.")] = None,
    minutes: Annotated[Amount | None, Parameter(help="Longest time of a task, or none.")] = None,
    tokens: Annotated[Count | None, Parameter(help="Most tokens of a task.")] = None,
    cost: Annotated[Amount | None, Parameter(help="Highest cost of a task, in US dollars.")] = None,
    quarterdeck: Annotated[
        tuple[Literal["read", "write"], ...],
        Parameter(help="Give the agent Quarterdeck's own tools.", negative=(), show_default=False),
    ] = (),
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Add a role: an agent known by name, or a command, and what holds for it."""
    variables = dict(_variable(text) for text in env)
    kinds = dict.fromkeys(ask, "ask")
    kinds |= dict.fromkeys(allow, "allow")
    kinds |= dict.fromkeys(reject, "reject")
    fields = given(
        agent=agent,
        command=[*shlex.split(command)] if command else None,
        description=description,
        env={**variables},
        pass_env=[*pass_env],
        system_prompt=system_prompt,
        model=model,
        mode=mode,
        limits=given(turns=turns, minutes=minutes, tokens=tokens, cost=cost),
        permission={"default": permission, "kinds": {**kinds}},
        quarterdeck=[*quarterdeck],
    )
    answer = await invocation.call(
        "roles.add", _sent(name, fields), lambda deck: deck.projects.add_role(name, fields)
    )
    print_json(answer) if as_json else remark(answer.message)


@app.command(name="list")
async def list_(
    *,
    project: Annotated[
        str | None, Parameter(help="List only the roles that this project offers.")
    ] = None,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """List all roles, by name, or those of one project."""
    if project is None:
        answer = await invocation.call(
            "roles.list", {}, lambda deck: deck.projects.list_all_roles(), recorded=False
        )
    else:
        answer = await invocation.call(
            "roles.list",
            {"project": project},
            lambda deck: deck.projects.list_roles(project),
            recorded=False,
        )
    if as_json:
        print_json(answer)
        return
    rows = [
        (row.name, row.agent, row.model or "", row.source, row.description) for row in answer.roles
    ]
    print_table(("NAME", "AGENT", "MODEL", "SOURCE", "DESCRIPTION"), rows)


@app.command
async def show(name: RoleName, /, *, as_json: AsJson = False, invocation: Injected) -> None:
    """Show all that is defined of a role, with the values of its variables masked."""
    answer = await invocation.call(
        "roles.show", {"name": name}, lambda deck: deck.projects.show_role(name), recorded=False
    )
    print_json(answer) if as_json else print_definition(answer)


@app.command
async def remove(name: RoleName, /, *, as_json: AsJson = False, invocation: Injected) -> None:
    """Forget a role."""
    answer = await invocation.call(
        "roles.remove", {"name": name}, lambda deck: deck.projects.remove_role(name)
    )
    print_json(answer) if as_json else remark(answer.message)


@app.command
async def install(
    agent: Annotated[str, Parameter(name="AGENT", help="claude, codex, gemini, opencode or vibe.")],
    /,
    *,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Fetch the version of a known agent that was tried, into the home.

    Nothing else ever downloads an agent. What is on PATH is used when nothing was fetched.
    """
    with shown_progress() as bar:
        answer = await invocation.call(
            "roles.install",
            {"agent": agent},
            lambda deck: deck.agent_programs.install(agent, bar.say),
        )
    if as_json:
        print_json(answer)
        return
    remark(answer.message)
    print(answer.path)


def _variable(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator:
        raise InvalidInput.field("env", "must be NAME=VALUE", hint="write --env NAME=VALUE")
    return name, value


def _sent(name: str, fields: "JsonObject") -> "JsonObject":
    """Return what the trace keeps of a new role: of its variables only the names."""
    env = fields.get("env")
    names = [*env] if isinstance(env, dict) else []
    return {"name": name, **fields, **({"env": [*names]} if names else {})}
