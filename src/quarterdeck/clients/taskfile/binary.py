"""Where the `task` command is."""

import shutil
import sysconfig
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

PACKAGE = "go-task-bin"


def find_task() -> Path | None:
    """Return the `task` that was installed with us, else the one on the PATH."""
    places = [_scripts() / "task", *_packaged()]
    own = next((place for place in places if place.is_file()), None)
    on_path = shutil.which("task")
    return own or (Path(on_path) if on_path else None)


def _scripts() -> Path:
    return Path(sysconfig.get_path("scripts"))


def _packaged() -> list[Path]:
    """Return the package's own record of its command: a `--user` or `--target` installation."""
    try:
        recorded = files(PACKAGE) or []
    except PackageNotFoundError:
        return []
    return [Path(str(file.locate())).resolve() for file in recorded if file.name == "task"]
