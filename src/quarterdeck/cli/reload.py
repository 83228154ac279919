"""`quarterdeck reload`: other words for tools, without a restart."""

import json

from quarterdeck.cli.options import AsJson, Injected
from quarterdeck.cli.render import remark
from quarterdeck.errors import NotFound


def reload(*, as_json: AsJson = False, invocation: Injected) -> None:
    """Let the daemon read metadata.yaml again, and tell its clients.

    The file is checked as a whole first. When anything in it is wrong, all of it is shown and the
    daemon goes on with the words from before.
    """
    from quarterdeck.daemon.address import find
    from quarterdeck.daemon.control import reload as reload_daemon

    home = invocation.find_home()
    address = find(home)
    if address is None:
        raise NotFound(
            "No daemon is running",
            details={"home": str(home)},
            hint="there is nothing to do: the next one reads the file when it starts",
        )
    warnings = reload_daemon(home, address)
    if as_json:
        print(json.dumps({"warnings": warnings}))
        return
    for warning in warnings:
        remark(f"warning: {warning}")
    remark("The daemon shows the words of the file now; clients have been told")
