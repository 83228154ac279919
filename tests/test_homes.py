import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.errors import InvalidSettings
from quarterdeck.homes import (
    Mount,
    current_mounts,
    linux_mounts,
    macos_mounts,
    network_kind,
    prepare_home,
)
from quarterdeck.settings import Settings, load_settings

MOUNTINFO = r"""
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
41 27 0:40 / /mnt/team rw,relatime shared:12 master:3 - nfs4 filer:/team rw,vers=4.2
42 41 254:1 / /mnt/team/local rw,relatime - xfs /dev/vdb rw
43 27 0:41 / /mnt/two\040words\134s rw,relatime - cifs //filer/x rw
44 27 0:42 / /mnt/c rw,noatime - 9p drvfs rw,aname=drvfs;path=C:\134
45 27 0:43 / /mnt/shadow rw - ext4 /dev/vdc rw
46 45 0:44 / /mnt/shadow rw - fuse.sshfs ada@host:/ rw
47 27 0:45 / /mnt/layers rw - overlay overlay rw
"""
MACOS = """\
/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse)
//ada@filer/team on /Volumes/team on call (smbfs, nodev, nosuid, mounted by ada)
filer:/export on /Volumes/export (nfs)
"""


def settings_for(home: Path) -> Settings:
    return load_settings(flags={"home": home}, environ={})


@pytest.fixture
def sealed_folder() -> Iterator[Path]:
    """A folder that may be entered and not written to, not even when root runs the tests."""
    # Not below `tmp_path`, which only its owner may enter.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder).resolve()
        path.chmod(0o555)
        user = os.geteuid()
        # Permission bits do not stop root, so root becomes somebody else for the test.
        if user == 0:
            os.seteuid(65534)
        yield path
        os.seteuid(user)
        path.chmod(0o755)


def test_a_missing_home_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    home = tmp_path / "new" / "deck"
    assert prepare_home(settings_for(home)) == home
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert list(home.iterdir()) == []


def test_preparing_a_home_twice_changes_nothing(tmp_path: Path) -> None:
    home = tmp_path / "deck"
    prepare_home(settings_for(home))
    (home / "config.toml").touch()
    assert prepare_home(settings_for(home)) == home
    assert (home / "config.toml").exists()


def test_the_mode_of_an_existing_home_is_left_alone(tmp_path: Path) -> None:
    home = tmp_path / "shared"
    home.mkdir()
    home.chmod(0o755)
    prepare_home(settings_for(home))
    assert stat.S_IMODE(home.stat().st_mode) == 0o755


@pytest.mark.parametrize("below", ["", "deck"])
def test_a_home_that_is_a_file_is_refused(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InvalidSettings) as refused:
        prepare_home(settings_for(tmp_path / "file" / below))
    assert refused.value.details["problem"] == "is not a folder"
    assert "QUARTERDECK_HOME" in str(refused.value.hint)


def test_a_home_that_cannot_be_written_to_is_refused(sealed_folder: Path) -> None:
    with pytest.raises(InvalidSettings) as refused:
        prepare_home(settings_for(sealed_folder))
    assert refused.value.details["problem"] == "cannot be written to: Permission denied"


def test_a_home_that_cannot_be_made_is_refused(sealed_folder: Path) -> None:
    with pytest.raises(InvalidSettings) as refused:
        prepare_home(settings_for(sealed_folder / "deck"))
    assert refused.value.details["problem"] == "cannot be written to: Permission denied"


def test_a_home_that_leads_to_itself_is_refused(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(InvalidSettings):
        prepare_home(settings_for(loop))


def test_a_home_on_a_network_file_system_is_refused_and_not_made(tmp_path: Path) -> None:
    home = tmp_path / "deck"
    mounts = [Mount(Path("/"), "ext4"), Mount(tmp_path.resolve(), "nfs4")]
    with pytest.raises(InvalidSettings) as refused:
        prepare_home(settings_for(home), mounts=mounts)
    assert refused.value.details == {"home": str(home), "fileSystem": "nfs4"}
    assert "locks are not reliable" in refused.value.message
    assert "QUARTERDECK_HOME" in str(refused.value.hint)
    assert "PostgreSQL" in str(refused.value.hint)
    assert not home.exists()


def test_a_link_to_a_network_file_system_is_followed(tmp_path: Path) -> None:
    remote = tmp_path.resolve() / "remote"
    remote.mkdir()
    (tmp_path / "link").symlink_to(remote)
    with pytest.raises(InvalidSettings):
        prepare_home(settings_for(tmp_path / "link" / "deck"), mounts=[Mount(remote, "nfs")])


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/srv/deck", None),
        ("/mnt/team/ada", "nfs4"),
        ("/mnt/team", "nfs4"),
        ("/mnt/teamwork", None),
        ("/mnt/team/local/deck", None),
        ("/mnt/two words\\s/deck", "cifs"),
        ("/mnt/c/deck", "9p"),
        ("/mnt/shadow/deck", "fuse.sshfs"),
        ("/mnt/layers/deck", None),
    ],
)
def test_the_innermost_and_latest_mount_decides_on_linux(path: str, kind: str | None) -> None:
    assert network_kind(Path(path), list(linux_mounts(MOUNTINFO))) == kind


def test_a_machine_that_lives_on_9p_as_a_whole_is_accepted() -> None:
    mounts = [Mount(Path("/"), "9p"), Mount(Path("/data"), "9p"), Mount(Path("/nfs"), "nfs")]
    assert network_kind(Path("/srv/deck"), mounts) is None
    assert network_kind(Path("/data/deck"), mounts) is None
    assert network_kind(Path("/nfs/deck"), mounts) == "nfs"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/srv/deck", None),
        ("/Volumes/team on call/deck", "smbfs"),
        ("/Volumes/export/deck", "nfs"),
    ],
)
def test_the_mounts_of_macos_are_understood(path: str, kind: str | None) -> None:
    assert network_kind(Path(path), list(macos_mounts(MACOS))) == kind


@pytest.mark.parametrize(
    "kind", ["nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "ceph", "fuse.glusterfs", "afpfs", "afs"]
)
def test_network_file_systems_are_known(kind: str) -> None:
    assert network_kind(Path("/net/deck"), [Mount(Path("/net"), kind)]) == kind


@pytest.mark.parametrize(
    "kind", ["ext4", "zfs", "tmpfs", "overlay", "apfs", "virtiofs", "fuse", "fuseblk", "nfsd"]
)
def test_local_file_systems_are_accepted(kind: str) -> None:
    assert network_kind(Path("/disk/deck"), [Mount(Path("/disk"), kind)]) is None


def test_without_a_mount_table_nothing_is_refused() -> None:
    assert network_kind(Path("/srv/deck"), []) is None
    assert list(linux_mounts("nonsense\n1 2 3\n")) == []


def test_this_machine_has_a_root() -> None:
    assert sys.platform in {"linux", "darwin"}
    assert Path("/") in [mount.point for mount in current_mounts()]
