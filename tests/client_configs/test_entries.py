"""What is written for each client, and what is left alone."""

import pytest
from hypothesis import assume, given

from quarterdeck.client_configs.clients import CLIENTS, Client, find_client
from quarterdeck.client_configs.entries import our_names, with_entry, without_entry
from quarterdeck.client_configs.launch import Launch
from quarterdeck.client_configs.unusable import Unusable
from tests.client_configs.documents import jsonc, toml

LAUNCH = Launch("/opt/bin/quarterdeck", ("mcp",))
ELSEWHERE = Launch("/new/bin/quarterdeck", ("mcp", "--read-only"), {"QUARTERDECK_HOME": "/h"})

each_client = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.id)


def text_of(client: Client, entry: str) -> str:
    """The client's file with one entry, which the test has written itself."""
    if client.id == "codex":
        return f"[mcp_servers.quarterdeck]\n{entry}\n"
    return f'{{\n  "{client.section}": {{\n    "quarterdeck": {{{entry}}}\n  }}\n}}\n'


@pytest.mark.parametrize(
    ("client", "written"),
    [
        ("claude-code", '{"mcpServers": {"quarterdeck": {"type": "stdio", "command": COMMAND'),
        ("claude-desktop", '{"mcpServers": {"quarterdeck": {"command": COMMAND'),
        ("cursor", '{"mcpServers": {"quarterdeck": {"command": COMMAND'),
        ("zed", '{"context_servers": {"quarterdeck": {"command": COMMAND'),
        ("vscode", '{"servers": {"quarterdeck": {"type": "stdio", "command": COMMAND'),
        ("codex", "[mcp_servers.quarterdeck]command = COMMAND"),
        ("gemini", '{"mcpServers": {"quarterdeck": {"command": COMMAND'),
    ],
)
def test_each_client_is_told_in_its_own_form(client: str, written: str) -> None:
    (chosen,) = (known for known in CLIENTS if known.id == client)
    text = with_entry("", chosen, "quarterdeck", LAUNCH)
    plain = "".join(text.split()).replace('"/opt/bin/quarterdeck"', "COMMAND")
    assert plain.startswith("".join(written.split()))
    assert '"args":["mcp"]' in plain or 'args=["mcp"]' in plain


@each_client
def test_repeating_it_changes_nothing(client: Client) -> None:
    once = with_entry("", client, "quarterdeck", ELSEWHERE)
    assert with_entry(once, client, "quarterdeck", ELSEWHERE) == once


@each_client
def test_an_entry_of_ours_is_brought_up_to_date_and_keeps_what_a_user_added(client: Client) -> None:
    entry = {
        "codex": 'command = "/old/quarterdeck" # where\nargs = ["mcp"]\ntimeout = 5\n'
        'env = { A = "1", QUARTERDECK_HOME = "/old" }'
    }.get(
        client.id,
        '"command": "/old/quarterdeck" /* where */, "args": ["mcp"], "timeout": 5,'
        ' "env": {"A": "1", "QUARTERDECK_HOME": "/old"}',
    )
    after = with_entry(text_of(client, entry), client, "quarterdeck", ELSEWHERE)
    servers = client.dialect.data(after)[client.section]
    assert servers == {
        "quarterdeck": {
            **client.entry(ELSEWHERE),
            "timeout": 5,
            "env": {"A": "1", "QUARTERDECK_HOME": "/h"},
        }
    }
    assert "where" in after
    at_default_home = with_entry(after, client, "quarterdeck", LAUNCH)
    assert "QUARTERDECK_HOME" not in at_default_home
    assert "timeout" in at_default_home


@each_client
def test_another_entry_of_the_same_name_is_replaced_as_a_whole(client: Client) -> None:
    entry = 'command = "other"\nx = 1' if client.id == "codex" else '"command": "other", "x": 1'
    after = with_entry(text_of(client, entry), client, "quarterdeck", LAUNCH)
    assert client.dialect.data(after) == {client.section: {"quarterdeck": client.entry(LAUNCH)}}


@each_client
def test_an_entry_of_ours_is_found_under_any_name(client: Client) -> None:
    text = with_entry("", client, "fleet", LAUNCH)
    text = with_entry(text, client, "reader", Launch("/bin/uvx", ("quarterdeck", "mcp")))
    assert our_names(client.dialect.data(text), client.section) == ["fleet", "reader"]
    assert our_names({client.section: {"x": {"command": "y", "args": []}, "z": 1}}, "s") == []


@given(jsonc("context_servers"))
def test_a_generated_json_file_gets_our_entry_and_loses_it_again(text: str) -> None:
    client = find_client("zed")
    after = with_entry(text, client, "quarterdeck", ELSEWHERE)
    assert our_names(client.dialect.data(after), client.section) == ["quarterdeck"]
    back = client.dialect.data(without_entry(after, client, "quarterdeck"))
    assert back.get("context_servers", {}) == client.dialect.data(text).get("context_servers", {})


@given(toml())
def test_a_generated_toml_file_gets_our_entry_and_loses_it_again(text: str) -> None:
    client = find_client("codex")
    try:
        client.dialect.data(text)
    except Unusable:
        assume(False)
    after = with_entry(text, client, "quarterdeck", ELSEWHERE)
    assert without_entry(after, client, "quarterdeck") == text


def test_taking_out_what_is_not_there_changes_nothing() -> None:
    for text in ("", "{}", '{"mcpServers": {"other": {}}}', '{"mcpServers": []}'):
        assert without_entry(text, find_client("cursor"), "quarterdeck") == text


def test_an_entry_among_scattered_tables_is_brought_up_to_date() -> None:
    others = "# mine\n[[many]]\n[mcp_servers.other]\ncommand = 'x'\n"
    ours = "[mcp_servers.quarterdeck]\ncommand = 'quarterdeck'\nargs = ['mcp']\ntimeout = 5\n"
    client = find_client("codex")
    after = with_entry(ours + others, client, "quarterdeck", ELSEWHERE)
    assert after.startswith(others)
    assert client.dialect.data(after)["mcp_servers"] == {
        "other": {"command": "x"},
        "quarterdeck": {**client.entry(ELSEWHERE), "timeout": 5},
    }


def test_an_edit_that_would_take_a_comment_along_is_refused() -> None:
    text = "[mcp_servers]\nquarterdeck = { command = 'x' }\n# about t\n[t]\nx = 1\n"
    with pytest.raises(Unusable, match="cannot be edited safely"):
        without_entry(text, find_client("codex"), "quarterdeck")
