"""A daemon that starts ends what an earlier one left behind, and nothing else."""

import json
import os
import signal
import sys
from pathlib import Path

import psutil
import pytest

from quarterdeck.clients.processes.leftovers import (
    Record,
    mark_for,
    owner_of,
    sweep,
    write_record,
)
from quarterdeck.clients.processes.table import boot_id, one_process
from tests.support.agents import FAMILY, SUPPORT, kill, left_of, processes, recorded, running
from tests.support.children import child, next_line

WAITING = (sys.executable, "-S", "-c", "import signal; signal.pause()")


@pytest.fixture(autouse=True)
def _folder(records: Path) -> None:
    records.mkdir()


def record_of(process: psutil.Process, mark: str) -> Record:
    found = one_process(process.pid)
    assert found is not None
    return Record(mark, process.pid, found.started, boot_id())


def test_what_was_left_when_daemon_and_keeper_were_killed_is_ended(
    tmp_path: Path, node: str, records: Path
) -> None:
    daemon_program = str(SUPPORT / "doomed_daemon.py")
    with child(daemon_program, str(tmp_path), node, "3", *FAMILY, "stubborn") as daemon:
        keeper, *families = processes(json.loads(next_line(daemon)))
        try:
            # Stopped first, so that neither can help the other.
            os.kill(daemon.pid, signal.SIGSTOP)
            keeper.kill()
            daemon.kill()
            assert left_of([keeper]) == []
            who_left_their_agent = {process.pid for process in families[1::2]}
            assert set(sweep(records, node)) >= who_left_their_agent
            assert left_of(families) == []
        finally:
            kill(families)
    assert recorded(records) == []
    assert sweep(records, node) == []


def test_a_process_with_a_mark_of_the_node_is_ended(node: str, records: Path) -> None:
    with running(*WAITING, mark=mark_for(node, "p1")) as leftover:
        assert sweep(records, node) == [leftover.pid]
        assert leftover.wait(0) == -signal.SIGTERM


def test_a_process_that_a_record_names_is_ended_without_a_mark(node: str, records: Path) -> None:
    with running(*WAITING) as leftover:
        write_record(records, "p1", record_of(leftover, mark_for(node, "p1")))
        assert sweep(records, node) == [leftover.pid]
        assert leftover.wait(0) == -signal.SIGTERM
    assert list(records.iterdir()) == []


@pytest.mark.parametrize(
    "other", [{"started": 1.0}, {"boot": "an earlier one"}], ids=["start", "boot"]
)
def test_a_process_that_only_has_the_pid_of_a_record_is_left_alone(
    node: str, records: Path, other: dict[str, object]
) -> None:
    with running(*WAITING) as stranger:
        ours = record_of(stranger, mark_for(node, "p1"))._replace(**other)
        write_record(records, "p1", ours)
        assert sweep(records, node) == []
        assert stranger.poll() is None
    assert list(records.iterdir()) == []


def test_an_agent_of_another_node_is_left_alone(node: str, records: Path) -> None:
    # The other node's name begins like ours.
    theirs = mark_for(f"{node}-2", "p1")
    with running(*WAITING, mark=theirs) as marked, running(*WAITING) as recorded:
        write_record(records, "p1", record_of(recorded, theirs))
        assert sweep(records, node) == []
        assert (marked.poll(), recorded.poll()) == (None, None)
    assert len(list(records.iterdir())) == 1


def test_what_a_living_daemon_of_the_same_node_runs_is_left_alone(node: str, records: Path) -> None:
    living, dead = (mark_for(owner_of(node, daemon), "p1") for daemon in ("living", "dead"))
    with running(*WAITING, mark=living) as theirs, running(*WAITING, mark=dead) as leftover:
        write_record(records, "p1", record_of(theirs, living))
        assert sweep(records, node, lambda daemon: daemon == "living") == [leftover.pid]
        assert theirs.poll() is None
    assert len(list(records.iterdir())) == 1, "what it is known by is left, too"


def test_a_record_that_cannot_be_read_stops_nothing(node: str, records: Path) -> None:
    (records / "cut.json").write_text('{"mark": "', encoding="utf-8")
    (records / "list.json").write_text("[]", encoding="utf-8")
    with running(*WAITING) as stranger:
        assert sweep(records, node) == []
        assert stranger.poll() is None


def test_who_sweeps_does_not_end_itself(node: str, records: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from quarterdeck.clients.processes.leftovers import sweep\n"
        "print(sweep(Path(sys.argv[1]), sys.argv[2]))"
    )
    command = (sys.executable, "-c", code, str(records), node)
    with running(*command, mark=mark_for(node, "p1")) as daemon:
        assert daemon.wait(30) == 0


def test_where_nothing_was_ever_started_there_is_nothing_to_sweep(
    tmp_path: Path, node: str
) -> None:
    assert sweep(tmp_path / "nowhere", node) == []
