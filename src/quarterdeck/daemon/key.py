"""The home's own key: whoever can read this file, its owner alone, may ask the daemon for anything.

The stdio bridge imports this and has to start fast, so it needs the standard library only.
"""

import base64
import os
import re
import stat
from contextlib import suppress
from pathlib import Path

from quarterdeck.errors import InvalidSettings

KEY_FILE = "token"

# The prefix lets redaction and secret scanners recognise a secret wherever it turns up.
_PREFIX = "qd_"
_SECRET_BYTES = 32
_SECRET = re.compile(r"qd_[A-Za-z0-9_-]{43}")
# Not through a link, and not waiting for whoever writes into a pipe.
_HOW_TO_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_HOW_TO_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_MOST_BYTES = 1024


def new_secret() -> str:
    """Return 256 random bits in the form that all our keys and tokens have."""
    return _PREFIX + base64.urlsafe_b64encode(os.urandom(_SECRET_BYTES)).decode().rstrip("=")


def is_secret(text: str) -> bool:
    """Say whether `text` has the form of a key or token of ours."""
    return _SECRET.fullmatch(text) is not None


def ensure_key(home: Path) -> str:
    """Return the home's key, which is made when it is missing; of several processes one wins.

    Raises:
        InvalidSettings: The file is not its owner's alone, or cannot be made.
    """
    key = read_key(home)
    if key is None:
        try:
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            _create(home / KEY_FILE)
        except OSError as error:
            raise _unusable(home / KEY_FILE, f"cannot be made: {error.strerror}") from error
        key = read_key(home)
    assert key is not None, "somebody has just made it"
    return key


def read_key(home: Path) -> str | None:
    """Return the home's key; `None` when it has none yet.

    Raises:
        InvalidSettings: The file is not its owner's alone, or holds no key.
    """
    path = home / KEY_FILE
    try:
        file = os.open(path, _HOW_TO_READ)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        problem = "is a symbolic link" if path.is_symlink() else f"cannot be read: {error.strerror}"
        raise _unusable(path, problem) from error
    try:
        _refuse_shared(path, os.fstat(file))
        text = os.read(file, _MOST_BYTES).decode(errors="replace").strip()
    finally:
        os.close(file)
    if not is_secret(text):
        raise _unusable(path, "holds no key")
    return text


def _create(path: Path) -> None:
    # Written under another name first: whoever finds the file finds all of it, and a link, unlike
    # a rename, fails when another process was faster.
    draft = path.with_name(f".{path.name}-{os.getpid()}-{os.urandom(4).hex()}")
    file = os.open(draft, _HOW_TO_CREATE, 0o600)
    try:
        os.write(file, f"{new_secret()}\n".encode())
        os.fsync(file)
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        os.close(file)
        draft.unlink()


def _refuse_shared(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise _unusable(path, "is not a file")
    if found.st_uid != os.geteuid():
        raise _unusable(path, "belongs to another user")
    if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InvalidSettings(
            f"The key {str(path)!r} can be read by other users of this machine",
            details={"file": str(path), "mode": f"{stat.S_IMODE(found.st_mode):04o}"},
            hint=f"if nobody has read it, run 'chmod 600 {path}'; else delete it and run"
            " 'quarterdeck up', which makes a new one",
        )


def _unusable(path: Path, problem: str) -> InvalidSettings:
    return InvalidSettings(
        f"The key {str(path)!r} {problem}",
        details={"file": str(path), "problem": problem},
        hint="remove what is there, and 'quarterdeck up' makes a new key; or set QUARTERDECK_HOME"
        " to a folder of your own",
    )
