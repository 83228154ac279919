"""An agent process that is started is spoken to directly, and gets exactly what it was given."""

import json
import os
import signal
import sys
from pathlib import Path

import psutil
import pytest

from quarterdeck.clients.processes.child import CannotStart
from quarterdeck.clients.processes.keeper import Keeper
from tests.support.agents import MARK, PYTHON, started

ECHO = "import sys\nfor line in sys.stdin: print(line.upper(), end='')"
MEBIBYTE = 1 << 20


async def test_an_agent_is_spoken_to_over_its_pipes(keeper: Keeper, tmp_path: Path) -> None:
    agent = await started(keeper, tmp_path, *PYTHON, ECHO)
    agent.stdin.write(b"ahoy\n")
    assert await agent.stdout.readline() == b"AHOY\n"
    agent.stdin.close()
    assert await agent.stdout.read() == b""
    assert await agent.wait() == 0


async def test_a_line_may_be_as_long_as_a_file(keeper: Keeper, tmp_path: Path) -> None:
    agent = await started(keeper, tmp_path, *PYTHON, f"print('x' * {8 * MEBIBYTE})")
    line = await agent.stdout.readexactly(8 * MEBIBYTE + 1)
    assert line == b"x" * 8 * MEBIBYTE + b"\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("", 0),
        ("raise SystemExit(7)", 7),
        ("import os; os.kill(os.getpid(), 15)", -signal.SIGTERM),
    ],
)
async def test_how_an_agent_ended_is_told(
    keeper: Keeper, tmp_path: Path, code: str, expected: int
) -> None:
    agent = await started(keeper, tmp_path, *PYTHON, code)
    assert await agent.wait() == expected
    assert await agent.wait() == expected
    assert not agent.is_lost


async def test_an_agent_is_known_by_its_pid_and_its_start(keeper: Keeper, tmp_path: Path) -> None:
    agent = await started(keeper, tmp_path, *PYTHON, ECHO)
    process = psutil.Process(agent.pid)
    assert process.create_time() == pytest.approx(agent.created, abs=1.5)
    assert process.ppid() == keeper.pid
    assert os.getsid(agent.pid) == agent.pid


async def test_an_agent_counts_its_descendants(keeper: Keeper, tmp_path: Path) -> None:
    parent = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-S', '-c', 'input()']); print(child.pid)\n"
        "child.wait()"
    )
    agent = await started(keeper, tmp_path, *PYTHON, parent)
    child = int(await agent.stdout.readline())
    assert agent.descendants() == {agent.pid, child}
    await agent.end(grace=5)
    assert agent.descendants() == set()


async def test_an_agent_has_the_environment_it_was_given_and_a_mark(
    keeper: Keeper, tmp_path: Path, node: str
) -> None:
    tell = "import json, os; print(json.dumps(dict(os.environ)))"
    odd = {"NAME": "a value", "UMLAUT": "ü", "BYTES": "\udcff", "LC_CTYPE": "C.UTF-8"}
    agent = await keeper.spawn([*PYTHON, tell], cwd=tmp_path, env=odd, stderr=tmp_path / "stderr")
    environ = json.loads(await agent.stdout.readline())
    assert environ.pop(MARK).startswith(f"{node}:")
    assert environ == odd


async def test_an_agent_works_in_the_folder_it_was_given(keeper: Keeper, tmp_path: Path) -> None:
    (tmp_path / "chart").touch()
    agent = await started(keeper, tmp_path, *PYTHON, "import os; print(os.path.exists('chart'))")
    assert await agent.stdout.readline() == b"True\n"


async def test_a_command_is_looked_for_on_the_path_it_was_given(
    keeper: Keeper, tmp_path: Path
) -> None:
    program = tmp_path / "deckhand"
    program.write_text("#!/bin/sh\necho aye\n", encoding="utf-8")
    program.chmod(0o755)
    given = {"PATH": str(tmp_path)}
    agent = await keeper.spawn(["deckhand"], cwd=tmp_path, env=given, stderr=tmp_path / "stderr")
    assert await agent.stdout.readline() == b"aye\n"


async def test_signals_mean_to_an_agent_what_they_mean_everywhere(
    keeper: Keeper, tmp_path: Path
) -> None:
    tell = (
        "import signal as s\n"
        "print([s.getsignal(n) == s.SIG_DFL for n in (s.SIGHUP, s.SIGTERM, s.SIGCHLD)])"
    )
    agent = await started(keeper, tmp_path, *PYTHON, tell)
    assert await agent.stdout.readline() == b"[True, True, True]\n"


async def test_an_agent_has_no_files_but_its_three(keeper: Keeper, tmp_path: Path) -> None:
    # Of an idle daemon with open files; the listing itself needs one more.
    held = [(tmp_path / f"open-{number}").open("w", encoding="utf-8") for number in range(5)]
    await started(keeper, tmp_path, *PYTHON, ECHO)
    agent = await started(keeper, tmp_path, *PYTHON, ECHO)
    assert psutil.Process(agent.pid).num_fds() == 3
    for file in held:
        file.close()


async def test_what_an_agent_complains_of_is_in_its_file_and_never_blocks_it(
    keeper: Keeper, tmp_path: Path
) -> None:
    chatty = f"import sys; sys.stderr.write('x' * {3 * MEBIBYTE}); print('done')"
    for _ in range(2):
        agent = await started(keeper, tmp_path, *PYTHON, chatty)
        assert await agent.stdout.readline() == b"done\n"
        assert await agent.wait() == 0
    stderr = tmp_path / "stderr"
    assert stderr.stat().st_size == 2 * 3 * MEBIBYTE
    assert stderr.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("command", "folder", "reason"),
    [
        (["no-such-program"], ".", "No such file or directory: 'no-such-program'"),
        (["./notes.txt"], ".", "Permission denied: './notes.txt'"),
        ([sys.executable], "nowhere", "No such file or directory: '{folder}'"),
        ([sys.executable], "notes.txt", "Not a directory: '{folder}'"),
        (["./empty"], ".", "Exec format error: './empty'"),
        (["a\0b"], ".", "embedded null byte"),
        ([], ".", "the command is empty"),
    ],
    ids=["missing", "not-executable", "no-folder", "a-file", "no-program", "null", "empty"],
)
async def test_what_cannot_be_started_says_why(
    keeper: Keeper, tmp_path: Path, command: list[str], folder: str, reason: str
) -> None:
    (tmp_path / "notes.txt").write_text("no program", encoding="utf-8")
    (tmp_path / "empty").touch(mode=0o755)
    cwd = tmp_path / folder
    with pytest.raises(CannotStart) as caught:
        await keeper.spawn(command, cwd=cwd, env={}, stderr=tmp_path / "stderr")
    assert caught.value.command == tuple(command)
    assert caught.value.reason == reason.format(folder=cwd)


async def test_a_complaint_that_has_no_place_to_go_is_why_nothing_starts(
    keeper: Keeper, tmp_path: Path
) -> None:
    stderr = tmp_path / "nowhere" / "stderr"
    with pytest.raises(CannotStart, match="No such file or directory"):
        await keeper.spawn([*PYTHON, ECHO], cwd=tmp_path, env={}, stderr=stderr)


async def test_after_a_failure_the_next_agent_starts(keeper: Keeper, tmp_path: Path) -> None:
    with pytest.raises(CannotStart):
        await started(keeper, tmp_path, "no-such-program")
    agent = await started(keeper, tmp_path, *PYTHON, "print('here')")
    assert await agent.stdout.readline() == b"here\n"
