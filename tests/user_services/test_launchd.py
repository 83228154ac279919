"""The agent, as macOS' own library reads it."""

import plistlib
from pathlib import Path

from quarterdeck.user_services.definition import Definition
from quarterdeck.user_services.launchd import agent_text

ODD = Path('/opt/my tools 100%/<a> & "b"')


def test_the_agent_starts_the_server_in_its_home_and_again_when_it_fails() -> None:
    definition = Definition((str(ODD / "quarterdeck"), "up"), ODD, {"QUARTERDECK_HOME": str(ODD)})
    assert plistlib.loads(agent_text(definition).encode()) == {
        "Label": "quarterdeck",
        "ProgramArguments": [str(ODD / "quarterdeck"), "up", "--in-background"],
        "WorkingDirectory": str(ODD),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ExitTimeOut": 60,
        "StandardOutPath": str(ODD / "service.log"),
        "StandardErrorPath": str(ODD / "service.log"),
        "EnvironmentVariables": {"QUARTERDECK_HOME": str(ODD)},
    }


def test_without_variables_there_is_no_place_for_them() -> None:
    agent = plistlib.loads(agent_text(Definition(("/q", "up"), Path("/h"))).encode())
    assert "EnvironmentVariables" not in agent
