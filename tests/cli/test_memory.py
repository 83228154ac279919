import io
import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> io.BytesIO:
    content = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(content, encoding="utf-8"))
    return content


def test_a_stored_value_is_printed_by_get(cli: CommandLine) -> None:
    stored = cli("memory", "store", "greeting", '{"text": "ahoy", "to": null}')
    assert stored == (0, "", "Stored 'greeting' in namespace 'default'\n")
    found = cli("memory", "get", "greeting")
    assert (found.code, found.err) == (0, "")
    assert json.loads(found.out) == {"text": "ahoy", "to": None}


def test_with_json_store_and_get_print_the_answers_themselves(cli: CommandLine) -> None:
    stored = cli("memory", "store", "k", '{"n": null}', "--namespace", "crew", "--json")
    assert json.loads(stored.out) == {
        "success": True,
        "key": "k",
        "namespace": "crew",
        "message": "Stored 'k' in namespace 'crew'",
    }
    found = json.loads(cli("memory", "get", "k", "--namespace", "crew", "--json").out)
    assert found.pop("storedAt").endswith("Z")
    assert found == {"found": True, "key": "k", "namespace": "crew", "value": {"n": None}}


def test_a_value_is_read_from_a_file(cli: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "value.json"
    file.write_bytes(b'\xef\xbb\xbf{"from": "a file"}')
    assert cli("memory", "store", "k", f"@{file}").code == 0
    assert json.loads(cli("memory", "get", "k").out) == {"from": "a file"}


def test_a_value_is_read_from_stdin(cli: CommandLine, stdin: io.BytesIO) -> None:
    stdin.write('{"from": "stdín"}'.encode())
    stdin.seek(0)
    assert cli("memory", "store", "k", "-").code == 0
    assert json.loads(cli("memory", "get", "k").out) == {"from": "stdín"}


@pytest.mark.parametrize("value", ["ahoy", "[1, 2]", "5", "null", '{"n": NaN}', "{" * 300, "--x"])
def test_a_value_that_is_no_json_object_is_refused_and_recorded(
    value: str, cli: CommandLine
) -> None:
    refused = cli("memory", "store", "k", value)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("error: 'value' is not a JSON object\n\nhint: write it like")
    (trace,) = json.loads(cli("traces", "list", "--json").out)["traces"]
    assert (trace["workflowId"], trace["status"]) == ("cli.memory.store", "failure")


def test_a_file_that_is_not_there_is_refused(cli: CommandLine, tmp_path: Path) -> None:
    refused = cli("memory", "store", "k", f"@{tmp_path / 'nowhere'}")
    assert refused.code == 2
    assert "cannot be read: No such file or directory" in refused.err


def test_bytes_that_are_no_text_are_refused(cli: CommandLine, stdin: io.BytesIO) -> None:
    stdin.write(b'{"a": "\xff"}')
    stdin.seek(0)
    refused = cli("memory", "store", "k", "-")
    assert refused.code == 2
    assert refused.err.startswith("error: 'value' is not UTF-8 text")


def test_endless_input_is_refused(cli: CommandLine, stdin: io.BytesIO) -> None:
    stdin.write(b" " * (17 * 1024 * 1024))
    stdin.seek(0)
    refused = cli("memory", "store", "k", "-")
    assert refused.code == 2
    assert "bytes of text" in refused.err


def test_an_absent_key_is_not_found(cli: CommandLine) -> None:
    absent = cli("memory", "get", "k")
    assert (absent.code, absent.out) == (3, "")
    assert absent.err.startswith("error: Nothing stored under 'k' in namespace 'default'\n\nhint: ")


def test_with_json_an_absent_key_is_an_answer(cli: CommandLine) -> None:
    absent = cli("memory", "get", "k", "--json")
    assert absent.code == 0
    assert json.loads(absent.out)["found"] is False


def test_search_lists_the_best_match_first(cli: CommandLine) -> None:
    cli("memory", "store", "notes", '{"text": "deploy on friday"}')
    cli("memory", "store", "deploy", '{"text": "how to"}')
    header, *lines = cli("memory", "search", "deploy").out.splitlines()
    assert header.split() == ["KEY", "NAMESPACE", "STORED", "VALUE"]
    assert [line.split()[0] for line in lines] == ["deploy", "notes"]
    answer = json.loads(cli("memory", "search", "deploy", "--limit", "1", "--json").out)
    assert [hit["key"] for hit in answer["results"]] == ["deploy"]


def test_search_shows_the_start_of_a_long_value(cli: CommandLine) -> None:
    cli("memory", "store", "long", json.dumps({"text": "fathom " * 100}))
    (line,) = cli("memory", "search", "fathom").out.splitlines()[1:]
    assert line.endswith("...")
    assert len(line) < 150


def test_list_continues_where_the_page_before_ended(cli: CommandLine) -> None:
    for key in ("a1", "a2", "b1", "a3"):
        cli("memory", "store", key, "{}")
    first = cli("memory", "list", "--prefix", "a", "--limit", "2")
    assert [line.split()[0] for line in first.out.splitlines()] == ["KEY", "a1", "a2"]
    assert first.err.startswith("2 of 3 keys; continue with --cursor ")
    rest = cli("memory", "list", "--prefix", "a", "--cursor", first.err.split()[-1])
    assert [line.split()[0] for line in rest.out.splitlines()] == ["KEY", "a3"]
    assert rest.err == ""


def test_list_can_be_narrowed_to_a_namespace(cli: CommandLine) -> None:
    cli("memory", "store", "k", "{}", "--namespace", "crew")
    cli("memory", "store", "k", "{}")
    answer = json.loads(cli("memory", "list", "--namespace", "crew", "--json").out)
    assert [(row["key"], row["namespace"]) for row in answer["keys"]] == [("k", "crew")]


def test_deleting_says_whether_the_key_was_there(cli: CommandLine) -> None:
    cli("memory", "store", "k", "{}")
    assert cli("memory", "delete", "k").err == "Deleted 'k' in namespace 'default'\n"
    again = cli("memory", "delete", "k", "--json")
    assert again.code == 0
    assert json.loads(again.out)["deleted"] is False


def test_a_name_that_cannot_be_stored_is_refused(cli: CommandLine) -> None:
    assert cli("memory", "get", "\udcff").code == 2
    assert cli("memory", "get", "k" * 501).code == 2


def test_what_changes_something_is_recorded_with_its_user_and_what_reads_is_not(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "ada")
    cli("memory", "store", "k", '{"a": 1}')
    for reading in (("get", "k"), ("search", "k"), ("list",)):
        cli("memory", *reading)
    cli("memory", "delete", "k")
    traces = json.loads(cli("traces", "list", "--json").out)["traces"]
    calls = [(trace["workflowId"], trace["actor"], trace["surface"]) for trace in traces]
    assert calls == [
        ("cli.memory.delete", "user:ada", "cli"),
        ("cli.memory.store", "user:ada", "cli"),
    ]


def test_a_read_only_program_refuses_to_store(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUARTERDECK_SERVER_READ_ONLY", "true")
    assert cli("memory", "store", "k", "{}").code == 5


def test_stored_text_cannot_steer_the_terminal(cli: CommandLine) -> None:
    cli("memory", "store", "red\x1b[31m", json.dumps({"text": "up\u009b1A", "line": "a\nb"}))
    for command in (("list",), ("search", "red"), ("get", "red\x1b[31m")):
        out = cli("memory", *command).out
        assert "\x1b" not in out
        assert "\u009b" not in out
    assert json.loads(out) == {"text": "up\u009b1A", "line": "a\nb"}


def test_a_broken_database_is_reported_with_the_way_to_the_doctor(
    cli: CommandLine, home: Path
) -> None:
    home.mkdir()
    (home / "quarterdeck.db").write_bytes(b"this is no database" * 100)
    broken = cli("memory", "list")
    assert broken.code == 6
    assert broken.err.endswith("hint: run 'quarterdeck doctor' to see what is wrong\n")
