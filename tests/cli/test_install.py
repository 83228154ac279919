"""`quarterdeck install` and `uninstall`, on files of a user who has some already."""

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.client_configs.clients import CLIENTS, Client, Machine, find_client
from tests.cli.conftest import CommandLine

each_client = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.id)

OTHERS = {
    "json": '{{\n\t// mine\n\t"theme": "dark", // kept\n\t"{section}": {{\n'
    '\t\t"other": {{"command": "x", "args": []}}, /* theirs */\n\t}},\n}}\n',
    "toml": "# mine\nmodel = 'o'\n\n[mcp_servers.other] # theirs\ncommand = 'x'\n",
}
BROKEN = {"json": '{\n  "a": 1\n  "b": 2\n}', "toml": "a = 1\n\nb = = 2\n"}


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a user who has nothing."""
    path = tmp_path / "user"
    path.mkdir()
    monkeypatch.setenv("HOME", str(path))
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    return path


def file_of(client: Client) -> Path:
    return client.file(Machine(os.environ))


def kind(client: Client) -> str:
    return "toml" if client.id == "codex" else "json"


def write(client: Client, content: str) -> Path:
    path = file_of(client)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode())
    return path


def others(client: Client) -> str:
    text = OTHERS[kind(client)]
    return text.format(section=client.section) if kind(client) == "json" else text


def servers(client: Client) -> dict[str, Any]:
    found: Any = client.dialect.data(file_of(client).read_bytes().decode())[client.section]
    return found


@each_client
def test_a_user_without_a_file_gets_one(client: Client, cli: CommandLine, home: Path) -> None:
    done = cli("install", client.id, "--yes")
    assert (done.code, done.out) == (0, "")
    assert f"{client.title} starts Quarterdeck from now on" in done.err
    assert servers(client) == {
        "quarterdeck": {
            **({"type": "stdio"} if client.id in {"claude-code", "vscode"} else {}),
            "command": str(Path(sys.executable).with_name("quarterdeck")),
            "args": ["mcp"],
            "env": {"QUARTERDECK_HOME": str(home)},
        }
    }
    assert stat.S_IMODE(file_of(client).stat().st_mode) == 0o600


@each_client
@pytest.mark.parametrize("form", ["as it is", "crlf", "byte order mark"])
def test_everything_that_is_there_stays_and_undoing_brings_every_byte_back(
    form: str, client: Client, cli: CommandLine
) -> None:
    text = others(client)
    if form == "crlf":
        text = text.replace("\n", "\r\n")
    if form == "byte order mark":
        text = "\ufeff" + text
    path = write(client, text)
    path.chmod(0o640)
    assert cli("install", client.id, "--yes").code == 0
    assert list(servers(client)) == ["other", "quarterdeck"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    lines = path.read_bytes().decode().splitlines(keepends=True)
    assert [line for line in text.splitlines(keepends=True) if line not in lines] == []
    assert cli("uninstall", client.id, "--yes").code == 0
    assert path.read_bytes().decode() == text


@each_client
def test_the_change_is_shown_and_a_copy_kept(client: Client, cli: CommandLine, home: Path) -> None:
    path = write(client, others(client))
    done = cli("install", client.id, "--yes")
    assert f"--- {path}\n+++ {path}\n@@ " in done.err
    added = [line for line in done.err.splitlines() if line.startswith("+")]
    assert any("quarterdeck" in line for line in added)
    (copy,) = (home / "backups").iterdir()
    assert copy.read_bytes().decode() == others(client)
    assert str(copy) in done.err


@each_client
def test_repeating_it_changes_nothing_and_says_so(
    client: Client, cli: CommandLine, home: Path
) -> None:
    cli("install", client.id, "--yes")
    before = file_of(client).stat()
    again = cli("install", client.id)
    assert (again.code, again.out) == (0, "")
    assert again.err == f"{client.title} starts Quarterdeck already; nothing was changed\n"
    assert file_of(client).stat().st_ino == before.st_ino
    assert not (home / "backups").exists()


@each_client
def test_undoing_keeps_what_changed_in_between(client: Client, cli: CommandLine) -> None:
    path = write(client, others(client))
    cli("install", client.id, "--yes")
    changed = path.read_text(encoding="utf-8").replace("'x'", "'y'").replace('"x"', '"y"')
    path.write_text(changed, encoding="utf-8")
    assert cli("uninstall", client.id, "--yes").code == 0
    expected = others(client).replace("'x'", "'y'").replace('"x"', '"y"')
    assert path.read_text(encoding="utf-8") == expected


@each_client
def test_a_broken_file_is_refused_with_the_place_and_not_touched(
    client: Client, cli: CommandLine
) -> None:
    path = write(client, BROKEN[kind(client)])
    for command in ("install", "uninstall"):
        refused = cli(command, client.id, "--yes")
        assert (refused.code, refused.out) == (4, "")
        assert f"error: The file {str(path)!r} is broken at line 3, column " in refused.err
        assert "\n\nhint: " in refused.err
    assert path.read_bytes().decode() == BROKEN[kind(client)]


@each_client
def test_a_read_only_file_is_refused(client: Client, cli: CommandLine) -> None:
    path = write(client, others(client))
    path.chmod(0o444)
    refused = cli("install", client.id, "--yes")
    assert refused.code == 4
    assert f"The file {str(path)!r} is read-only" in refused.err
    assert path.read_bytes().decode() == others(client)


@each_client
def test_a_folder_in_place_of_the_file_is_refused(client: Client, cli: CommandLine) -> None:
    file_of(client).mkdir(parents=True)
    refused = cli("install", client.id, "--yes")
    assert refused.code == 4
    assert "is a folder" in refused.err


@each_client
def test_a_linked_file_is_written_where_it_is(
    client: Client, cli: CommandLine, tmp_path: Path
) -> None:
    target = tmp_path / "dotfiles" / "file"
    target.parent.mkdir()
    target.write_text(others(client), encoding="utf-8")
    path = file_of(client)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    assert cli("install", client.id, "--yes").code == 0
    assert path.is_symlink()
    assert "quarterdeck" in target.read_text(encoding="utf-8")


@each_client
def test_another_server_of_that_name_is_shown_replaced_and_kept_as_a_copy(
    client: Client, cli: CommandLine, home: Path
) -> None:
    taken = {
        "json": f'{{"{client.section}": {{"quarterdeck": {{"command": "theirs"}}}}}}',
        "toml": '[mcp_servers.quarterdeck]\ncommand = "theirs"\n',
    }[kind(client)]
    write(client, taken)
    refused = cli("uninstall", client.id, "--yes")
    assert refused.code == 4
    assert f"'quarterdeck' of {client.title} does not start Quarterdeck" in refused.err
    done = cli("install", client.id, "--yes")
    assert any("theirs" in line for line in done.err.splitlines() if line.startswith("-"))
    assert servers(client)["quarterdeck"]["args"] == ["mcp"]
    (copy,) = (home / "backups").iterdir()
    assert "theirs" in copy.read_text(encoding="utf-8")
    assert cli("uninstall", client.id, "--yes").code == 0
    assert "theirs" not in file_of(client).read_text(encoding="utf-8")


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_without_a_terminal_nobody_can_be_asked(client: str, cli: CommandLine, user: Path) -> None:
    refused = cli("install", client)
    assert refused.code == 2
    assert "stdin is no terminal\n\nhint: add --yes to make it\n" in refused.err
    assert "+++ " in refused.err, "the change was shown"
    assert list(user.iterdir()) == []


@pytest.mark.parametrize(("answer", "is_made"), [("y\n", True), ("\n", False), ("", False)])
def test_at_a_terminal_the_user_decides(
    answer: str, *, is_made: bool, cli: CommandLine, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    primary, secondary = os.openpty()
    os.write(primary, answer.encode() or b"\x04")
    with os.fdopen(secondary, encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        done = cli("install", "cursor")
    os.close(primary)
    assert done.code == 0
    assert "Make this change? [y/N] " in done.err
    assert (user / ".cursor" / "mcp.json").exists() is is_made
    assert ("Nothing was changed" in done.err) is not is_made


def test_flags_are_passed_on_and_the_name_can_be_chosen(cli: CommandLine) -> None:
    flags = ("--name", "reader", "--read-only", "--toolsets", "memory,trace")
    assert cli("install", "cursor", "--yes", *flags).code == 0
    entry = servers(find_client("cursor"))["reader"]
    assert entry["args"] == ["mcp", "--read-only", "--toolsets", "memory,trace"]
    assert cli("uninstall", "cursor", "--yes", "--name", "reader").code == 0
    assert cli("uninstall", "cursor", "--yes").err == (
        "Cursor has no server 'quarterdeck'; nothing was changed\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [("cursr",), ("cursor", "--name", "a b"), ("cursor", "--toolsets", "memroy"), ("--name",)],
)
def test_a_wrong_command_line_is_refused(
    arguments: tuple[str, ...], cli: CommandLine, user: Path
) -> None:
    assert cli("install", *arguments, "--yes").code == 2
    assert list(user.iterdir()) == []


def test_the_default_home_needs_no_variable(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("QUARTERDECK_HOME")
    assert cli("install", "cursor", "--yes").code == 0
    assert "env" not in servers(find_client("cursor"))["quarterdeck"]


def test_a_home_given_as_a_flag_is_the_clients_too(cli: CommandLine, tmp_path: Path) -> None:
    assert cli("install", "cursor", "--yes", "--home", str(tmp_path / "h")).code == 0
    env = servers(find_client("cursor"))["quarterdeck"]["env"]
    assert env == {"QUARTERDECK_HOME": str(tmp_path / "h")}


def test_settings_of_this_shell_alone_are_named(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUARTERDECK_LOG_LEVEL", "debug")
    done = cli("install", "cursor", "--yes")
    assert "may not know what this shell sets: QUARTERDECK_LOG_LEVEL; put it into" in done.err


@each_client
def test_print_writes_nothing_but_what_belongs_into_the_file(
    client: Client, cli: CommandLine, user: Path
) -> None:
    printed = cli("install", client.id, "--print")
    assert (printed.code, printed.err) == (0, "")
    assert list(user.iterdir()) == []
    cli("install", client.id, "--yes")
    assert file_of(client).read_text(encoding="utf-8") == printed.out


def test_print_alone_is_for_any_other_client(cli: CommandLine) -> None:
    entry = json.loads(cli("install", "--print").out)["mcpServers"]["quarterdeck"]
    assert entry["args"] == ["mcp"]


def test_without_a_client_all_are_listed_with_what_is_there(
    cli: CommandLine, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(user))
    cli("install", "zed", "--yes", "--name", "deck")
    (user / ".codex").mkdir()
    rows = [line.split()[:3] for line in cli("install").out.splitlines()]
    assert rows[0] == ["CLIENT", "FOUND", "CONFIGURED"]
    assert ["zed", "yes", "deck"] in rows
    assert ["codex", "yes", "no"] in rows
    assert ["cursor", "no", "no"] in rows
    listed = json.loads(cli("install", "--json").out)["clients"]
    assert [row["client"] for row in listed] == [client.id for client in CLIENTS]


def test_with_json_the_outcome_is_data(cli: CommandLine, user: Path) -> None:
    (user / ".cursor").mkdir()
    (user / ".cursor" / "mcp.json").write_text("{}", encoding="utf-8")
    answer = json.loads(cli("install", "cursor", "--yes", "--json").out)
    assert answer.pop("backup").endswith("-mcp.json")
    assert answer == {
        "client": "cursor",
        "path": str(user / ".cursor" / "mcp.json"),
        "name": "quarterdeck",
        "changed": True,
        "declined": False,
    }
    assert json.loads(cli("uninstall", "cursor", "--yes", "--json").out)["changed"] is True


def test_each_is_recorded_once_without_the_contents_of_the_file(
    cli: CommandLine, user: Path
) -> None:
    token = "ghp_" + "a" * 36
    servers_ = {"other": {"command": "x", "env": {"TOKEN": token}}}
    text = json.dumps({"mcpServers": servers_}, indent=2)
    (user / ".claude.json").write_text(text, encoding="utf-8")
    done = cli("install", "claude-code", "--yes")
    assert token not in done.err
    cli("install", "claude-code", "--yes")
    cli("uninstall", "claude-code", "--yes")
    cli("install", "claude-code")
    traces = json.loads(cli("traces", "list", "--json").out)["traces"]
    assert [(trace["workflowId"], trace["status"]) for trace in traces] == [
        ("cli.install", "failure"),
        ("cli.uninstall", "success"),
        ("cli.install", "success"),
        ("cli.install", "success"),
    ]
    shown = [cli("traces", "show", trace["traceId"], "--json").out for trace in traces]
    assert all(".claude.json" in text for text in shown)
    assert not any("other" in text or token in text for text in shown)
