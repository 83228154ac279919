"""`quarterdeck service`, with service managers that write down what they are told."""

import json
import os
import plistlib
import sys
from pathlib import Path

import pytest

from quarterdeck.daemon.address import is_alive
from quarterdeck.daemon.launch import ensure_daemon, stop_daemon
from tests.cli.conftest import CommandLine

# Answers like the real program where the command looks at the answer.
SYSTEMCTL = """#!/bin/sh
echo "systemctl $*" >> "$HOME/told"
if [ -e "$HOME/away" ]; then echo 'Failed to connect to bus: No medium found' >&2; exit 1; fi
case "$*" in
  *MainPID*) printf 'ActiveState=active\\nUnitFileState=enabled\\nMainPID=4711\\n' ;;
  *restart*) if [ -e "$HOME/fails" ]; then echo 'Job failed' >&2; exit 1; fi ;;
esac
"""
LOGINCTL = """#!/bin/sh
echo "loginctl $*" >> "$HOME/told"
cat "$HOME/linger" 2>/dev/null || echo no
"""
LAUNCHCTL = """#!/bin/sh
echo "launchctl $*" >> "$HOME/told"
case "$*" in
  "print gui/"*/quarterdeck) [ -e "$HOME/loaded" ] && printf '\\tpid = 4711\\n' ;;
  bootstrap*) touch "$HOME/loaded" ;;
  bootout*) rm "$HOME/loaded" ;;
esac
"""


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a user whose PATH has only our programs and a shell's."""
    path = tmp_path / "user"
    programs = path / "bin"
    programs.mkdir(parents=True)
    for name, text in {
        "systemctl": SYSTEMCTL,
        "loginctl": LOGINCTL,
        "launchctl": LAUNCHCTL,
    }.items():
        (programs / name).write_text(text, encoding="utf-8")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("HOME", str(path))
    monkeypatch.setenv("USER", "ada")
    monkeypatch.setenv("PATH", f"{programs}:{os.defpath}")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    return path


@pytest.fixture
def unit(user: Path) -> Path:
    return user / ".config" / "systemd" / "user" / "quarterdeck.service"


