import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from quarterdeck import __version__
from quarterdeck.__main__ import Installed
from quarterdeck.settings import ServerSettings, Settings
from tests.cli.conftest import CommandLine

ADDRESS = "http://127.0.0.1:7421"


class Serving(Installed):
    """Notes what it is asked to serve, and ends at once."""

    served: ServerSettings | None = None
    endpoint: str | None = None

    async def serve_stdio(self, settings: Settings) -> None:
        self.served = settings.server

    async def bridge(self, home: Path, path: str, say: Callable[[str], None]) -> None:
        self.endpoint = path

    async def serve_http(self, settings: Settings, announce: Callable[[str], None]) -> None:
        self.served = settings.server
        announce(ADDRESS)


@pytest.mark.parametrize("command", [("mcp", "--standalone"), ("up",)])
def test_without_options_everything_is_offered(command: tuple[str, ...], cli: CommandLine) -> None:
    program = Serving()
    assert cli(*command, program=program).code == 0
    assert program.served == ServerSettings()


@pytest.mark.parametrize("command", [("mcp", "--standalone"), ("up",)])
def test_options_win_over_the_environment(
    command: tuple[str, ...], cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUARTERDECK_SERVER_TOOLSETS", "meta")
    program = Serving()
    cli(*command, "--read-only", "--toolsets", "memory,trace", program=program)
    assert program.served is not None
    assert program.served.read_only is True
    assert program.served.toolsets == ("memory", "trace")


@pytest.mark.parametrize(
    ("options", "environ", "endpoint"),
    [
        ((), {}, "/mcp"),
        (("--toolsets", "memory, trace"), {}, "/mcp/x/memory,trace"),
        (("--read-only",), {}, "/mcp/readonly"),
        (("--toolsets", "memory", "--read-only"), {}, "/mcp/x/memory/readonly"),
        ((), {"QUARTERDECK_SERVER_TOOLSETS": "meta"}, "/mcp/x/meta"),
        ((), {"QUARTERDECK_SERVER_READ_ONLY": "true"}, "/mcp/readonly"),
        (("--toolsets", "trace"), {"QUARTERDECK_SERVER_TOOLSETS": "meta"}, "/mcp/x/trace"),
    ],
)
def test_what_a_client_asks_to_be_offered_is_asked_of_the_daemon_for_it_alone(
    options: tuple[str, ...],
    environ: dict[str, str],
    endpoint: str,
    cli: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    program = Serving()
    assert cli("mcp", *options, program=program).code == 0
    assert program.endpoint == endpoint


def test_the_port_is_an_option_of_up(cli: CommandLine) -> None:
    program = Serving()
    cli("up", "--port", "0", program=program)
    assert program.served is not None
    assert program.served.port == 0


def test_up_prints_where_it_is_reached(cli: CommandLine) -> None:
    assert cli("up", program=Serving()).out == (
        f"Quarterdeck {__version__} is running\n"
        f"  Dashboard  {ADDRESS}/\n"
        f"  MCP        {ADDRESS}/mcp\n"
        "Stop with Ctrl-C\n"
    )


@pytest.mark.parametrize("command", [("mcp",), ("mcp", "--standalone"), ("up",)])
def test_an_unknown_toolset_is_refused_with_the_closest_one(
    command: tuple[str, ...], cli: CommandLine
) -> None:
    refused = cli(*command, "--toolsets", "memroy", program=Serving())
    assert (refused.code, refused.out) == (2, "")
    assert "'memory'" in refused.err


def test_a_person_who_starts_the_client_entry_is_told_what_it_waits_for(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("mcp", program=Serving()).err == ""
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    told = cli("mcp", program=Serving())
    assert told.out == ""
    assert "Ctrl-C" in told.err
