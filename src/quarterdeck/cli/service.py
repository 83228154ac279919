"""`quarterdeck service`: the server, kept running by the user's own service manager."""

import json
import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from cyclopts import App

from quarterdeck.cli.consent import may_change, show_change
from quarterdeck.cli.launching import own_launch
from quarterdeck.cli.options import AsJson, Injected, OnlyPrint, Yes
from quarterdeck.cli.program import Deck, Invocation
from quarterdeck.cli.render import remark
from quarterdeck.user_files import read_text, remove_file, replace_text
from quarterdeck.user_services.definition import Definition
from quarterdeck.user_services.manager import ServiceManager, service_manager

if TYPE_CHECKING:
    from quarterdeck.domain.json import JsonObject

app = App(name="service", help="Keep Quarterdeck running, also after a restart of the machine.")


@app.command
async def install(
    *,
    only_print: OnlyPrint = False,
    yes: Yes = False,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Start Quarterdeck now and at each login, and again when it fails.

    Writes a user unit for systemd on Linux, an agent for launchd on macOS. Neither holds a
    setting other than the home, and the PATH of this shell, by which agents find their programs;
    what else the server needs belongs in the home's config.toml.
    """
    from quarterdeck.daemon.address import starting_alone
    from quarterdeck.daemon.launch import stop_daemon

    manager, home = _manager(), invocation.find_home()
    wanted = manager.text(_definition(invocation))
    if only_print:
        print(wanted, end="")
        return

    async def body(_deck: Deck) -> "JsonObject":
        manager.check()
        before = read_text(manager.path)
        show_change(manager.path, before, wanted, invocation)
        is_wanted = before == wanted or may_change(yes=yes)
        if is_wanted:
            replace_text(manager.path, wanted)
            with starting_alone(home):
                # It would keep the service from starting; clients wait for the next one.
                stop_daemon(home, say=remark)
                manager.start()
        changed = is_wanted and before != wanted
        return {"path": str(manager.path), "changed": changed, "started": is_wanted}

    answer = await invocation.call("service.install", {"path": str(manager.path)}, body)
    if as_json:
        print(json.dumps(answer))
    elif answer["started"]:
        remark(f"Quarterdeck runs as a service of {manager.name}")
        if advice := manager.advice():
            remark(advice)


@app.command
async def uninstall(*, yes: Yes = False, as_json: AsJson = False, invocation: Injected) -> None:
    """Stop the service and take its file away; the home stays as it is."""
    manager = _manager()

    async def body(_deck: Deck) -> "JsonObject":
        before = read_text(manager.path)
        if before is None:
            return {"path": str(manager.path), "changed": False}
        manager.check()
        show_change(manager.path, before, None, invocation)
        is_wanted = may_change(yes=yes)
        if is_wanted:
            manager.stop()
            remove_file(manager.path)
            manager.forget()
        return {"path": str(manager.path), "changed": is_wanted}

    answer = await invocation.call("service.uninstall", {"path": str(manager.path)}, body)
    if as_json:
        print(json.dumps(answer))
    elif answer["changed"]:
        remark("The service is gone")
    elif not manager.path.exists():
        remark("There is no service; nothing was changed")


@app.command
def status(*, as_json: AsJson = False) -> None:
    """Say whether the service is there, runs and starts at login."""
    manager = _manager()
    manager.check()
    state = manager.state()
    if as_json:
        print(json.dumps({"manager": manager.name, "path": str(manager.path), **asdict(state)}))
        return
    print(f"file     {manager.path if state.installed else 'none'}")
    print(f"running  {f'yes, process {state.pid}' if state.running else 'no'}")
    print(f"login    {'starts it' if state.starts_at_login else 'does not start it'}")


def _manager() -> ServiceManager:
    return service_manager(sys.platform, os.environ)


def _definition(invocation: Invocation) -> Definition:
    settings = invocation.settings()
    launch = own_launch(settings, "up")
    # Agents find their programs by the PATH of the shell that this was typed into.
    path = {"PATH": os.environ["PATH"]} if "PATH" in os.environ else {}
    env = {**launch.env, **path, "QUARTERDECK_SERVER_MANAGED": "true"}
    return Definition((launch.command, *launch.args), settings.home, env)
