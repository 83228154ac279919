"""The daemon's log: one place for all that it says, which does not grow without end."""

import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from quarterdeck import __version__
from quarterdeck.daemon.log import log_path
from tests.support.children import Child, child, next_line
from tests.support.daemons import deck_home, quarterdeck, running, start
from tests.support.servers import stream

TOKEN = "ghp_" + "a" * 36
MOST_BYTES = 1000
# Says what it is told to say, in the way that is asked for; answers when it has.
SPEAKER = """
import logging, os, subprocess, sys
from pathlib import Path
from quarterdeck.cli import logs
from quarterdeck.settings import load_settings

answers = os.fdopen(os.dup(1), "w")
home, logs.MOST_BYTES = Path(sys.argv[1]), int(sys.argv[2])
logs.log_to_stderr(load_settings(flags={"home": home}, environ={}), serves=True)
with logs.logging_to_file(home, in_background=True):
    for line in sys.stdin:
        way, _, text = line.rstrip().partition(" ")
        if way == "log":
            logging.getLogger("speaker").info(text)
        elif way == "print":
            print(text, flush=True)
        else:
            subprocess.run(["sh", "-c", 'echo "$1" >&2', "sh", text], check=True)
        print("said", file=answers, flush=True)
"""


@contextmanager
def speaker(home: Path) -> Generator[Child]:
    with child("-c", SPEAKER, str(deck_home(home)), str(MOST_BYTES)) as process:
        yield process


def say(process: Child, way: str, text: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{way} {text}\n".encode())
    process.stdin.flush()
    assert next_line(process) == "said"


def contents(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def set_aside(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")


def test_a_long_log_is_set_aside_and_a_few_of_those_are_kept(home: Path) -> None:
    path = log_path(deck_home(home))
    with speaker(home) as process:
        for number in range(8):
            say(process, "log", f"number-{number} " + "x" * MOST_BYTES)
    kept = {file.name: file for file in path.parent.iterdir()}
    assert sorted(kept) == ["daemon.log", "daemon.log.1", "daemon.log.2", "daemon.log.3"]
    assert "number-7 " in contents(path)
    assert "number-4 " in contents(kept["daemon.log.3"])
    assert {stat.S_IMODE(file.stat().st_mode) for file in kept.values()} == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_what_is_printed_is_in_the_log_also_after_it_was_started_anew(home: Path) -> None:
    path = log_path(deck_home(home))
    with speaker(home) as process:
        say(process, "print", "printed early")
        say(process, "child", "said by a child early")
        say(process, "log", "x" * MOST_BYTES)
        say(process, "print", "printed late")
        say(process, "child", "said by a child late")
    before, after = contents(set_aside(path, 1)), contents(path)
    assert "printed early\nsaid by a child early\n" in before
    assert after.endswith("printed late\nsaid by a child late\n")


def test_a_credential_is_not_in_the_log(home: Path) -> None:
    with speaker(home) as process:
        say(process, "log", f"the token is {TOKEN}")
    assert "the token is " in contents(log_path(deck_home(home)))
    assert TOKEN not in contents(log_path(deck_home(home)))


def test_following_goes_on_where_the_log_is_started_anew(home: Path) -> None:
    with speaker(home) as process:
        say(process, "print", "before")
        with running("logs", "-f", "-n", "1", home=home) as following:
            shown = stream(following.stdout)
            assert shown.readline() == "before\n"
            say(process, "print", "at the end of the first")
            say(process, "log", "rotates " + "x" * MOST_BYTES)
            say(process, "print", "größer")
            assert shown.readline() == "at the end of the first\n"
            assert "rotates " in shown.readline()
            assert shown.readline() == "größer\n"


def test_following_waits_for_a_log_that_is_not_there_yet(home: Path) -> None:
    with running("logs", "--follow", home=home) as following:
        assert stream(following.stderr).readline().startswith("There is no log yet")
        with speaker(home) as process:
            say(process, "print", "first")
            assert stream(following.stdout).readline() == "first\n"


@pytest.mark.parametrize(
    ("options", "shown"),
    [((), "1\n2\n3\n"), (("-n", "2"), "2\n3\n"), (("--lines", "0"), ""), (("-n", "-1"), "")],
)
def test_the_last_lines_are_shown(options: tuple[str, ...], shown: str, home: Path) -> None:
    path = log_path(deck_home(home))
    path.parent.mkdir(parents=True)
    path.write_text("1\n2\n3\n", encoding="utf-8")
    done = quarterdeck("logs", *options, home=home)
    assert (done.returncode, done.stdout, done.stderr) == (0, shown, "")


def test_where_no_daemon_ever_ran_there_is_no_log_and_that_is_said(home: Path) -> None:
    done = quarterdeck("logs", home=home)
    path = log_path(deck_home(home))
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"There is no log yet; a daemon writes it to {path}\n"


@pytest.mark.xdist_group("daemon")
def test_a_daemon_says_in_its_log_where_it_is(home: Path) -> None:
    url = start(home=home).url
    shown = quarterdeck("logs", home=home).stdout
    assert f" INFO quarterdeck.cli.up: Quarterdeck {__version__} is running at {url}\n" in shown
    assert stat.S_IMODE(log_path(deck_home(home)).stat().st_mode) == 0o600
