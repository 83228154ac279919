"""What the daemon takes over from whoever starts it, and what it does not."""

import os
from pathlib import Path

import psutil
import pytest

from quarterdeck.daemon.environment import inherited, read_environment_file
from quarterdeck.errors import InvalidSettings
from tests.support.daemons import address_of, bridge, deck_home, quarterdeck

KEY = "mast-" + "and-" + "keel"
OF_THE_STARTER = {
    "ANTHROPIC_API_KEY": KEY,
    "CLAUDECODE": "1",
    "PYTHONPATH": os.fspath(Path(__file__).parent),
    "PYTHONSTARTUP": "nowhere.py",
    "LD_PRELOAD_NOT": "x",
    "QUARTERDECK_AGENT_MARK": "n1:p1",
    "QUARTERDECK_SERVER_READ_ONLY": "true",
    "QUARTERDECK_SERVER_TOOLSETS": "memory",
}
FOR_THE_DAEMON = {
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "NO_PROXY": "localhost",
    "QUARTERDECK_LOG_LEVEL": "debug",
}


def write_file(home: Path, text: str, *, mode: int = 0o600) -> Path:
    home.mkdir(exist_ok=True)
    path = home / "env"
    path.touch(mode=mode)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


@pytest.mark.xdist_group("daemon")
def test_a_daemon_has_a_session_a_folder_and_an_environment_of_its_own(home: Path) -> None:
    with bridge(home=home, environ={**OF_THE_STARTER, **FOR_THE_DAEMON}) as client:
        daemon = psutil.Process(address_of(home).pid)
        assert os.getsid(daemon.pid) == daemon.pid != os.getsid(client.process.pid)
        assert daemon.cwd() == os.path.realpath(deck_home(home))
        assert daemon.environ() == {
            "HOME": str(home),
            "PATH": os.defpath,
            "QUARTERDECK_HOME": str(deck_home(home)),
            **FOR_THE_DAEMON,
        }
    with bridge(home=home) as another:
        assert {"memory_store", "trace_list"} <= another.tool_names()


def test_what_one_client_asked_to_be_offered_is_not_inherited() -> None:
    ours = {"PATH": "/bin", **OF_THE_STARTER, **FOR_THE_DAEMON}
    assert inherited(ours) == {"PATH": "/bin", **FOR_THE_DAEMON}


def test_the_file_has_one_variable_a_line(tmp_path: Path) -> None:
    write_file(
        tmp_path,
        "# keys\n\nPLAIN=a b=c\nexport EXPORTED = x \nSINGLE='two words'\n"
        'DOUBLE="#"\nEMPTY=\nQUOTE="\nSPACED  =  y\n',
    )
    assert read_environment_file(tmp_path) == {
        "PLAIN": "a b=c",
        "EXPORTED": "x",
        "SINGLE": "two words",
        "DOUBLE": "#",
        "EMPTY": "",
        "QUOTE": '"',
        "SPACED": "y",
    }


def test_a_home_without_the_file_adds_nothing(tmp_path: Path) -> None:
    assert read_environment_file(tmp_path) == {}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_file_that_others_may_read_is_refused_with_what_to_do(mode: int, tmp_path: Path) -> None:
    path = write_file(tmp_path, f"KEY={KEY}\n", mode=mode)
    with pytest.raises(InvalidSettings) as refused:
        read_environment_file(tmp_path)
    assert f"(mode {mode:04o})" in refused.value.message
    assert refused.value.hint == f"run 'chmod 600 {path}'"
    assert KEY not in str(refused.value.body())


@pytest.mark.parametrize("line", [KEY, f"={KEY}", f"1A={KEY}", f"A-B={KEY}", f"A={KEY}\0"])
def test_a_line_that_is_no_variable_is_refused_without_being_quoted(
    line: str, tmp_path: Path
) -> None:
    path = write_file(tmp_path, f"FIRST=1\n{line}\n")
    with pytest.raises(InvalidSettings) as refused:
        read_environment_file(tmp_path)
    assert refused.value.message == f"{path} has no variable on line 2"
    assert KEY not in str(refused.value.body())


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = write_file(tmp_path, "")
    path.write_bytes(b"KEY=\xff\xfe")
    with pytest.raises(InvalidSettings, match="cannot be read"):
        read_environment_file(tmp_path)


@pytest.mark.parametrize("command", [("up", "--detach"), ("mcp",)], ids=" ".join)
def test_whoever_wants_the_daemon_is_told_what_is_wrong_with_the_file(
    command: tuple[str, ...], home: Path
) -> None:
    path = write_file(deck_home(home), f"KEY={KEY}\n", mode=0o644)
    refused = quarterdeck(*command, home=home)
    assert refused.returncode != 0
    assert refused.stdout == ""
    assert f"{path} may hold keys and is open to other users (mode 0644)" in refused.stderr
    assert f"hint: run 'chmod 600 {path}'" in refused.stderr
    assert KEY not in refused.stderr
