"""`list`, `show`, `history` and `usage`: how the fleet stands, and what it has done."""

import json
from typing import Annotated, Any

from cyclopts import Parameter

from quarterdeck.cli.agents.options import AgentName, short
from quarterdeck.cli.fleet import fleet_of, print_reply
from quarterdeck.cli.options import AsJson, Injected
from quarterdeck.cli.render import print_table, printable, remark, when


async def list_agents(
    *,
    status: Annotated[str | None, Parameter(help="Only those with it, such as busy.")] = None,
    project: Annotated[str | None, Parameter(help="Only those of this project.")] = None,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """List the agents, newest first; deleted ones with --status deleted."""
    async with fleet_of(invocation) as fleet:
        answer = await fleet.look(
            "agents.list",
            "list_agents",
            status_filter=status,
            project_filter=project,
            include_metadata=as_json,
        )
    if as_json:
        print_reply(answer)
    elif answer["agents"]:
        _print_agents(answer["agents"])
    else:
        remark("There are no agents; 'quarterdeck agents create --help' shows how to make one")


async def show(name: AgentName, /, *, as_json: AsJson = False, invocation: Injected) -> None:
    """Show all that is known of an agent."""
    async with fleet_of(invocation) as fleet:
        answer = await fleet.look("agents.show", "show_agent", agent_name=name)
    if as_json:
        print_reply(answer)
        return
    facts = _facts(answer["agent"])
    width = max(len(label) for label, _ in facts)
    for label, value in facts:
        print(f"{printable(label):<{width}}  {printable(value)}")


async def history(
    name: AgentName,
    /,
    *,
    page: Annotated[int, Parameter(help="Which page.")] = 1,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """List the tasks that an agent was given, newest first."""
    async with fleet_of(invocation) as fleet:
        answer = await fleet.look(
            "agents.history", "show_agent_task_history", agent_name=name, page=page
        )
    if as_json:
        print_reply(answer)
        return
    rows = [
        (
            when(task["created_at"]),
            task.get("state") or "",
            short(task["message"]),
            short(task.get("result")),
        )
        for task in answer["tasks"]
    ]
    print_table(("GIVEN", "STATE", "TASK", "RESULT"), rows)
    if answer["has_next_page"]:
        remark(f"There are more: --page {page + 1}")


async def usage(
    *,
    days: Annotated[int, Parameter(help="How many days to look back, today included.")] = 30,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Show the tokens and the cost that agents reported, by day and agent."""
    async with fleet_of(invocation) as fleet:
        answer = await fleet.look("agents.usage", "show_usage", days=days)
    if as_json:
        print_reply(answer)
        return
    rows = [(row["day"], row["agent_name"], *_spent(row["usage"])) for row in answer["rows"]]
    rows.append(("total", "", *_spent(answer["total"])))
    print_table(("DAY", "AGENT", "INPUT", "OUTPUT", "TOKENS", "COST"), rows)


def _print_agents(agents: list[dict[str, Any]]) -> None:
    rows = [_row(agent) for agent in agents]
    header = ("NAME", "STATUS", "PROJECT", "ROLE", "LAST TASK", "NOTE")
    # Most of the time there is nothing to note.
    columns = len(header) if any(row[-1] for row in rows) else len(header) - 1
    print_table(header[:columns], [row[:columns] for row in rows])


def _row(agent: dict[str, Any]) -> tuple[str, ...]:
    asked = agent.get("waiting_for")
    status, note = agent["status"], agent.get("reason") or ""
    if asked:
        status, note = "asks", asked["title"]
    return agent["name"], status, agent["project"], agent["role"], short(agent["last_task"]), note


def _facts(agent: dict[str, Any]) -> list[tuple[str, str]]:
    asked = agent.get("waiting_for")
    facts = {
        "Name": agent["name"],
        "Status": agent["status"],
        "Reason": agent.get("reason"),
        "Asks": f"{asked['title']} ({asked['question_id']})" if asked else None,
        "Project": agent["project"],
        "Role": agent["role"],
        "Branch": agent.get("branch"),
        "Workspace": agent.get("workspace"),
        "Task": agent["last_task"],
        "Report": agent.get("last_report"),
        "Used": _used(agent["usage"]) if agent.get("usage") else None,
        "Created": when(agent["created_at"]),
        "Updated": when(agent["updated_at"]),
    }
    fields = {
        name: field["error"] or json.dumps(field["value"], ensure_ascii=False)
        for name, field in agent["metadata"].items()
    }
    return [(label, str(value)) for label, value in (facts | fields).items() if value is not None]


def _used(usage: dict[str, Any]) -> str:
    _, _, tokens, cost = _spent(usage)
    return f"{tokens} tokens, cost {cost}"


def _spent(usage: dict[str, Any]) -> tuple[str, str, str, str]:
    cost = f"{usage['cost']:.4f} {usage['currency'] or ''}".strip() if usage["cost"] else "-"
    tokens = (str(usage[f"{kind}_tokens"]) for kind in ("input", "output", "total"))
    given, got, both = tokens
    return given, got, both, cost
