"""`quarterdeck restore`: back to what a backup holds."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from quarterdeck.cli.consent import may_change
from quarterdeck.cli.options import AsJson, Injected, Yes
from quarterdeck.cli.progress import shown_progress
from quarterdeck.cli.render import moment, print_json, remark

if TYPE_CHECKING:
    from quarterdeck.cli.program import Deck
    from quarterdeck.domain.archive import Contents, RestorePlan, RestoreResponse


async def restore(
    file: Annotated[Path, Parameter(name="FILE", help="Backup to restore.")],
    /,
    *,
    yes: Yes = False,
    database_only: Annotated[
        bool, Parameter(negative=(), show_default=False, help="Leave the home's files as they are.")
    ] = False,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Replace everything that is kept by a backup.

    The whole file is checked first, and the present state is saved among the backups. Programs
    that use the database see the old state or the new one, never a mixture. A backup of an
    older version is upgraded. Restore only what you trust: it becomes what your agents read.
    """
    settings, archive = invocation.settings(), file.absolute()

    async def work(deck: "Deck") -> "RestoreResponse":
        def confirmed(plan: "RestorePlan") -> bool:
            with bar.hidden():
                return _is_confirmed(plan, yes=yes)

        with shown_progress() as bar:
            return await deck.archives.restore(
                archive,
                bar.tell,
                confirm=confirmed,
                paused=lambda: invocation.program.paused(settings),
                database_only=database_only,
            )

    answer = await invocation.call(
        "restore", {"file": str(archive), "databaseOnly": database_only}, work
    )
    if as_json:
        print_json(answer)
    elif answer.restored:
        remark(f"Restored {archive}; what was there before is in {answer.saved_as}")


def _is_confirmed(plan: "RestorePlan", *, yes: bool) -> bool:
    for line in _lines(plan):
        remark(line)
    return may_change("Replace what is there now?", yes=yes)


def _lines(plan: "RestorePlan") -> Iterator[str]:
    made = f"{moment(plan.created_at)} (Quarterdeck {plan.version}, revision {plan.revision})"
    yield f"{'':<10} {'now':<24} backup of {made}"
    for name, count in plan.then.counts.items():
        now = plan.now.counts.get(name, 0)
        if now or count:
            yield f"{name.replace('_', ' '):<10} {now:<24} {count}"
    yield f"{'newest':<10} {_newest(plan.now):<24} {_newest(plan.then)}"
    for verb in ("replaced", "added", "removed"):
        names = getattr(plan.files, verb)
        if names:
            yield f"{verb:<10} {', '.join(names)}"


def _newest(contents: "Contents") -> str:
    at = contents.newest_memory_at
    return "-" if at is None else moment(at)
