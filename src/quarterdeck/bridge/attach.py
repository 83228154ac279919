"""Which daemon a program works with: its own version's, or one that fits."""

from collections.abc import Mapping
from pathlib import Path

from quarterdeck import __version__
from quarterdeck.daemon.address import Address, find, starting_alone
from quarterdeck.daemon.launch import Say, ensure_daemon, start_alone
from quarterdeck.daemon.versions import is_compatible, is_newer
from quarterdeck.errors import DaemonMismatch


def attach(home: Path, environ: Mapping[str, str], say: Say) -> Address:
    """Return where the daemon answers, started if need be.

    One of an older version is replaced when it has nothing to do; else it is used as it is.
    """
    address = ensure_daemon(home, environ, say=say)
    if is_newer(__version__, than=address.version):
        address = _replaced(home, environ, address, say)
    if not is_compatible(__version__, address.version):
        raise DaemonMismatch(address.version, __version__)
    return address


def _replaced(home: Path, environ: Mapping[str, str], old: Address, say: Say) -> Address:
    from quarterdeck.daemon.control import stop_if_idle

    # One that a service manager keeps belongs to whoever set that up.
    with starting_alone(home):
        now = find(home)
        if now is not None and now.instance != old.instance:
            return now  # somebody else was faster
        if not old.managed and (now is None or stop_if_idle(home, old)):
            say(f"Replacing the daemon of version {old.version} by {__version__}")
            return start_alone(home, environ, say=say, flags=old.flags)
    say(
        f"The daemon is version {old.version} and {'managed' if old.managed else 'busy'};"
        f" this program is {__version__}. 'quarterdeck upgrade' restarts it"
    )
    return old