@pytest.fixture
def agent(user: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The agent's file, on a machine that says it is a Mac."""
    monkeypatch.setattr(sys, "platform", "darwin")
    return user / "Library" / "LaunchAgents" / "quarterdeck.plist"


def told(user: Path) -> list[str]:
    """What the service managers were told since the last time."""
    notes = user / "told"
    lines = notes.read_text(encoding="utf-8").splitlines() if notes.exists() else []
    notes.unlink(missing_ok=True)
    return lines


def test_on_linux_the_unit_is_written_enabled_and_started(
    cli: CommandLine, user: Path, unit: Path, home: Path
) -> None:
    done = cli("service", "install", "--yes")
    assert (done.code, done.out) == (0, "")
    assert f"+++ {unit}" in done.err
    assert "run 'loginctl enable-linger'" in done.err
    text = unit.read_text(encoding="utf-8")
    assert f'ExecStart=:"{Path(sys.executable).with_name("quarterdeck")}" "up"\n' in text
    assert f"WorkingDirectory=-{home}\n" in text
    assert f'Environment="QUARTERDECK_HOME={home}"\n' in text
    assert f'Environment="PATH={os.environ["PATH"]}"\n' in text
    assert 'Environment="QUARTERDECK_SERVER_MANAGED=true"\n' in text
    assert told(user) == [
        "systemctl --user show --property=Version",
        "systemctl --user daemon-reload",
        "systemctl --user enable quarterdeck.service",
        "systemctl --user restart quarterdeck.service",
        "loginctl show-user ada --property=Linger --value",
    ]


def test_a_daemon_that_runs_already_makes_room_for_the_service(
    cli: CommandLine, user: Path, unit: Path, home: Path
) -> None:
    ensure_daemon(home, os.environ, say=lambda _: None, flags=["--port=0"])
    try:
        assert cli("service", "install", "--yes").code == 0
        assert unit.exists()
        assert not is_alive(home)
    finally:
        stop_daemon(home, say=lambda _: None)
    assert "systemctl --user restart quarterdeck.service" in told(user)


def test_no_secret_gets_into_the_unit(
    cli: CommandLine, unit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    password = "mast-" + "and-" + "keel"
    url = "postgresql://" + f"ada:{password}@127.0.0.1:1/fleet"
    monkeypatch.setenv("QUARTERDECK_DATABASE_URL", url)
    printed = cli("service", "install", "--print")
    assert printed.code == 0
    assert "postgresql" not in printed.out
    assert not unit.exists()


def test_with_lingering_there_is_nothing_left_to_advise(
    cli: CommandLine, user: Path, unit: Path
) -> None:
    (user / "linger").write_text("yes\n", encoding="utf-8")
    assert "enable-linger" not in cli("service", "install", "--yes").err
    assert unit.exists()


def test_a_second_installation_changes_nothing_and_starts_it_again(
    cli: CommandLine, user: Path, unit: Path
) -> None:
    cli("service", "install", "--yes")
    told(user)
    before = unit.read_bytes()
    again = cli("service", "install", "--json")
    assert json.loads(again.out) == {"path": str(unit), "changed": False, "started": True}
    assert unit.read_bytes() == before
    assert "systemctl --user restart quarterdeck.service" in told(user)


def test_without_a_terminal_nobody_can_be_asked(cli: CommandLine, user: Path, unit: Path) -> None:
    refused = cli("service", "install")
    assert refused.code == 2
    assert refused.err.endswith("hint: add --yes to make it\n")
    assert not unit.exists()
    assert told(user) == ["systemctl --user show --property=Version"]


def test_print_shows_the_unit_and_does_nothing(cli: CommandLine, user: Path, unit: Path) -> None:
    printed = cli("service", "install", "--print")
    assert (printed.code, printed.err) == (0, "")
    assert printed.out.startswith("[Unit]\n")
    assert not unit.exists()
    assert told(user) == []


@pytest.mark.parametrize("missing", ["manager", "program"])
def test_without_systemd_there_is_an_alternative_and_nothing_is_written(
    missing: str, cli: CommandLine, user: Path, unit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if missing == "manager":
        (user / "away").touch()
    else:
        monkeypatch.setenv("PATH", str(user))
    for command in ("install", "status"):
        yes = ("--yes",) if command == "install" else ()
        refused = cli("service", command, *yes)
        assert refused.code == 6
        assert "The user services of systemd are not available here" in refused.err
        assert "hint: start 'quarterdeck up' by whatever else" in refused.err
        assert "wsl.conf" in refused.err
    assert not unit.exists()


def test_a_service_that_does_not_start_says_where_to_look(cli: CommandLine, user: Path) -> None:
    (user / "fails").touch()
    failed = cli("service", "install", "--yes")
    assert failed.code == 6
    assert "error: systemctl could not restart (Job failed)" in failed.err
    assert "journalctl --user -u quarterdeck.service" in failed.err


def test_uninstalling_stops_it_and_takes_the_unit_away(
    cli: CommandLine, user: Path, unit: Path, home: Path
) -> None:
    cli("service", "install", "--yes")
    told(user)
    assert cli("service", "uninstall", "--yes").err.endswith("The service is gone\n")
    assert not unit.exists()
    assert home.exists()
    assert told(user) == [
        "systemctl --user show --property=Version",
        "systemctl --user disable --now quarterdeck.service",
        "systemctl --user daemon-reload",
    ]
    again = cli("service", "uninstall", "--yes")
    assert (again.code, again.err) == (0, "There is no service; nothing was changed\n")


def test_the_status_is_what_the_manager_says(cli: CommandLine, unit: Path) -> None:
    assert cli("service", "status").out == (
        "file     none\nrunning  yes, process 4711\nlogin    starts it\n"
    )
    cli("service", "install", "--yes")
    assert json.loads(cli("service", "status", "--json").out) == {
        "manager": "systemd",
        "path": str(unit),
        "installed": True,
        "running": True,
        "starts_at_login": True,
        "pid": 4711,
    }


def test_on_macos_the_agent_is_written_and_bootstrapped(
    cli: CommandLine, user: Path, agent: Path, home: Path
) -> None:
    domain = f"gui/{os.getuid()}"
    assert cli("service", "install", "--yes").code == 0
    written = plistlib.loads(agent.read_bytes())
    assert written["ProgramArguments"][1:] == ["up", "--in-background"]
    assert written["EnvironmentVariables"] == {
        "QUARTERDECK_HOME": str(home),
        "PATH": os.environ["PATH"],
        "QUARTERDECK_SERVER_MANAGED": "true",
    }
    assert told(user) == [
        f"launchctl print {domain}",
        f"launchctl print {domain}/quarterdeck",
        f"launchctl enable {domain}/quarterdeck",
        f"launchctl bootstrap {domain} {agent}",
    ]
    assert cli("service", "status").out == (
        f"file     {agent}\nrunning  yes, process 4711\nlogin    starts it\n"
    )
    told(user)
    assert cli("service", "install", "--yes").code == 0
    assert f"launchctl bootout {domain}/quarterdeck" in told(user)


def test_on_macos_uninstalling_takes_the_agent_away(
    cli: CommandLine, user: Path, agent: Path
) -> None:
    cli("service", "install", "--yes")
    assert cli("service", "uninstall", "--yes").code == 0
    assert not agent.exists()
    assert told(user)[-1] == f"launchctl bootout gui/{os.getuid()}/quarterdeck"
    assert "running  no" in cli("service", "status").out


def test_each_is_recorded(cli: CommandLine, unit: Path) -> None:
    cli("service", "install", "--yes")
    cli("service", "status")
    cli("service", "uninstall", "--yes")
    traces = json.loads(cli("traces", "list", "--json").out)["traces"]
    calls = [(trace["workflowId"], trace["status"]) for trace in traces]
    assert calls == [("cli.service.uninstall", "success"), ("cli.service.install", "success")]
    assert str(unit) in cli("traces", "show", traces[0]["traceId"], "--json").out
