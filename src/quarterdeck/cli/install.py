"""`quarterdeck install` and `uninstall`: MCP clients that start Quarterdeck by themselves."""

import json
import os
import re
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from quarterdeck.cli.consent import may_change, show_change
from quarterdeck.cli.launching import own_launch
from quarterdeck.cli.options import AsJson, Injected, OnlyPrint, ReadOnly, Toolsets, Yes
from quarterdeck.cli.program import Deck, Invocation
from quarterdeck.cli.render import print_table, remark
from quarterdeck.client_configs.clients import Client, ClientId, Machine, find_client
from quarterdeck.client_configs.entries import found, with_entry, without_entry
from quarterdeck.client_configs.launch import Launch, runs_quarterdeck
from quarterdeck.client_configs.survey import configured_clients
from quarterdeck.client_configs.unusable import Unusable
from quarterdeck.errors import Conflict, InvalidInput, UnusableFile
from quarterdeck.user_files import back_up, read_text, replace_text

if TYPE_CHECKING:
    from collections.abc import Generator

    from quarterdeck.domain.json import JsonObject

# What every client takes for a name.
SERVER_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

ServerName = Annotated[str, Parameter(help="Name of the server in the client's configuration.")]
AnyClient = Annotated[
    ClientId | None, Parameter(help="The client; without one, all are listed.", show_default=False)
]


async def install(
    client: AnyClient = None,
    /,
    *,
    name: ServerName = "quarterdeck",
    read_only: ReadOnly = None,
    toolsets: Toolsets = None,
    only_print: OnlyPrint = False,
    yes: Yes = False,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Let an MCP client start Quarterdeck.

    Shows what its configuration file becomes, asks, and keeps everything else that is in it. A
    copy of the file as it was goes to the home's backups. Without a client, says which are on
    this machine and which are configured; with --print alone, prints what most other clients
    take.
    """
    if client is None and not only_print:
        _list_clients(as_json=as_json)
        return
    _check_name(name)
    launch = _launch(invocation, read_only=read_only, toolsets=toolsets)
    if only_print:
        print(_snippet(find_client(client) if client else None, name, launch), end="")
        return
    assert client is not None, "listing and printing are done"
    chosen = find_client(client)

    def edit(text: str) -> str:
        return with_entry(text, chosen, name, launch)

    change = await _changed(chosen, name, edit, "install", yes=yes, invocation=invocation)
    if as_json:
        print(json.dumps(asdict(change)))
    elif change.changed:
        remark(f"{chosen.title} starts Quarterdeck from now on; restart it if it is running")
        _warn_of_variables(invocation)
    elif not change.declined:
        remark(f"{chosen.title} starts Quarterdeck already; nothing was changed")


async def uninstall(
    client: Annotated[ClientId, Parameter(help="The client.")],
    /,
    *,
    name: ServerName = "quarterdeck",
    yes: Yes = False,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Take out of an MCP client what install put in.

    Everything else in its configuration file stays as it is now. An entry of this name that
    does not start Quarterdeck is not touched.
    """
    _check_name(name)
    chosen = find_client(client)

    def edit(text: str) -> str:
        entry = found(chosen.dialect.data(text), chosen.section, name)
        if entry is not None and not runs_quarterdeck(entry):
            raise Conflict(
                f"The server {name!r} of {chosen.title} does not start Quarterdeck",
                details={"client": chosen.id, "name": name},
                hint="give the right --name, or take it out by hand",
            )
        return without_entry(text, chosen, name)

    change = await _changed(chosen, name, edit, "uninstall", yes=yes, invocation=invocation)
    if as_json:
        print(json.dumps(asdict(change)))
    elif change.changed:
        remark(f"{chosen.title} does not start Quarterdeck any more")
    elif not change.declined:
        remark(f"{chosen.title} has no server {name!r}; nothing was changed")


@dataclass(frozen=True)
class Change:
    """What came of a command."""

    client: str
    path: str
    name: str
    changed: bool
    declined: bool = False
    backup: str | None = None


async def _changed(
    client: Client,
    name: str,
    edit: Callable[[str], str],
    command: str,
    *,
    yes: bool,
    invocation: Invocation,
) -> Change:
    path = client.file(Machine(os.environ))

    async def body(_deck: Deck) -> Change:
        with _explained(path):
            before = read_text(path)
            after = edit(before or "")
            if after == (before or ""):
                return Change(client.id, str(path), name, changed=False)
            show_change(path, before, after, invocation)
            if not may_change(yes=yes):
                return Change(client.id, str(path), name, changed=False, declined=True)
            backup = _write(path, edit, client, invocation)
            return Change(client.id, str(path), name, changed=True, backup=backup)

    sent: JsonObject = {"client": client.id, "path": str(path), "name": name}
    change = await invocation.call(command, sent, body)
    if change.backup:
        remark(f"A copy of the file as it was is at {change.backup}")
    return change


def _write(
    path: Path, edit: Callable[[str], str], client: Client, invocation: Invocation
) -> str | None:
    # Read anew: a client that runs may have written its file while the user was asked.
    current = read_text(path)
    after = edit(current or "")
    backup = None
    if current is not None:
        assert invocation.loaded is not None, "the call loaded them"
        backup = str(back_up(path, invocation.loaded.home / "backups", client.id))
    replace_text(path, after)
    return backup


@contextmanager
def _explained(path: Path) -> "Generator[None]":
    try:
        yield
    except Unusable as error:
        hint = (
            "nothing was changed; repair it, or edit it by hand: 'quarterdeck install CLIENT"
            " --print' shows what belongs in it"
        )
        raise UnusableFile(str(path), str(error), hint=hint) from error


def _check_name(name: str) -> None:
    if not SERVER_NAME.fullmatch(name):
        problem = "must be 1 to 64 letters, digits, '-' and '_', which every client takes"
        raise InvalidInput.field("name", problem)


def _launch(invocation: Invocation, *, read_only: bool | None, toolsets: str | None) -> Launch:
    settings = invocation.settings({"server.read_only": read_only, "server.toolsets": toolsets})
    flags = ["--read-only"] if read_only else []
    if toolsets:
        flags += ["--toolsets", toolsets]
    return own_launch(settings, "mcp", *flags)


def _snippet(client: Client | None, name: str, launch: Launch) -> str:
    """Return what a new file of the client would hold; without one, the common form."""
    return with_entry("", client or find_client("cursor"), name, launch)


def _list_clients(*, as_json: bool) -> None:
    states = configured_clients(os.environ)
    if as_json:
        print(json.dumps({"clients": [asdict(state) for state in states]}))
        return
    rows = [
        (
            state.client,
            "yes" if state.found else "no",
            ", ".join(state.names) if state.names else "no",
            state.file if state.problem is None else f"{state.file} {state.problem}",
        )
        for state in states
    ]
    print_table(("CLIENT", "FOUND", "CONFIGURED", "FILE"), rows)
    remark("Run 'quarterdeck install CLIENT' to configure one; --print shows what others take")


def _warn_of_variables(invocation: Invocation) -> None:
    """Name settings that this shell has and the client will not have."""
    assert invocation.loaded is not None, "the call loaded them"
    only_here = _set_in_environment(invocation)
    if only_here:
        file = invocation.loaded.config_path
        remark(
            f"The client may not know what this shell sets: {', '.join(only_here)};"
            f" put it into {file}"
        )


def _set_in_environment(invocation: Invocation) -> Sequence[str]:
    assert invocation.loaded is not None, "the call loaded them"
    origins = (origin for key, _, origin in invocation.loaded.shown() if key != "home")
    return [origin.removeprefix("environment ") for origin in origins if "environment " in origin]
