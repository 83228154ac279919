"""The unit, as systemd itself reads it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from quarterdeck.errors import InvalidInput
from quarterdeck.user_services.definition import Definition
from quarterdeck.user_services.systemd import unit_text

ODD = Path("/opt/my tools 100%/a\\b \"c\" $HOME 'd'")


def value(text: str, key: str) -> str:
    (found,) = (line for line in text.splitlines() if line.startswith(f"{key}="))
    return found.removeprefix(f"{key}=")


def words(line: str) -> list[str]:
    """Split as systemd.syntax says: double quotes, C escapes, and %% for a percent sign."""
    found: list[str] = []
    rest = line
    while rest:
        assert rest[0] == '"'
        word, at = "", 1
        while rest[at] != '"':
            at += rest[at] == "\\"
            word, at = word + rest[at], at + 1
        found.append(word.replace("%%", "%"))
        rest = rest[at + 1 :].lstrip(" ")
    return found


def test_the_unit_starts_the_server_in_its_home_and_again_when_it_fails() -> None:
    text = unit_text(Definition(("/bin/quarterdeck", "up"), Path("/h")))
    assert text == (
        "[Unit]\n"
        "Description=Quarterdeck, an MCP server that commands coding agents\n"
        "\n"
        "[Service]\n"
        "Type=exec\n"
        'ExecStart=:"/bin/quarterdeck" "up"\n'
        "WorkingDirectory=-/h\n"
        "Restart=on-failure\n"
        "RestartPreventExitStatus=4\n"
        "RestartSec=2\n"
        "KillMode=mixed\n"
        "TimeoutStopSec=60\n"
        "\n"
        "[Install]\n"
        "WantedBy=default.target\n"
    )


def test_blanks_quotes_and_percent_signs_in_paths_mean_themselves() -> None:
    command = ("/opt/my tools 100%/$HOME/quarterdeck", "up")
    text = unit_text(Definition(command, ODD, {"QUARTERDECK_HOME": str(ODD)}))
    start = value(text, "ExecStart")
    assert start.startswith(":"), "no variable is put in for $HOME"
    assert tuple(words(start[1:])) == command
    assert words(value(text, "Environment")) == [f"QUARTERDECK_HOME={ODD}"]
    assert value(text, "WorkingDirectory").replace("%%", "%") == f"-{ODD}"


@pytest.mark.parametrize("path", ['/a"b/quarterdeck', "/a'b/quarterdeck", "/a\\b/quarterdeck"])
def test_a_path_that_systemd_does_not_take_is_refused(path: str) -> None:
    with pytest.raises(InvalidInput, match="quotes or backslashes"):
        unit_text(Definition((path, "up"), Path("/h")))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="only on machines with systemd")
@pytest.mark.parametrize("folder", ["plain", "my tools 100%", "a$HOME 'b' \"c\"", "a\\b"])
def test_systemd_finds_nothing_wrong_with_the_unit(folder: str, tmp_path: Path) -> None:
    home = tmp_path / folder
    home.mkdir()
    program = tmp_path / "100% $HOME" / "quarterdeck"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    unit = tmp_path / "quarterdeck.service"
    definition = Definition((str(program), "up"), home, {"QUARTERDECK_HOME": str(home)})
    unit.write_text(unit_text(definition), encoding="utf-8")
    checked = subprocess.run(
        ["systemd-analyze", "--user", "verify", str(unit)],
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
