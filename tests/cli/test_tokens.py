import json
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.daemon.key import is_secret
from tests.cli.conftest import CommandLine, Finished


def listed(cli: CommandLine) -> list[dict[str, Any]]:
    return json.loads(cli("token", "list", "--json").out)["tokens"]


def secret_of(made: Finished) -> str:
    assert made.code == 0, made.err
    (secret,) = made.out.splitlines()
    assert is_secret(secret)
    return secret


def test_the_secret_alone_is_printed_and_the_rest_is_said_beside_it(cli: CommandLine) -> None:
    made = cli("token", "create", "ci", "--scope", "write", "--scope", "approve")
    secret = secret_of(made)
    assert secret not in made.err
    assert "'ci'" in made.err
    assert "write, approve" in made.err


def test_a_token_reads_for_thirty_days_unless_asked_for_more(cli: CommandLine) -> None:
    made = json.loads(cli("token", "create", "--json").out)
    assert is_secret(made["secret"])
    token = made["token"]
    assert token["scopes"] == ["read"]
    assert token["name"].startswith("token-")
    created, expires = token["createdAt"], token["expiresAt"]
    assert expires > created
    assert expires[10:] == created[10:], "whole days"


def test_only_never_has_no_end(cli: CommandLine) -> None:
    secret_of(cli("token", "create", "endless", "--expires", "never"))
    [token] = listed(cli)
    assert "expiresAt" not in token
    assert "never" in cli("token", "list").out


def test_the_list_shows_states_and_no_secret(cli: CommandLine, home: Path) -> None:
    secrets = [secret_of(cli("token", "create", name)) for name in ("one", "two")]
    assert cli("token", "revoke", "one").code == 0

    shown = cli("token", "list").out
    assert "revoked" in shown
    assert "active" in shown
    assert {token["name"]: token["state"] for token in listed(cli)} == {
        "one": "revoked",
        "two": "active",
    }
    written = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    for secret in secrets:
        assert secret not in shown
        assert secret.encode() not in written


def test_a_token_is_revoked_by_name_or_by_id(cli: CommandLine) -> None:
    for name in ("one", "two"):
        secret_of(cli("token", "create", name))
    two = next(token["id"] for token in listed(cli) if token["name"] == "two")

    assert "'one'" in cli("token", "revoke", "one").err
    assert json.loads(cli("token", "revoke", two, "--json").out)["revoked"] is True
    assert json.loads(cli("token", "revoke", two, "--json").out)["revoked"] is False
    assert cli("token", "revoke", "one").code == 3


def test_making_and_revoking_leave_a_trace_and_listing_does_not(cli: CommandLine) -> None:
    secret = secret_of(cli("token", "create", "ci"))
    cli("token", "list")
    cli("token", "revoke", "ci")

    traces = json.loads(cli("traces", "list", "--json").out)["traces"]
    assert [trace["workflowId"] for trace in traces] == ["cli.token.revoke", "cli.token.create"]
    for trace in traces:
        assert secret not in cli("traces", "show", trace["traceId"], "--json").out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--expires", "30"), 2),
        (("--expires", ""), 2),
        (("--scope", "everything"), 2),
        (("two words",), 2),
        (("taken",), 4),
    ],
)
def test_a_token_that_cannot_be_made_is_refused_with_a_hint(
    cli: CommandLine, arguments: tuple[str, ...], code: int
) -> None:
    secret_of(cli("token", "create", "taken"))
    refused = cli("token", "create", *arguments)
    assert (refused.code, refused.out) == (code, "")
    assert refused.err.startswith("error: ")
    assert [token["name"] for token in listed(cli)] == ["taken"]


def test_a_read_only_installation_makes_no_tokens(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUARTERDECK_SERVER_READ_ONLY", "true")
    assert cli("token", "create").code == 5
