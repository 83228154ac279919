"""The archive as a file: a zip whose manifest names each member with its size and digest.

What is read was perhaps not written by us: no member is unpacked that the manifest does not
name, under no other path than one that belongs in a home, and no byte more than it says.
"""

import hashlib
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from quarterdeck.domain.archive import (
    DATABASE,
    FORMAT,
    MANIFEST,
    MOST_FILE_BYTES,
    MOST_FILES,
    MOST_MANIFEST_BYTES,
    Manifest,
    Member,
    is_home_file,
    is_secret,
)
from quarterdeck.errors import ArchiveAhead, InvalidArchive, NotFound
from quarterdeck.ports.archives import Progress

CHUNK = 1024 * 1024
# The lowest: a database shrinks by half, and the next level takes three times as long for a tenth.
LEVEL = 1
_HOME = "home/"
_KNOWN_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1


def describe(name: str, path: Path) -> Member:
    """Return a file's entry in the manifest."""
    with path.open("rb") as file:
        return Member(
            name=name,
            size=path.stat().st_size,
            sha256=hashlib.file_digest(file, "sha256").hexdigest(),
        )


def pack(target: Path, manifest: Manifest, files: Mapping[str, Path], tell: Progress) -> None:
    """Write an archive of `files`, by the names that the manifest has for them."""
    counted = _Counted("Writing the archive", sum(map(_size, files.values())), tell)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        archive.writestr(MANIFEST, manifest.model_dump_json(indent=2))
        for name, path in files.items():
            with (
                path.open("rb") as source,
                archive.open(_inside(name), "w", force_zip64=True) as member,
            ):
                _copy(source, member.write, counted)


def read_manifest(path: Path) -> Manifest:
    """Return what an archive says of itself, after comparing it with what is in it."""
    with _opened(path) as archive:
        manifest = _manifest(path, archive)
        for problem in _problems(archive.infolist(), manifest):
            raise InvalidArchive(str(path), problem)
    return manifest


def unpack(path: Path, manifest: Manifest, folder: Path, tell: Progress) -> dict[str, Path]:
    """Write the members into `folder`, by number; return where each is."""
    members = (manifest.database, *manifest.files)
    counted = _Counted("Checking the archive", sum(member.size for member in members), tell)
    unpacked: dict[str, Path] = {}
    with _opened(path) as archive:
        for number, member in enumerate(members):
            unpacked[member.name] = target = folder / str(number)
            try:
                _unpack(archive, member, target, counted)
            except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
                raise _damaged(path, member) from error
            if describe(member.name, target) != member:
                raise _damaged(path, member)
    return unpacked


def _unpack(archive: zipfile.ZipFile, member: Member, target: Path, counted: "_Counted") -> None:
    with archive.open(_inside(member.name)) as source, target.open("xb") as file:
        target.chmod(0o600)
        _copy(source, file.write, counted, most=member.size + 1)


def _opened(path: Path) -> zipfile.ZipFile:
    if not path.exists():
        raise NotFound(
            f"There is no file {str(path)!r}",
            details={"path": str(path)},
            hint="'quarterdeck backup' prints where it writes one",
        )
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise InvalidArchive(str(path), "is no archive, or was cut short") from error
    except OSError as error:
        raise InvalidArchive(str(path), f"cannot be read ({error.strerror})") from error


def _manifest(path: Path, archive: zipfile.ZipFile) -> Manifest:
    try:
        info = archive.getinfo(MANIFEST)
        if info.file_size > MOST_MANIFEST_BYTES or info.compress_type not in _KNOWN_METHODS:
            raise InvalidArchive(str(path), "has a manifest that is too large")
        text = archive.read(info)
    except (KeyError, zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, OSError) as error:
        raise InvalidArchive(str(path), "has no manifest that can be read") from error
    return _parsed(path, text)


def _parsed(path: Path, text: bytes) -> Manifest:
    try:
        manifest = Manifest.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise InvalidArchive(str(path), "has a manifest that is not one of ours") from error
    if manifest.format > FORMAT:
        found = f"format {manifest.format}"
        raise ArchiveAhead(str(path), manifest.version, found, f"format {FORMAT}")
    return manifest


def _problems(infos: Sequence[zipfile.ZipInfo], manifest: Manifest) -> Iterator[str]:
    names = [info.filename for info in infos]
    expected = [MANIFEST, *(_inside(member.name) for member in _members(manifest))]
    if len(manifest.files) > MOST_FILES or len(set(expected)) < len(expected):
        yield "names too many files, or one twice"
    for member in manifest.files:
        if not is_home_file(member.name) or (is_secret(member.name) and not manifest.secrets):
            yield f"holds {member.name!r}, which does not belong in a backup"
        if member.size > MOST_FILE_BYTES:
            yield f"holds {member.name!r}, which is too large"
    if manifest.database.name != DATABASE or sorted(names) != sorted(expected):
        yield "holds other files than its manifest names"
    sizes = {_inside(member.name): member.size for member in _members(manifest)}
    for info in infos:
        if _is_odd(info) or info.file_size != sizes.get(info.filename, info.file_size):
            yield f"holds {info.filename!r}, which is not a plain file of the size it should have"


def _is_odd(info: zipfile.ZipInfo) -> bool:
    mode = info.external_attr >> 16
    is_plain = stat.S_IFMT(mode) in {0, stat.S_IFREG} and not info.is_dir()
    is_readable = info.compress_type in _KNOWN_METHODS and not info.flag_bits & _ENCRYPTED
    return not (is_plain and is_readable)


def _members(manifest: Manifest) -> Iterator[Member]:
    yield manifest.database
    yield from manifest.files


def _inside(name: str) -> str:
    """Return a member's name in the zip."""
    return name if name == DATABASE else f"{_HOME}{name}"


def _damaged(path: Path, member: Member) -> InvalidArchive:
    return InvalidArchive(str(path), f"is damaged: {member.name!r} is not what it was")


def _size(path: Path) -> int:
    return path.stat().st_size


class _Counted:
    """Tells how much of all files has gone through."""

    def __init__(self, what: str, total: int, tell: Progress) -> None:
        self._what, self._total, self._tell = what, total, tell
        self._done = 0

    def add(self, size: int) -> None:
        self._done += size
        self._tell(self._what, self._done, self._total)


def _copy(
    source: IO[bytes], write: Callable[[bytes], object], counted: _Counted, most: int | None = None
) -> None:
    left = most
    while chunk := source.read(CHUNK if left is None else min(CHUNK, left)):
        write(chunk)
        counted.add(len(chunk))
        left = None if left is None else left - len(chunk)
