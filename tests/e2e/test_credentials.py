"""A credential given to a real server stays out of its traces, its log and its errors."""

import json
from pathlib import Path

from tests.support.raw_stdio import raw_stdio, tool_call

GITHUB = "ghp_" + "a1B2" * 9
PASSWORD = "correct-horse-" + "battery-staple"
OPENAI = "sk-proj-" + "Zz9" * 16


def test_no_credential_reaches_the_database_file_the_log_or_an_error(tmp_path: Path) -> None:
    calls = [
        ("memory_store", {"key": "ok", "value": {"note": "x"}, OPENAI: 1}),
        ("memory_store", {"key": f"Bearer {GITHUB}", "value": "no object", "password": PASSWORD}),
        ("memory_search", {"query": f"token={GITHUB}", "limit": 0}),
        (GITHUB, {"api_key": PASSWORD}),
        ("memory_retrieve", {"key": GITHUB}),
        ("memory_delete", {"key": f"https://me:{PASSWORD}@example.test/"}),
        ("trace_get", {"traceId": GITHUB}),
    ]
    with raw_stdio(tmp_path, {"QUARTERDECK_LOG_LEVEL": "debug"}) as server:
        errors: list[str] = []
        for number, (tool, arguments) in enumerate(calls, start=1):
            server.send(tool_call(number, tool, arguments))
            result = server.answer()["result"]
            if result["isError"]:
                errors.append(json.dumps(result))
        code, logged = server.end()

    assert code == 0
    assert len(errors) == 5
    written = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    for secret in (GITHUB, PASSWORD, OPENAI):
        assert secret not in "".join(errors)
        assert secret not in logged
        assert secret.encode() not in written
