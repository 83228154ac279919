from pathlib import Path

import pytest

from quarterdeck.repositories.presence import FilePresence
from tests.support.children import child, next_line, run_at_once

ANNOUNCE = """
import sys
from pathlib import Path
from quarterdeck.repositories.presence import FilePresence

presence = FilePresence(Path(sys.argv[1]))
presence.announce("daemon")
print("announced", flush=True)
sys.stdin.readline()
"""
TELL_NODE_ID = """
import sys
from pathlib import Path
from quarterdeck.repositories.presence import FilePresence

print("ready", flush=True)
sys.stdin.readline()
print(FilePresence(Path(sys.argv[1])).node_id)
"""


@pytest.fixture
def presence(tmp_path: Path) -> FilePresence:
    return FilePresence(tmp_path)


def test_the_id_of_a_node_stays_the_same_and_is_that_of_its_home(tmp_path: Path) -> None:
    ids = {FilePresence(tmp_path).node_id for _ in range(3)}
    other = tmp_path / "other"
    other.mkdir()
    assert len(ids) == 1
    assert FilePresence(other).node_id not in ids


def test_processes_started_at_once_agree_on_the_id_of_their_node(tmp_path: Path) -> None:
    ids = run_at_once(TELL_NODE_ID, str(tmp_path), count=6)
    assert ids == [FilePresence(tmp_path).node_id] * 6
    assert {path.name for path in tmp_path.iterdir()} == {"node", "run"}


def test_an_announced_process_is_alive_to_itself_and_to_others(
    tmp_path: Path, presence: FilePresence
) -> None:
    presence.announce("daemon")
    assert presence.is_alive("daemon")
    assert FilePresence(tmp_path).is_alive("daemon")
    presence.forget("daemon")
    assert not presence.is_alive("daemon")
    assert not FilePresence(tmp_path).is_alive("daemon")


def test_a_process_nobody_has_heard_of_is_not_alive(presence: FilePresence) -> None:
    assert not presence.is_alive("daemon")
    presence.forget("daemon")


def test_a_killed_process_is_not_alive_and_what_it_left_can_be_removed(
    tmp_path: Path, presence: FilePresence
) -> None:
    with child("-c", ANNOUNCE, str(tmp_path)) as process:
        assert next_line(process) == "announced"
        assert presence.is_alive("daemon")
        process.kill()
        process.wait()
    assert not presence.is_alive("daemon")
    assert list((tmp_path / "run").iterdir())
    presence.forget("daemon")
    assert not list((tmp_path / "run").iterdir())


def test_asking_does_not_make_a_dead_process_look_alive(
    tmp_path: Path, presence: FilePresence
) -> None:
    """Two that start together both look after the dead one."""
    with child("-c", ANNOUNCE, str(tmp_path)) as process:
        assert next_line(process) == "announced"
    answers = [FilePresence(tmp_path).is_alive("daemon"), presence.is_alive("daemon")]
    assert answers == [False, False]
