"""Where each client keeps its file."""

from pathlib import Path

import pytest

from quarterdeck.client_configs.clients import CLIENTS, Machine, find_client
from quarterdeck.client_configs.survey import configured_clients
from tests.support.repository import ROOT


def files(machine: Machine) -> dict[str, str]:
    return {client.id: str(client.file(machine)) for client in CLIENTS}


def test_the_files_on_linux() -> None:
    assert files(Machine({"HOME": "/h"}, "linux")) == {
        "claude-code": "/h/.claude.json",
        "claude-desktop": "/h/.config/Claude/claude_desktop_config.json",
        "cursor": "/h/.cursor/mcp.json",
        "zed": "/h/.config/zed/settings.json",
        "vscode": "/h/.config/Code/User/mcp.json",
        "codex": "/h/.codex/config.toml",
        "gemini": "/h/.gemini/settings.json",
    }


def test_the_files_on_macos() -> None:
    support = "/h/Library/Application Support"
    assert files(Machine({"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "darwin")) == {
        "claude-code": "/h/.claude.json",
        "claude-desktop": f"{support}/Claude/claude_desktop_config.json",
        "cursor": "/h/.cursor/mcp.json",
        "zed": "/h/.config/zed/settings.json",
        "vscode": f"{support}/Code/User/mcp.json",
        "codex": "/h/.codex/config.toml",
        "gemini": "/h/.gemini/settings.json",
    }


@pytest.mark.parametrize(
    ("variable", "client", "file"),
    [
        ("CLAUDE_CONFIG_DIR", "claude-code", "/v/.claude.json"),
        ("CODEX_HOME", "codex", "/v/config.toml"),
        ("GEMINI_CLI_HOME", "gemini", "/v/.gemini/settings.json"),
        ("XDG_CONFIG_HOME", "zed", "/v/zed/settings.json"),
        ("XDG_CONFIG_HOME", "vscode", "/v/Code/User/mcp.json"),
        ("XDG_CONFIG_HOME", "claude-desktop", "/v/Claude/claude_desktop_config.json"),
        ("FLATPAK_XDG_CONFIG_HOME", "zed", "/v/zed/settings.json"),
    ],
)
def test_variables_of_the_clients_are_honoured(variable: str, client: str, file: str) -> None:
    assert files(Machine({"HOME": "/h", variable: "/v"}, "linux"))[client] == file


def test_a_relative_folder_in_a_variable_counts_as_unset() -> None:
    machine = Machine({"HOME": "/h", "XDG_CONFIG_HOME": "relative"}, "linux")
    assert files(machine)["zed"] == "/h/.config/zed/settings.json"


def test_where_only_the_server_of_vs_code_is_its_user_file_is_meant(tmp_path: Path) -> None:
    machine = Machine({"HOME": str(tmp_path)}, "linux")
    server = tmp_path / ".vscode-server"
    server.mkdir()
    assert find_client("vscode").file(machine) == server / "data" / "User" / "mcp.json"
    (tmp_path / ".config" / "Code").mkdir(parents=True)
    assert find_client("vscode").file(machine) == tmp_path / ".config/Code/User/mcp.json"


def test_a_client_is_found_by_its_program_or_by_its_folder(tmp_path: Path) -> None:
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    environ = {"HOME": str(tmp_path), "PATH": str(bin_)}
    assert [state.client for state in configured_clients(environ) if state.found] == []
    (bin_ / "codex").touch(mode=0o755)
    (tmp_path / ".cursor").mkdir()
    found = [state.client for state in configured_clients(environ) if state.found]
    assert found == ["cursor", "codex"]


def test_the_survey_says_which_start_quarterdeck_and_which_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / ".claude.json").write_text(
        '{"mcpServers": {"fleet": {"command": "quarterdeck", "args": ["mcp"]}}}', encoding="utf-8"
    )
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "mcp.json").write_text("{broken", encoding="utf-8")
    (tmp_path / ".gemini" / "settings.json").mkdir(parents=True)
    states = {state.client: state for state in configured_clients({"HOME": str(tmp_path)})}
    assert (states["claude-code"].configured, states["claude-code"].names) == (True, ("fleet",))
    assert (states["cursor"].configured, states["gemini"].configured) == (False, False)
    assert states["cursor"].problem == "is broken at line 1, column 2: this is no JSON"
    assert states["gemini"].problem == "is a folder"
    assert states["zed"].problem is None


def test_the_documentation_has_every_client_with_its_files_and_its_section() -> None:
    page = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
    table = [line for line in page.splitlines() if line.startswith("|") and "`" in line]
    rows = {line.split("`")[1]: line for line in table}
    for client in CLIENTS:
        row = rows[client.id]
        assert row.startswith(f"| {client.title} |")
        assert row.endswith(f"| `{client.section}` |")
        on_linux = str(client.file(Machine({"HOME": "~"}, "linux")))
        on_macos = str(client.file(Machine({"HOME": "~"}, "darwin")))
        assert f"`{on_linux}`" in row
        assert f"`{on_macos}`" in row
