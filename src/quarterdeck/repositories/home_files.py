"""The home's own files that are state: read for a backup, replaced one by one by a restore."""

import filecmp
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from quarterdeck.domain.archive import (
    HOME_FILES,
    HOME_FOLDERS,
    MOST_FILE_BYTES,
    MOST_FILES,
    SECRET_FILES,
    FileChanges,
    is_home_file,
)
from quarterdeck.errors import CannotWrite, Conflict
from quarterdeck.repositories.scratch import unfinished


class HomeFiles:
    """Files by their path in the home, with `/` between its parts."""

    def __init__(self, home: Path) -> None:
        """`home` need not have any of them."""
        self._home = home

    def present(self, *, with_secrets: bool) -> Mapping[str, Path]:
        """Return what is there.

        Raises:
            Conflict: One is too large, too deep or oddly named to be put into an archive.
        """
        found = {str(path.relative_to(self._home)): path for path in self._walk(with_secrets)}
        for name, path in found.items():
            if not is_home_file(name) or path.stat().st_size > MOST_FILE_BYTES:
                raise _not_for_archives(name)
        if len(found) > MOST_FILES:
            raise _not_for_archives(f"more than {MOST_FILES} files")
        return dict(sorted(found.items()))

    def _walk(self, with_secrets: bool) -> Iterator[Path]:
        names = (*HOME_FILES, *(SECRET_FILES if with_secrets else ()))
        yield from (self._home / name for name in names if (self._home / name).is_file())
        for folder in HOME_FOLDERS:
            yield from (path for path in (self._home / folder).rglob("*") if path.is_file())

    def changes(self, archived: Mapping[str, Path], *, with_secrets: bool) -> FileChanges:
        """Return what replacing the files by `archived` would do."""
        now = self.present(with_secrets=with_secrets)
        both = [name for name in archived if name in now]
        return FileChanges(
            replaced=[
                name for name in both if not filecmp.cmp(now[name], archived[name], shallow=False)
            ],
            added=[name for name in archived if name not in now],
            removed=[name for name in now if name not in archived],
        )

    def replace(self, archived: Mapping[str, Path], *, with_secrets: bool) -> None:
        """Make the files those of `archived`; each changes at once, or not at all."""
        changes = self.changes(archived, with_secrets=with_secrets)
        for name in (*changes.replaced, *changes.added):
            self._put(name, archived[name])
        for name in changes.removed:
            (self._home / name).unlink()

    def _put(self, name: str, source: Path) -> None:
        target = self._home / name
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = (self._home / name.partition("/")[0]).resolve() if "/" in name else self._home
        if not target.parent.resolve().is_relative_to(folder.resolve()):
            raise CannotWrite(str(target), "a link leads out of the folder")
        with unfinished(target) as draft:
            shutil.copyfile(source, draft)


def _not_for_archives(name: str) -> Conflict:
    return Conflict(
        f"The home holds {name!r}, which does not fit into an archive",
        details={"name": name, "mostBytes": MOST_FILE_BYTES, "mostFiles": MOST_FILES},
        hint="move it elsewhere; folders of policies and workflows hold small text files",
    )
