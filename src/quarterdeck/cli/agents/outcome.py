"""How a wait ended, in words and as an exit code."""

from quarterdeck.cli.fleet import Reply, print_reply
from quarterdeck.cli.render import printable, remark
from quarterdeck.errors import Conflict, TimedOut

# In these an agent has ended well, if its task has.
_WELL = frozenset({"idle"})


def told_outcome(answer: Reply, *, until: str = "idle", as_json: bool = False) -> int:
    """Print how the agents stand, and return what the wait came to."""
    if as_json:
        print_reply(answer)
    for agent in answer["agents"]:
        asked = agent.get("waiting_for")
        if not as_json:
            print(printable(_line(agent)), flush=True)
        if asked:
            remark(f"'quarterdeck questions answer {asked['question_id']}' answers it")
    if answer["timed_out"]:
        remark("The time was up; the agents go on")
        return TimedOut.exit_code
    is_well = until != "idle" or all(_is_done(agent) for agent in answer["agents"])
    return 0 if is_well else Conflict.exit_code


def _line(agent: Reply) -> str:
    asked, state = agent.get("waiting_for"), agent.get("task_state") or agent["status"]
    if asked:
        return f"{agent['name']} asks: {asked['title']}"
    told = agent.get("reason") or agent.get("last_report") or ""
    return f"{agent['name']} {state}: {told}" if told else f"{agent['name']} {state}"


def _is_done(agent: Reply) -> bool:
    is_asking = agent.get("waiting_for") is not None
    return not is_asking and agent["status"] in _WELL and agent.get("task_state") in {None, "done"}
