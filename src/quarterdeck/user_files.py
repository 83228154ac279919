"""Files of the user that belong to other programs: read whole, and replaced whole or not at all."""

import os
import stat
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from quarterdeck.errors import UnusableFile

NEW_MODE = 0o600


def read_text(path: Path) -> str | None:
    """Return the text as it is, line ends and all; None when there is no file.

    Raises:
        UnusableFile: it is a folder, not UTF-8, or must not be read.
    """
    with _explained(path):
        if not path.exists():
            return None
        content = path.read_bytes()
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        problem = f"is not UTF-8 text at line {line}, column {column}"
        raise UnusableFile(str(path), problem, hint="save it as UTF-8, then try again") from error


def replace_text(path: Path, text: str) -> None:
    """Write the text so that a reader sees the old file or the new one, never a part.

    The mode stays, a link stays a link, and folders on the way are made.

    Raises:
        UnusableFile: it must not be written.
    """
    target = Path(os.path.realpath(path))
    with _explained(path):
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else NEW_MODE
        # Replacing a file asks its folder; what its own mode says is asked here.
        if not mode & stat.S_IWUSR:
            raise UnusableFile(str(path), "is read-only", hint=f"run 'chmod u+w {path}' first")
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, text.encode(), mode)


def create_text(path: Path, text: str) -> bool:
    """Write a new file, for its owner alone; say whether there was none before.

    Raises:
        UnusableFile: it must not be written.
    """
    with _explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, NEW_MODE)
        except FileExistsError:
            return False
        with os.fdopen(file, "wb") as written:
            written.write(text.encode())
    return True


def back_up(path: Path, folder: Path, label: str) -> Path:
    """Copy the file, for its owner alone, and return the copy."""
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    copy = folder / f"{label}-{moment}-{path.name}"
    with _explained(path):
        content = path.read_bytes()
    with _explained(copy):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _replace(copy, content, NEW_MODE)
    return copy


def remove_file(path: Path) -> None:
    """Take a file away that we wrote as a whole; one that is gone already is no error."""
    with _explained(path):
        path.unlink(missing_ok=True)


def _replace(target: Path, content: bytes, mode: int) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(handle, mode)
            file.write(content)
            file.flush()
            os.fsync(handle)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def _explained(path: Path) -> Generator[None]:
    try:
        yield
    except IsADirectoryError as error:
        problem, hint = "is a folder", "move it away, then try again"
        raise UnusableFile(str(path), problem, hint=hint) from error
    except OSError as error:
        problem = f"cannot be used: {error.strerror}"
        raise UnusableFile(str(path), problem, hint="see that you may read and write it") from error
