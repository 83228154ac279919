"""Where the daemon of a home is: a lock that it holds for life, and a file that says the rest.

The lock is the truth: the kernel lets go of it when the daemon is gone, however it went. An
address without a held lock is stale.
"""

import fcntl
import json
import os
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from quarterdeck.daemon.files import open_private
from quarterdeck.errors import DaemonRunning, InvalidSettings

# Whoever looks whether a daemon lives holds its lock for a moment.
LOOK_SECONDS = 1.0
RETRY_SECONDS = 0.01
# Stands in the lock behind the process id.
ENDING = "ending"


class Address(NamedTuple):
    """What a client needs to reach the daemon, and what a person wants to know of it.

    `flags` are those it was started with, for whoever starts it again; one that is `managed` is
    started again by a service manager.
    """

    url: str
    pid: int
    started_at: float
    instance: str
    version: str
    flags: Sequence[str] = ()
    managed: bool = False


# What the parts of an address are in its file.
KINDS = {
    "url": str,
    "pid": int,
    "started_at": float,
    "instance": str,
    "version": str,
    "flags": list,
}


@contextmanager
def held_for_life(home: Path) -> Generator[None]:
    """Be the daemon of `home`; refuse when another one is."""
    with _opened(_lock_path(home)) as lock:
        if not _taken(lock):
            address = find(home)
            raise DaemonRunning(str(home), address.url if address else None)
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        _address_path(home).unlink(missing_ok=True)
        try:
            yield
        finally:
            withdraw(home)


def _taken(lock: IO[str]) -> bool:
    deadline = time.monotonic() + LOOK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(RETRY_SECONDS)
        else:
            return True


def announce(home: Path, address: Address) -> None:
    """Say where the daemon is, once it answers there; readers never see half a file."""
    path = _address_path(home)
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    with open_private(draft, "x") as file:
        json.dump(address._asdict(), file)
    draft.replace(path)


def withdraw(home: Path) -> None:
    """Take the address back: whoever comes from now on waits for the next daemon."""
    _address_path(home).unlink(missing_ok=True)
    with suppress(FileNotFoundError):  # somebody may have removed the home
        _lock_path(home).write_text(f"{os.getpid()} {ENDING}", encoding="utf-8")


def find(home: Path) -> Address | None:
    """Return where the daemon that is alive answers; `None` when there is none, or not yet."""
    address = read_address(home)
    return address if address and is_alive(home) else None


def read_address(home: Path) -> Address | None:
    """Return what a daemon wrote down, which a crash leaves behind."""
    try:
        found = json.loads(_address_path(home).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        raise _unusable(home, error) from error
    # A daemon of another version may have more to say.
    if not _is_address(found):
        return None
    return Address(**{name: found[name] for name in KINDS}, managed=found.get("managed") is True)


def _is_address(found: Any) -> bool:  # noqa: ANN401 - whatever the file holds
    if not isinstance(found, dict):
        return False
    parts = cast("dict[str, object]", found)
    flags = cast("list[object]", parts.get("flags"))
    has_all = all(isinstance(parts.get(name), kind) for name, kind in KINDS.items())
    return has_all and all(isinstance(flag, str) for flag in flags)


def is_alive(home: Path) -> bool:
    """Return whether somebody is the daemon of `home`, answering or not."""
    try:
        with _lock_path(home).open(encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except BlockingIOError:
        return True
    except OSError as error:
        raise _unusable(home, error) from error
    return False


def process_id(home: Path) -> int | None:
    """Return the process that is the daemon, also while it starts or ends."""
    noted = _noted(home)
    return int(noted[0]) if noted else None


def is_ending(home: Path) -> bool:
    """Return whether the daemon was asked to stop, and finishes what it has begun."""
    return ENDING in _noted(home)


def _noted(home: Path) -> Sequence[str]:
    """Return what the daemon wrote into its lock; it takes a moment to do so."""
    deadline = time.monotonic() + LOOK_SECONDS
    while is_alive(home) and time.monotonic() < deadline:
        if noted := _lock_path(home).read_text(encoding="utf-8").split():
            return noted
    return ()


@contextmanager
def starting_alone(home: Path) -> Generator[None]:
    """Let one process at a time start a daemon; the others find it when it is their turn."""
    with _opened(_folder(home) / "start.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _opened(path: Path) -> IO[str]:
    home = path.parent.parent
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        return open_private(path, "a+")
    except OSError as error:
        raise _unusable(home, error) from error


def _unusable(home: Path, error: OSError) -> InvalidSettings:
    return InvalidSettings(
        f"The home {str(home)!r} cannot be used: {error.strerror}",
        details={"home": str(home), "problem": error.strerror},
        hint="set QUARTERDECK_HOME to a folder that you may write to",
    )


def _folder(home: Path) -> Path:
    return home / "run"


def _lock_path(home: Path) -> Path:
    return _folder(home) / "daemon.lock"


def _address_path(home: Path) -> Path:
    return _folder(home) / "daemon.json"
