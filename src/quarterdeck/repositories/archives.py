"""Archives of one home: its database and its own files, written and put back."""

import errno
import os
import shutil
import sqlite3
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from quarterdeck import __version__
from quarterdeck.domain.archive import (
    DATABASE,
    BackupResponse,
    FileChanges,
    Manifest,
    RestorePlan,
)
from quarterdeck.errors import (
    ArchiveAhead,
    CannotWrite,
    Conflict,
    InvalidArchive,
    StorageUnavailable,
)
from quarterdeck.ports.archives import CloseTraces, Progress
from quarterdeck.ports.clock import Clock
from quarterdeck.repositories.archive_file import describe, pack, read_manifest, unpack
from quarterdeck.repositories.home_files import HomeFiles
from quarterdeck.repositories.scratch import Scratch, new_scratch, unfinished
from quarterdeck.repositories.sql import migrate, staged
from quarterdeck.repositories.sql.copies import Copies, contents_of_file, settle

# Left free on the disk beside what an archive is unpacked to.
RESERVE_BYTES = 64 * 1024 * 1024
_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE)


@dataclass(frozen=True)
class HomeArchives:
    """Implements `Archives`."""

    home: Path
    database: Copies
    clock: Clock

    @property
    def folder(self) -> Path:
        """Return where backups go unless another place is named."""
        return self.home / "backups"

    def write(
        self, target: Path | None, progress: Progress, *, with_secrets: bool
    ) -> BackupResponse:
        """Copy the database, then pack it with the home's files."""
        return self.write_labelled(target, progress, label="", with_secrets=with_secrets)

    def write_labelled(
        self, target: Path | None, progress: Progress, *, label: str, with_secrets: bool
    ) -> BackupResponse:
        with _explained(self.folder), new_scratch(self.folder) as folder:
            path = self._free_name(target, label)
            copy = folder / DATABASE
            self.database.copy_to(copy, progress)
            files = HomeFiles(self.home).present(with_secrets=with_secrets)
            manifest = self._manifest(copy, files, with_secrets=with_secrets)
            with _explained(path.parent), unfinished(path) as draft:
                pack(draft, manifest, {DATABASE: copy, **files}, progress)
            return _response(path, manifest)

    def check(self, file: Path, progress: Progress) -> "UnpackedArchive":
        """Unpack into the home's backups, where there is room for as much again."""
        manifest = read_manifest(file)
        if manifest.revision not in migrate.REVISIONS:
            raise ArchiveAhead(str(file), manifest.version, manifest.revision, migrate.HEAD)
        with _explained(self.folder):
            scratch = new_scratch(self.folder)
            try:
                return self._unpacked(file, manifest, scratch, progress)
            except BaseException:
                scratch.remove()
                raise

    def _unpacked(
        self, file: Path, manifest: Manifest, scratch: Scratch, progress: Progress
    ) -> "UnpackedArchive":
        _check_room(scratch.path, manifest)
        members = unpack(file, manifest, scratch.path, progress)
        database = members.pop(DATABASE)
        problem = staged.problem_of(database, manifest.revision, scratch.path)
        if problem is not None:
            raise InvalidArchive(str(file), problem)
        staged.bring_up(database)
        return UnpackedArchive(self, file, manifest, database, members, scratch)

    def _manifest(self, copy: Path, files: Mapping[str, Path], *, with_secrets: bool) -> Manifest:
        return Manifest(
            version=__version__,
            revision=migrate.HEAD,
            source=self.database.kind,
            created_at=self.clock.now(),
            secrets=with_secrets,
            contents=contents_of_file(copy),
            database=describe(DATABASE, copy),
            files=[describe(name, path) for name, path in files.items()],
        )

    def _free_name(self, target: Path | None, label: str) -> Path:
        if target is not None and not target.is_dir():
            if target.exists():
                raise _taken(target)
            return target
        stem = f"quarterdeck-{self.clock.now():%Y%m%dT%H%M%SZ}{label}"
        folder = target or self.folder
        names = (
            folder / f"{stem}{number}.zip" for number in ("", *(f"-{n}" for n in range(2, 100)))
        )
        for name in names:
            if not name.exists():
                return name
        raise _taken(folder / f"{stem}.zip")


@dataclass(frozen=True)
class UnpackedArchive:
    """Implements `CheckedArchive`."""

    archives: HomeArchives
    file: Path
    manifest: Manifest
    database: Path
    files: Mapping[str, Path]
    scratch: Scratch

    def plan(self, *, database_only: bool) -> RestorePlan:
        """Compare what was with what is."""
        return RestorePlan(
            archive=str(self.file),
            created_at=self.manifest.created_at,
            version=self.manifest.version,
            revision=self.manifest.revision,
            now=self.archives.database.contents(),
            then=self.manifest.contents,
            files=FileChanges()
            if database_only
            else self._home_files.changes(self.files, with_secrets=self.manifest.secrets),
        )

    def restore(self, close: CloseTraces, progress: Progress, *, database_only: bool) -> Path:
        """Replace the database in one transaction, then the files."""
        settle(self.database, close)
        saved: list[BackupResponse] = []

        def save() -> None:
            for outdated in saved:
                Path(outdated.path).unlink()
            saved[:] = [self._save(progress)]

        with _explained(self.archives.home):
            self.archives.database.replace_with(self.database, save, progress)
            if not database_only:
                self._home_files.replace(self.files, with_secrets=self.manifest.secrets)
        return Path(saved[0].path)

    def discard(self) -> None:
        """Remove what was unpacked."""
        self.scratch.remove()

    @property
    def _home_files(self) -> HomeFiles:
        return HomeFiles(self.archives.home)

    def _save(self, progress: Progress) -> BackupResponse:
        return self.archives.write_labelled(
            None, progress, label="-before-restore", with_secrets=self.manifest.secrets
        )


def _response(path: Path, manifest: Manifest) -> BackupResponse:
    return BackupResponse(
        path=str(path),
        size=path.stat().st_size,
        created_at=manifest.created_at,
        revision=manifest.revision,
        secrets=manifest.secrets,
        contents=manifest.contents,
        files=[member.name for member in manifest.files],
    )


def _check_room(folder: Path, manifest: Manifest) -> None:
    needed = sum(member.size for member in (manifest.database, *manifest.files))
    if shutil.disk_usage(folder).free < needed + RESERVE_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _taken(target: Path) -> Conflict:
    return Conflict(
        f"There is a file {str(target)!r} already",
        details={"path": str(target)},
        hint="choose another name; backups are never written over",
    )


@contextmanager
def _explained(place: Path) -> Generator[None]:
    """Say where there is no room, whether the system or SQLite noticed it."""
    try:
        yield
    except OSError as error:
        raise CannotWrite(str(place), error.strerror or str(error)) from error
    except StorageUnavailable as error:
        cause = error.__cause__
        if isinstance(cause, sqlite3.Error) and cause.sqlite_errorcode in _NO_ROOM:
            raise CannotWrite(str(place), str(cause)) from error
        raise
