"""The home folder: made private, and kept off network file systems.

Above `settings`, which says where the home is.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from quarterdeck.errors import InvalidSettings
from quarterdeck.settings import Settings

# Linux' and macOS' names. macOS calls every FUSE mount alike, and most of them are remote.
NETWORK_KIND = re.compile(
    r"(fuse\.)?(9p|afpfs|afs|beegfs|ceph|ceph-fuse|cifs|coda|curlftpfs|davfs|drvfs|ftp|gcsfuse"
    r"|glusterfs|goofys|gpfs|juicefs|lustre|macfuse|mount-s3|ncpfs|nfs[34]?|orangefs|osxfuse"
    r"|panfs|pvfs2|rclone|s3fs|smb[23]|smbfs|sshfs|webdav)"
)
# Id, parent, device, root, mount point, options, any number of tags, a dash, and the type.
LINUX_MOUNT = re.compile(r"^\S+ \S+ \S+ \S+ (\S+) .*?(?<= )- (\S+) ", re.MULTILINE)
# Source on mount point (type, options).
MACOS_MOUNT = re.compile(r"^.*? on (/.*) \(([^,)]+)", re.MULTILINE)
OCTAL_ESCAPE = re.compile(r"\\([0-7]{3})")


class Mount(NamedTuple):
    point: Path
    kind: str


def prepare_home(settings: Settings, *, mounts: Sequence[Mount] | None = None) -> Path:
    """Make the home, readable by its owner alone, and return it; safe to repeat.

    The mode of a home that exists is left as it is: it may be a folder that others share.

    Raises:
        InvalidSettings: it is remote, not a folder, or cannot be written to.
    """
    home = settings.home
    # The path is resolved first, because that is what makes an automounter mount it.
    resolved = Path(os.path.realpath(home))
    if kind := network_kind(resolved, current_mounts() if mounts is None else mounts):
        raise _remote(home, kind)
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Permission bits tell little: a disk can be read-only, an access list can forbid.
        with tempfile.TemporaryFile(dir=home):
            return home
    except (FileExistsError, NotADirectoryError) as error:
        raise _unusable(home, "is not a folder") from error
    except OSError as error:
        raise _unusable(home, f"cannot be written to: {error.strerror}") from error


def network_kind(path: Path, mounts: Sequence[Mount]) -> str | None:
    """Return the type of the network file system that holds `path`; None if it is local."""
    holding = [mount for mount in mounts if path.is_relative_to(mount.point)]
    # Reversed, because of two mounts on one point the later one covers the earlier.
    mount = max(reversed(holding), key=lambda mount: len(mount.point.parts), default=None)
    if mount is None or not NETWORK_KIND.fullmatch(mount.kind) or _is_own_disk(mount, mounts):
        return None
    return mount.kind


def _is_own_disk(mount: Mount, mounts: Sequence[Mount]) -> bool:
    # 9p is remote where it is mounted beside a local root: WSL shows Windows' drives so, and
    # locks do not hold there. Some sandboxes have their very root on 9p: then their own
    # kernel keeps the locks of all processes inside, and there is no other disk to move to.
    root_kinds = [other.kind for other in mounts if other.point == Path("/")]
    return mount.kind == "9p" and root_kinds[-1:] == ["9p"]


def current_mounts() -> Sequence[Mount]:
    """Return this machine's mounts; none where they cannot be read, so that nothing is refused."""
    try:
        if sys.platform == "darwin":
            return tuple(macos_mounts(_mount_command()))
        return tuple(linux_mounts(os.fsdecode(Path("/proc/self/mountinfo").read_bytes())))
    except (OSError, subprocess.SubprocessError):
        return ()


def _mount_command() -> str:
    ran = subprocess.run(["/sbin/mount"], capture_output=True, check=True, timeout=5)
    return os.fsdecode(ran.stdout)


def linux_mounts(mountinfo: str) -> Iterator[Mount]:
    """Read the text of `/proc/self/mountinfo`, where blanks in a path are octal escapes."""
    for point, kind in LINUX_MOUNT.findall(mountinfo):
        yield Mount(Path(OCTAL_ESCAPE.sub(lambda code: chr(int(code[1], 8)), point)), kind)


def macos_mounts(listing: str) -> Iterator[Mount]:
    """Read what `mount` prints on macOS."""
    for point, kind in MACOS_MOUNT.findall(listing):
        yield Mount(Path(point), kind)


def _remote(home: Path, kind: str) -> InvalidSettings:
    return InvalidSettings(
        f"The home {str(home)!r} is on a network file system ({kind}), where SQLite's locks"
        " are not reliable",
        details={"home": str(home), "fileSystem": kind},
        hint="set QUARTERDECK_HOME to a folder on a local disk; to share state between machines,"
        " set QUARTERDECK_DATABASE_URL to a PostgreSQL database as well",
    )


def _unusable(home: Path, problem: str) -> InvalidSettings:
    return InvalidSettings(
        f"The home {str(home)!r} {problem}",
        details={"home": str(home), "problem": problem},
        hint="set QUARTERDECK_HOME to a folder that you may write to",
    )
