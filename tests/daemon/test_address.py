"""The lock is the truth, and the file that says where the daemon is only adds to it."""

import json
import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from quarterdeck.daemon.address import (
    Address,
    announce,
    find,
    held_for_life,
    is_alive,
    is_ending,
    process_id,
    read_address,
    withdraw,
)
from quarterdeck.errors import DaemonRunning
from tests.support.daemons import deck_home, http, quarterdeck, running, start
from tests.support.servers import END_SECONDS, stream

URL = "http://127.0.0.1:7421"
ADDRESS = Address(URL, os.getpid(), 1.5, "instance-1", "0.1.0", ["--read-only"])
FOREIGN = {
    "nothing": "",
    "half of it": '{"url": "http://127.0.0.1:74',
    "no text": b"\xff\xfe\x00".decode("latin-1"),
    "another kind": "[1, 2]",
    "null": "null",
    "other names": '{"port": 1}',
    "other kinds": json.dumps({**ADDRESS._asdict(), "pid": "1"}),
    "flags that are none": json.dumps({**ADDRESS._asdict(), "flags": [1]}),
}


def address_file(home: Path) -> Path:
    return home / "run" / "daemon.json"


def test_whoever_holds_the_lock_is_found_where_it_said(tmp_path: Path) -> None:
    with held_for_life(tmp_path):
        assert find(tmp_path) is None, "it has not said where it is"
        announce(tmp_path, ADDRESS)
        assert find(tmp_path) == ADDRESS
        assert process_id(tmp_path) == os.getpid()
        assert not is_ending(tmp_path)
        withdraw(tmp_path)
        assert find(tmp_path) is None
        assert process_id(tmp_path) == os.getpid()
        assert is_ending(tmp_path)
    assert find(tmp_path) is None
    assert not is_ending(tmp_path)
    assert not address_file(tmp_path).exists()


def test_the_file_is_its_owners_alone_and_so_is_its_folder(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with held_for_life(tmp_path / "home"):
            announce(tmp_path / "home", ADDRESS)
            file = address_file(tmp_path / "home")
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
            assert stat.S_IMODE(file.parent.parent.stat().st_mode) == 0o700
    finally:
        os.umask(before)


def test_a_second_daemon_of_a_home_is_refused_and_told_where_the_first_is(tmp_path: Path) -> None:
    with held_for_life(tmp_path):
        announce(tmp_path, ADDRESS)
        with pytest.raises(DaemonRunning) as refused, held_for_life(tmp_path):
            pass
        assert refused.value.details["url"] == URL
        assert find(tmp_path) == ADDRESS, "the first is as it was"


def test_an_address_without_a_held_lock_is_stale_although_its_process_number_lives(
    tmp_path: Path,
) -> None:
    with held_for_life(tmp_path):
        announce(tmp_path, ADDRESS)
        left = address_file(tmp_path).read_text(encoding="utf-8")
    address_file(tmp_path).write_text(left, encoding="utf-8")
    assert read_address(tmp_path) == ADDRESS
    assert psutil.pid_exists(ADDRESS.pid)
    assert find(tmp_path) is None
    assert process_id(tmp_path) is None


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_a_file_that_no_daemon_wrote_is_no_address(content: str, tmp_path: Path) -> None:
    with held_for_life(tmp_path):
        address_file(tmp_path).write_text(content, encoding="latin-1")
        assert read_address(tmp_path) is None
        assert find(tmp_path) is None
        announce(tmp_path, ADDRESS)
        assert find(tmp_path) == ADDRESS


def test_a_daemon_of_another_version_may_have_more_to_say(tmp_path: Path) -> None:
    with held_for_life(tmp_path):
        content = json.dumps({**ADDRESS._asdict(), "colour": "blue"})
        address_file(tmp_path).write_text(content, encoding="utf-8")
        assert find(tmp_path) == ADDRESS


def test_taking_back_an_address_twice_is_no_error(tmp_path: Path) -> None:
    with held_for_life(tmp_path):
        withdraw(tmp_path)
        withdraw(tmp_path)
        assert is_alive(tmp_path)


@pytest.mark.parametrize("command", [("mcp",), ("status",), ("down",)], ids=" ".join)
def test_a_home_that_cannot_be_used_is_named_with_what_to_do(
    command: tuple[str, ...], home: Path
) -> None:
    endless = home / "endless"
    endless.symlink_to(endless)
    refused = quarterdeck(*command, home=home, environ={"QUARTERDECK_HOME": str(endless)})
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith(f"error: The home {str(endless)!r} cannot be used: ")
    assert "hint: set QUARTERDECK_HOME to a folder" in refused.stderr


@pytest.mark.xdist_group("daemon")
def test_a_daemon_that_does_not_answer_yet_has_no_address(home: Path) -> None:
    deck_home(home).mkdir()
    database = sqlite3.connect(deck_home(home) / "quarterdeck.db")
    with closing(database), running("up", "--port", "0", home=home) as starting:
        database.execute("BEGIN EXCLUSIVE")  # it has to wait for us before it can answer
        while (status := quarterdeck("status", home=home).stdout) == "not running\n":
            pass
        assert status == "starting\n"
        assert not address_file(deck_home(home)).exists()
        database.rollback()
        assert "Stop with Ctrl-C\n" in stream(starting.stdout)
        assert http(home, "GET", "/healthz").json()["ok"] is True


@pytest.mark.xdist_group("daemon")
def test_what_a_killed_daemon_left_is_recognised_by_all_who_look(home: Path) -> None:
    killed = start(home=home)
    process = psutil.Process(killed.pid)
    process.kill()
    process.wait(END_SECONDS)
    # As if the number had been given to somebody else since: it is this process's own.
    lie = json.dumps({**killed._asdict(), "pid": os.getpid()})
    address_file(deck_home(home)).write_text(lie, encoding="utf-8")
    (deck_home(home) / "run" / "daemon.lock").write_text(str(os.getpid()), encoding="utf-8")

    status = quarterdeck("status", home=home)
    assert (status.returncode, status.stdout) == (3, "not running\n")
    assert quarterdeck("down", home=home).stderr == "It was not running\n"

    address_file(deck_home(home)).write_text('{"url": "http', encoding="utf-8")
    started = start(home=home)
    assert started.instance != killed.instance
    assert stat.S_IMODE(address_file(deck_home(home)).stat().st_mode) == 0o600
    assert http(home, "GET", "/healthz").json()["instance"] == started.instance
