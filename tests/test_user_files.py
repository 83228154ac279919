"""Files of other programs: replaced whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from quarterdeck.errors import UnusableFile
from quarterdeck.user_files import back_up, create_text, read_text, replace_text


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_for_its_owner_alone_and_its_folders_are_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "settings.json"
    replace_text(path, "{}\r\n")
    assert path.read_bytes() == b"{}\r\n"
    assert mode(path) == 0o600


def test_the_mode_of_a_file_stays_and_no_other_file_is_left(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.touch()
    path.chmod(0o640)
    replace_text(path, "ü")
    assert mode(path) == 0o640
    assert [entry.name for entry in tmp_path.iterdir()] == ["settings.json"]


def test_a_link_stays_a_link_and_its_target_is_written(tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "zed.json"
    replace_text(target, "old")
    link = tmp_path / "settings.json"
    link.symlink_to(Path("dotfiles") / "zed.json")
    replace_text(link, "new")
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "new"


def test_a_link_to_nothing_makes_its_target(tmp_path: Path) -> None:
    link = tmp_path / "settings.json"
    link.symlink_to(tmp_path / "elsewhere" / "zed.json")
    assert read_text(link) is None
    replace_text(link, "new")
    assert (tmp_path / "elsewhere" / "zed.json").read_text(encoding="utf-8") == "new"


def test_a_read_only_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o444)
    with pytest.raises(UnusableFile, match="is read-only"):
        replace_text(path, "new")
    assert path.read_text(encoding="utf-8") == "old"


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnusableFile, match="is a folder"):
        read_text(tmp_path)
    with pytest.raises(UnusableFile, match="is a folder"):
        replace_text(tmp_path, "new")


def test_a_file_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "zed").touch()
    with pytest.raises(UnusableFile, match="cannot be used"):
        replace_text(tmp_path / "zed" / "settings.json", "new")


def test_bytes_that_are_no_text_are_refused_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b'{\n  "a": "\xff"}')
    with pytest.raises(UnusableFile, match="line 2, column 9"):
        read_text(path)


def test_a_backup_is_a_private_copy_with_every_byte(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"\xef\xbb\xbf{}\r\n")
    path.chmod(0o644)
    copy = back_up(path, tmp_path / "home" / "backups", "zed")
    assert copy.read_bytes() == b"\xef\xbb\xbf{}\r\n"
    assert (mode(copy), mode(copy.parent)) == (0o600, 0o700)
    assert copy.name.startswith("zed-")
    assert copy.name.endswith("-settings.json")


@pytest.mark.skipif(os.name != "posix", reason="only on systems with devices")
def test_what_is_no_file_at_all_is_refused() -> None:
    with pytest.raises(UnusableFile):
        replace_text(Path("/dev/null/settings.json"), "new")


def test_a_new_file_is_private_and_never_takes_the_place_of_another(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "new.yaml"
    before = os.umask(0)
    try:
        assert create_text(path, "one\n")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not create_text(path, "two\n")
    link = tmp_path / "link.yaml"
    link.symlink_to(tmp_path / "target.yaml")
    assert not create_text(link, "two\n")
    assert path.read_text(encoding="utf-8") == "one\n"
    assert not (tmp_path / "target.yaml").exists()
