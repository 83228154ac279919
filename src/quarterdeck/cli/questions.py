"""`quarterdeck questions`: what agents ask for leave to do."""

import sys
from typing import Annotated

from cyclopts import App, Parameter

from quarterdeck.cli.consent import ask
from quarterdeck.cli.fleet import FleetClient, Reply, fleet_of, print_reply, tell
from quarterdeck.cli.options import AsJson, Injected
from quarterdeck.cli.render import print_table, printable, remark, when
from quarterdeck.errors import InvalidInput, QuestionNotFound

app = App(name="questions", help="See and answer what agents ask.")

Flag = Parameter(negative=(), show_default=False)


@app.command(name="list")
async def list_(
    *,
    agent: Annotated[str | None, Parameter(help="Only those of this agent.")] = None,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """List the questions that wait for an answer, oldest first."""
    async with fleet_of(invocation) as fleet:
        answer = await fleet.look("questions.list", "question_list", agent_name=agent)
    if as_json:
        print_reply(answer)
    elif answer["questions"]:
        rows = [
            (
                question["question_id"],
                question["agent_name"],
                question["title"],
                ", ".join(option["option_id"] for option in question["options"]),
                when(question["deadline"]),
            )
            for question in answer["questions"]
        ]
        print_table(("ID", "AGENT", "QUESTION", "OPTIONS", "UNTIL"), rows)
    else:
        remark("No agent asks anything")


@app.command
async def answer(
    question: Annotated[str, Parameter(name="ID", help="Id of the question.")],
    /,
    *,
    option: Annotated[str | None, Parameter(help="Id of the option to choose.")] = None,
    allow: Annotated[bool, Flag, Parameter(help="Allow it, this once.")] = False,
    reject: Annotated[bool, Flag, Parameter(help="Reject it, this once.")] = False,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Answer a question; at a terminal it is shown with its options to choose from."""
    kind = _kind(option, allow=allow, reject=reject)
    async with fleet_of(invocation) as fleet:
        if option is None and kind is None:
            option = await _chosen(fleet, question)
        told = await fleet.do(
            "questions.answer",
            "question_answer",
            question_id=question,
            option_id=option,
            kind=kind,
        )
    tell(told, as_json=as_json)


def option_typed(options: list[Reply], typed: str) -> str | None:
    """Return the id of the option that a number or an id means."""
    if typed.isdecimal() and 1 <= int(typed) <= len(options):
        return options[int(typed) - 1]["option_id"]
    ids = [option["option_id"] for option in options]
    return next((each for each in ids if each.casefold() == typed.casefold()), None)


def option_lines(question: Reply) -> list[str]:
    """Return the options, numbered."""
    return [
        printable(f"  {number} {option['name']} ({option['option_id']})")
        for number, option in enumerate(question["options"], 1)
    ]


def _kind(option: str | None, *, allow: bool, reject: bool) -> str | None:
    if (option is not None) + allow + reject > 1:
        raise InvalidInput("Only one of --option, --allow and --reject can be chosen")
    return "allow_once" if allow else "reject_once" if reject else None


async def _chosen(fleet: FleetClient, question_id: str) -> str:
    if not sys.stdin.isatty():
        raise InvalidInput(
            "Nobody can be asked for the answer, because stdin is no terminal",
            hint="add --option, --allow or --reject",
        )
    listed = await fleet.look("questions.list", "question_list")
    found = [each for each in listed["questions"] if each["question_id"] == question_id]
    if not found:
        raise QuestionNotFound(question_id)
    remark(f"{found[0]['agent_name']} asks: {found[0]['title']}")
    for line in option_lines(found[0]):
        remark(line)
    chosen = option_typed(found[0]["options"], ask("Which? "))
    if chosen is None:
        raise InvalidInput("That is none of the options; nothing was answered")
    return chosen
