"""What agents have left in the home."""

import os
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from quarterdeck.ports.housekeeping import Folder
from quarterdeck.repositories.workspaces.places import Places

# As `Places` names them: a mark beside a workspace that is being made, and a workspace that was
# set aside once all work in it was safe.
_MARK = re.compile(r"\.(?P<name>.+)\.(?P<kind>making|removed)(-\d+)?")


class HomeHousekeeping:
    """Implements `Housekeeping`."""

    def __init__(self, home: Path) -> None:
        self._places = Places(home.resolve())
        self._logs = home / "logs" / "agents"
        self._notes = home / "agents"

    def folders(self) -> Sequence[Folder]:
        """Return all workspaces of the home, half-made and half-removed ones included."""
        found: dict[str, list[Path]] = defaultdict(list)
        with suppress(FileNotFoundError):
            for place in sorted(self._places.workspaces.iterdir()):
                mark = _MARK.fullmatch(place.name)
                found[mark["name"] if mark else place.name].append(place)
        return [self._folder(name, places) for name, places in found.items()]

    def remove_folder(self, folder: Folder) -> None:
        """Remove all that there is of a workspace; safe to repeat."""
        # The mark last: until then the folder counts as one in which nobody has worked.
        for place in sorted(map(Path, folder.places), key=_is_mark):
            _remove(place)

    def files_size(self, agent_id: str) -> int:
        """Return how many bytes the logs and the notes of an agent take."""
        return sum(map(_size, self._files(agent_id)))

    def remove_files(self, agent_id: str) -> None:
        """Remove the logs and the notes of an agent; safe to repeat."""
        for place in list(self._files(agent_id)):
            _remove(place)

    def _folder(self, name: str, places: Sequence[Path]) -> Folder:
        path = self._places.workspaces / name
        is_half_made = self._places.making(path).exists()
        has_work = path.exists() and not is_half_made and not _is_empty(path)
        return Folder(
            path=str(path),
            places=tuple(map(str, places)),
            size=sum(map(_size, places)),
            work="there are files in it" if has_work else None,
        )

    def _files(self, agent_id: str) -> Iterator[Path]:
        yield self._notes / agent_id
        yield self._logs / agent_id
        yield self._logs / f"{agent_id}.stderr"
        yield self._logs / f"{agent_id}.stderr.1"


def _is_mark(place: Path) -> bool:
    return place.name.endswith(".making")


def _is_empty(path: Path) -> bool:
    # What is no folder was made by somebody else, who may want it.
    return path.is_dir() and not path.is_symlink() and not any(path.iterdir())


def _size(place: Path) -> int:
    if not place.is_dir() or place.is_symlink():
        return place.lstat().st_size if os.path.lexists(place) else 0
    files = (Path(top) / name for top, _, names in os.walk(place) for name in names)
    return sum(_size_of_file(file) for file in files)


def _size_of_file(file: Path) -> int:
    with suppress(FileNotFoundError):
        return file.lstat().st_size
    return 0


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
