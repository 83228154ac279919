"""`metadata validate`: against the package, the daemon of the home, and any server."""

import asyncio
import json
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import uvicorn
from fastmcp import FastMCP

from quarterdeck.http_server import listen
from tests.cli.conftest import CommandLine
from tests.support.servers import http_server, key_of

BAD = """\
tools:
  memory_stor:
    title: x
  memory_store:
    arguments:
      kee: {description: x}
resources:
  quarterdeck://nowhere: {title: x}
"""


@pytest.fixture
def path(home: Path) -> Path:
    home.mkdir()
    return home / "metadata.yaml"


@contextmanager
def serving(server: FastMCP[Any]) -> Generator[str]:
    """Serve on a free port, in a thread of its own because the command line blocks this one."""
    app = server.http_app(path="/mcp")
    with closing(listen("127.0.0.1", 0)) as listener:
        uvicorn_server = uvicorn.Server(uvicorn.Config(app, log_config=None))
        thread = Thread(target=lambda: asyncio.run(uvicorn_server.serve([listener])))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            uvicorn_server.should_exit = True
            thread.join()


def test_without_a_daemon_the_package_is_asked(cli: CommandLine, path: Path) -> None:
    path.write_text("tools:\n  memory_store: {title: x}\n", encoding="utf-8")
    done = cli("metadata", "validate")
    assert done.code == 0, done.err
    assert "can be used; checked against the package, because no daemon runs" in done.err


def test_every_problem_is_told_with_its_line_and_the_closest_name(
    cli: CommandLine, path: Path
) -> None:
    path.write_text(BAD, encoding="utf-8")
    done = cli("metadata", "validate")
    assert (done.code, done.out) == (2, "")
    assert "line 2: tools.memory_stor: " in done.err
    assert "did you mean 'memory_store'?" in done.err
    assert "line 6: tools.memory_store.arguments.kee: " in done.err
    assert "did you mean 'key'?" in done.err
    assert "line 8: " in done.err
    assert "has 3 problems" in done.err

    found = json.loads(cli("metadata", "validate", "--json").out)
    assert found["valid"] is False
    assert [problem["line"] for problem in found["problems"]] == [2, 6, 8]


def test_what_is_only_unknown_is_a_warning_when_the_file_is_not_strict(
    cli: CommandLine, path: Path
) -> None:
    path.write_text("strict: false\ntools:\n  memory_stor: {title: x}\n", encoding="utf-8")
    done = cli("metadata", "validate")
    assert done.code == 0
    assert "warning: line 3" in done.err
    found = json.loads(cli("metadata", "validate", "--json").out)
    assert found["valid"] is True
    assert found["problems"][0]["fatal"] is False


@pytest.mark.parametrize(
    ("text", "line"),
    [("tools:\n  a: !!python/object:os.system {}\n", 2), ("tools: [\n", 2), ("version: 2\n", 1)],
)
def test_what_is_no_metadata_is_told_as_a_problem(
    cli: CommandLine, path: Path, text: str, line: int
) -> None:
    path.write_text(text, encoding="utf-8")
    done = cli("metadata", "validate", "--json")
    assert done.code == 2
    assert json.loads(done.out)["problems"][0]["line"] == line


def test_no_file_is_fine(cli: CommandLine) -> None:
    done = cli("metadata", "validate")
    assert done.code == 0
    assert "is not there, which is fine" in done.err


def test_the_daemon_of_the_home_is_asked_with_the_homes_key(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = tmp_path / "user"
    user.mkdir()
    with http_server("--toolsets", "trace", home=user) as (url, _):
        home = user / "quarterdeck"
        monkeypatch.setenv("QUARTERDECK_HOME", str(home))
        # Offered by the daemon, left out by its choice of toolsets, and by neither.
        file = home / "metadata.yaml"
        file.write_text(
            "tools:\n  trace_get: {title: x}\n  memory_store: {title: x}\n", encoding="utf-8"
        )
        # The key is for the daemon, not for whoever the environment puts in between.
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        done = cli("metadata", "validate")
        monkeypatch.delenv("HTTP_PROXY")
        assert done.code == 0, done.err
        assert f"checked against the daemon at {url}" in done.err
        file.write_text(BAD, encoding="utf-8")
        assert cli("metadata", "validate").code == 2
        file.write_text("tools:\n  trace_get: {title: x}\n", encoding="utf-8")
        asked = ("metadata", "validate", "--url", f"{url}/mcp")
        assert cli(*asked).code == 6
        assert cli(*asked, "--token", key_of(user)).code == 0
        monkeypatch.setenv("QUARTERDECK_TOKEN", key_of(user))
        done = cli(*asked)
        assert done.code == 0, done.err
        assert key_of(user) not in done.err + done.out


def _named(name: str) -> str:
    return name


def test_a_server_is_asked_for_all_pages_and_for_templates(cli: CommandLine, path: Path) -> None:
    server: FastMCP[Any] = FastMCP("other", list_page_size=2)
    for number in range(5):
        server.tool(lambda where="": where, name=f"tool_{number}")
        server.resource(f"quarterdeck://resource/{number}", name=f"r{number}")(lambda: "text")
        server.resource(f"quarterdeck://template/{number}/{{name}}", name=f"t{number}")(_named)
        server.prompt(lambda topic="": topic, name=f"prompt_{number}")
    path.write_text(
        "tools:\n  tool_4: {arguments: {where: {description: x}}}\n"
        "resources:\n  quarterdeck://resource/4: {title: x}\n"
        "resource_templates:\n  quarterdeck://template/4/{name}: {title: x}\n"
        "prompts:\n  prompt_4: {arguments: {topic: {description: x}}}\n",
        encoding="utf-8",
    )
    assert cli("metadata", "validate").code == 2
    with serving(server) as url:
        done = cli("metadata", "validate", "--url", url, "--json")
        assert done.code == 0, done.out + done.err
        assert json.loads(done.out) == {
            "path": str(path),
            "against": url,
            "valid": True,
            "problems": [],
        }
        path.write_text("tools:\n  memory_store: {title: x}\n", encoding="utf-8")
        assert cli("metadata", "validate", "--url", url).code == 2


@pytest.mark.parametrize(
    ("url", "code"), [("http://127.0.0.1:9/mcp", 6), ("server.py", 2), ("file:///etc/passwd", 2)]
)
def test_a_server_that_cannot_be_asked_is_an_error_of_its_own(
    cli: CommandLine, url: str, code: int
) -> None:
    refused = cli("metadata", "validate", "--url", url)
    assert refused.code == code, refused.err
    assert f"{url!r}" in refused.err
