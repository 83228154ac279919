"""The home's own key: made once, private from its first byte on, refused when it is not."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from quarterdeck.daemon.key import KEY_FILE, ensure_key, is_secret, read_key
from quarterdeck.errors import InvalidSettings
from tests.support.children import run_at_once

MAKE_WHEN_TOLD = """
import sys
from pathlib import Path
from quarterdeck.daemon.key import ensure_key

print("ready", flush=True)
sys.stdin.readline()
print(ensure_key(Path(sys.argv[1])))
"""


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_home_without_a_key_has_none(tmp_path: Path) -> None:
    assert read_key(tmp_path) is None
    assert read_key(tmp_path / "no home yet") is None


def test_the_key_is_made_once_and_kept(tmp_path: Path) -> None:
    made = ensure_key(tmp_path / "home")

    assert is_secret(made)
    assert ensure_key(tmp_path / "home") == read_key(tmp_path / "home") == made
    assert ensure_key(tmp_path / "other") != made


def test_the_key_is_its_owners_alone_whatever_the_umask(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        ensure_key(tmp_path / "home")
    finally:
        os.umask(umask)

    assert mode_of(tmp_path / "home") == 0o700
    assert mode_of(tmp_path / "home" / KEY_FILE) == 0o600


def test_of_processes_that_make_it_at_once_one_wins_and_nothing_is_left_over(
    tmp_path: Path,
) -> None:
    printed = run_at_once(MAKE_WHEN_TOLD, str(tmp_path), count=8)

    assert set(printed) == {read_key(tmp_path)}
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]


def shared(key: Path) -> None:
    key.chmod(0o640)


def linked(key: Path) -> None:
    key.rename(key.with_name("elsewhere"))
    key.symlink_to(key.with_name("elsewhere"))


def piped(key: Path) -> None:
    key.unlink()
    os.mkfifo(key, 0o600)


def emptied(key: Path) -> None:
    key.write_text("", encoding="utf-8")


def folder(key: Path) -> None:
    key.unlink()
    key.mkdir(mode=0o700)


@pytest.mark.parametrize("spoil", [shared, linked, piped, emptied, folder])
def test_a_key_that_is_not_its_owners_file_is_refused_with_what_to_do(
    spoil: Callable[[Path], None], tmp_path: Path
) -> None:
    made = ensure_key(tmp_path)
    spoil(tmp_path / KEY_FILE)

    for use in (read_key, ensure_key):
        with pytest.raises(InvalidSettings) as refusal:
            use(tmp_path)
        assert str(tmp_path / KEY_FILE) in refusal.value.message
        assert refusal.value.hint
        assert made not in str(refusal.value.body())


@pytest.mark.skipif(os.geteuid() != 0, reason="only on a system where the tests run as root")
def test_a_key_of_another_user_is_refused(tmp_path: Path) -> None:
    ensure_key(tmp_path)
    os.chown(tmp_path / KEY_FILE, 65534, 65534)

    with pytest.raises(InvalidSettings, match="another user"):
        read_key(tmp_path)


def test_a_home_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(InvalidSettings, match="cannot be made"):
        ensure_key(tmp_path / "file" / "home")
