"""What agents say, read and followed from the terminal."""

import json
import signal
from pathlib import Path
from subprocess import Popen

import pytest

from tests.support.daemons import running
from tests.support.fleets import CommandedFleet
from tests.support.servers import END_SECONDS, kill_daemon, stream

pytestmark = pytest.mark.xdist_group("commanded-fleet")


def read_until(process: Popen[str], text: str) -> str:
    """Return what a command prints until it says `text`; it may be in the middle of a line."""
    said = ""
    while not said.endswith(text):
        letter = stream(process.stdout).read(1)
        assert letter, f"it ended before it said {text!r}: {said}"
        said += letter
    return said


def test_a_log_is_shown_oldest_first_as_much_of_it_as_is_asked_for(fleet: CommandedFleet) -> None:
    fleet.create("chatty", "/say one\n/run echo two\n/say three")
    lines = fleet.ok("agents", "logs", "chatty").splitlines()
    said = [line for line in lines if " INFO  agent: " in line]
    assert [line.split("agent: ")[1] for line in said] == ["one", "three"]
    assert any(" DEBUG agent: execute: " in line for line in lines)

    assert fleet.ok("agents", "logs", "chatty", "-n", "1").strip().endswith("agent: three")
    assert "DEBUG" not in fleet.ok("agents", "logs", "chatty", "--level", "info")
    assert fleet.ok("agents", "logs", "chatty", "-n", "0") == ""

    entries = fleet.ok("agents", "logs", "chatty", "--level", "info", "-n", "2", "--json")
    found = [json.loads(line) for line in entries.splitlines()]
    assert [(entry["kind"], entry["message"]) for entry in found] == [
        ("message", "one"),
        ("message", "three"),
    ]


def test_a_log_is_followed_until_ctrl_c(fleet: CommandedFleet) -> None:
    fleet.create("herald", "/say before")
    with running("agents", "logs", "herald", "-f", home=fleet.home) as following:
        read_until(following, "agent: before")
        fleet.ok("agents", "task", "herald", "/say first \n/wait go\n/say second", "--queue")
        read_until(following, "agent: first")
        fleet.await_status("herald", "busy")
        (fleet.workspace("herald") / "go").touch()
        read_until(following, "second")  # goes on where the first has ended
        following.send_signal(signal.SIGINT)
        assert following.wait(END_SECONDS) == 130


def test_a_message_that_goes_on_is_continued_where_it_ended(fleet: CommandedFleet) -> None:
    fleet.create("slow-one")
    with running("agents", "logs", "slow-one", "-f", "-n", "1", "--json", home=fleet.home) as log:
        assert json.loads(stream(log.stdout).readline())["message"] == "ready"
        fleet.ok("agents", "task", "slow-one", "--wait", f"/say {'word ' * 200}end of it")
        parts: list[str] = []
        while not "".join(parts).endswith("end of it"):
            entry = json.loads(stream(log.stdout).readline())
            parts += [entry["message"]] if entry["kind"] == "message" else []
    assert "".join(parts) == f"{'word ' * 200}end of it"


def test_a_long_log_is_shown_as_far_back_as_is_asked_for(fleet: CommandedFleet) -> None:
    fleet.create("planner", "\n".join(f"/plan step {number}" for number in range(500)))
    shown = fleet.ok("agents", "logs", "planner", "-n", "450", "--level", "debug").splitlines()
    assert [line.rpartition(" ")[2] for line in shown] == [str(step) for step in range(50, 500)]


def test_who_follows_does_not_keep_the_daemon_from_ending(tmp_path: Path) -> None:
    alone = CommandedFleet(tmp_path)
    try:
        alone.create("last-one", "/say ready")
        with running("agents", "logs", "last-one", "-f", home=tmp_path) as following:
            read_until(following, "agent: ready")
            alone.ok("down")
            assert following.wait(END_SECONDS) == 6
            assert "daemon has ended" in stream(following.stderr).read()
        assert alone.run("status").returncode == 3
        told = alone.run("agents", "restart", "--all")
        assert "'last-one' restart initiated" in told.stderr
    finally:
        kill_daemon(tmp_path)


def test_what_would_steer_the_terminal_is_spelled_out(fleet: CommandedFleet) -> None:
    fleet.create("rude", "/say clear\x1b[2Jscreen")
    assert "clear\\x1b[2Jscreen" in fleet.ok("agents", "logs", "rude")
