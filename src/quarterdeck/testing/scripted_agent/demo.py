"""What the agent does without directives: a small piece of work, as a coding agent would report it.

No model is behind it, so it does the one useful thing it can with any text: it writes it down.
"""

from quarterdeck.testing.scripted_agent.directives import reporting
from quarterdeck.testing.scripted_agent.directives.files import put
from quarterdeck.testing.scripted_agent.turn import Turn

NOTES = "NOTES.md"
STEPS = ["Read the task", f"Write it down in {NOTES}", "Report"]
TOKENS_A_WORD = 2
DOLLARS_A_TOKEN = 0.00001


def work_on(turn: Turn, task: str) -> None:
    """Write the task down and report; in mode `plan`, only plan it."""
    turn.say(f"I will write this task down in {NOTES}.")
    reporting.show_plan(turn, STEPS, done=1)
    if turn.session.mode == "plan":
        turn.say("This is the plan; in mode default I would carry it out.")
        return
    _note(turn, task)
    reporting.show_plan(turn, STEPS, done=len(STEPS))
    report = f"Done: the task is in {NOTES}."
    tokens_in, tokens_out = _tokens(task), _tokens(report)
    reporting.count(turn, tokens_in, tokens_out, (tokens_in + tokens_out) * DOLLARS_A_TOKEN)
    turn.say(report)


def _note(turn: Turn, task: str) -> None:
    file = turn.session.cwd / NOTES
    before = file.read_text(encoding="utf-8") if file.exists() else "# Notes\n\n"
    put(turn, file, before + "- " + task.replace("\n", "\n  ") + "\n")


def _tokens(text: str) -> int:
    return max(1, len(text.split())) * TOKENS_A_WORD
