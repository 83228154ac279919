"""`quarterdeck db`: the database, for those who keep it."""

import json
from dataclasses import asdict

from cyclopts import App

from quarterdeck.cli.options import AsJson, Injected
from quarterdeck.cli.render import remark

app = App(name="db", help="Show and upgrade the database.")

STATES = {
    "new": "new: nothing is stored yet",
    "behind": "behind: run 'quarterdeck db upgrade'",
    "current": "current",
    "ahead": "ahead: written by a newer version of Quarterdeck",
}


@app.command
def status(*, as_json: AsJson = False, invocation: Injected) -> None:
    """Show which database is used and how far it is; nothing is changed."""
    found = invocation.program.database(invocation.settings()).status()
    if as_json:
        print(json.dumps(asdict(found)))
        return
    print(f"database  {found.kind}, {found.place}")
    print(f"revision  {found.revision or 'none'} (this version needs {found.needed})")
    print(f"state     {STATES[found.state]}")


@app.command
async def upgrade(*, as_json: AsJson = False, invocation: Injected) -> None:
    """Bring the database to this version's revision.

    A SQLite file is copied to the home's backups first; servers upgrade one by themselves. A
    PostgreSQL database is upgraded by this command alone.
    """
    from quarterdeck.homes import prepare_home

    settings = invocation.settings()
    prepare_home(settings)
    database = invocation.program.database(settings)
    before = database.status()
    database.upgrade()

    # Only now is there a database that can hold the trace.
    async def outcome(_deck: object) -> dict[str, str | None]:
        return {"from": before.revision, "to": before.needed}

    answer = await invocation.call("db.upgrade", {}, outcome)
    if as_json:
        print(json.dumps(answer))
    elif before.state == "current":
        remark(f"The database is at {before.needed} already")
    else:
        remark(f"Upgraded the database from {before.revision or 'nothing'} to {before.needed}")
