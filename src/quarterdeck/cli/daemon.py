"""`quarterdeck down`, `status`, `upgrade`: the daemon, for those who keep it."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from quarterdeck import __version__
from quarterdeck.cli.options import AsJson, Injected
from quarterdeck.cli.render import remark
from quarterdeck.errors import DaemonMismatch

if TYPE_CHECKING:
    from quarterdeck.daemon.address import Address

NOT_RUNNING = 3  # as for everything that is not there


def down(
    *,
    now: Annotated[
        bool,
        Parameter(negative=(), show_default=False, help="Do not wait for calls that are running."),
    ] = False,
    invocation: Injected,
) -> None:
    """Stop the daemon.

    It finishes the calls that are running. The next client that needs it starts it again.
    """
    from quarterdeck.daemon.launch import stop_daemon

    was_running = stop_daemon(invocation.find_home(), say=remark, now=now)
    remark("Stopped" if was_running else "It was not running")


def status(*, as_json: AsJson = False, invocation: Injected) -> int:
    """Say whether the daemon runs, and where.

    The exit code is 3 when it does not run.
    """
    from quarterdeck.daemon.address import find

    home = invocation.find_home()
    address = find(home)
    found = _details(home, address) if address else {"running": False, "home": str(home)}
    if as_json:
        print(json.dumps(found))
    elif address is None:
        print(_absence(home))
    else:
        _print(found)
    return 0 if address else NOT_RUNNING


def upgrade(*, invocation: Injected) -> None:
    """Restart the daemon as the version that is installed now.

    It finishes the calls that are running. Clients that are connected through 'quarterdeck mcp'
    stay connected.
    """
    from quarterdeck.daemon.address import find
    from quarterdeck.daemon.environment import read_environment_file
    from quarterdeck.daemon.launch import restart_daemon
    from quarterdeck.daemon.versions import is_newer

    # Before anything is stopped: the next daemon would not start with what is refused here.
    home = invocation.settings().home
    read_environment_file(home)
    before = find(home)
    if before is not None and is_newer(before.version, than=__version__):
        raise DaemonMismatch(before.version, __version__)
    after = restart_daemon(home, os.environ, say=remark)
    was = f" (it was {before.version})" if before and before.version != after.version else ""
    remark(f"Version {after.version} is running at {after.url}{was}")


def _details(home: Path, address: "Address") -> Mapping[str, object]:
    from quarterdeck.daemon.control import ask
    from quarterdeck.daemon.log import log_path

    asked = ask(home, address)
    return {
        "running": True,
        "home": str(home),
        **address._asdict(),
        "calls": asked.get("running") if asked else None,
        "log": str(log_path(home)),
        "program": __version__,
    }


def _absence(home: Path) -> str:
    """Return why no daemon answers."""
    from quarterdeck.daemon.address import is_alive, is_ending

    if not is_alive(home):
        return "not running"
    return "ending" if is_ending(home) else "starting"


def _print(found: Mapping[str, object]) -> None:
    calls = found["calls"]
    doing = "does not answer" if calls is None else f"{calls} call{'s' * (calls != 1)} running"
    print(f"running    {found['url']}, process {found['pid']}, {doing}")
    print(f"version    {found['version']}")
    print(f"home       {found['home']}")
    print(f"log        {found['log']}")
    if found["version"] != found["program"]:
        remark(
            f"This program is version {found['program']}; 'quarterdeck upgrade' restarts the daemon"
        )
