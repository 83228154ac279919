"""Backups and restores under processes that go on working, and under `kill -9`."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.app import Quarterdeck, open_quarterdeck
from quarterdeck.daemon.address import find
from quarterdeck.repositories.sql import migrate
from quarterdeck.settings import load_settings
from tests.support.archives import back_up, found, keys, restore, store
from tests.support.children import Child, child, next_line
from tests.support.raw_stdio import RawStdio, raw_stdio, tool_call
from tests.support.servers import END_SECONDS, kill_daemon

RESTORER = Path(__file__).parents[1] / "support" / "restorer.py"
OLD = [f"old{number}" for number in range(40)]
NEW = [f"new{number}" for number in range(25)]


def settings_of(home: Path, url: str) -> dict[str, str]:
    return {"QUARTERDECK_HOME": str(home), **({"QUARTERDECK_DATABASE_URL": url} if url else {})}


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    if request.param == "sqlite":
        return ""
    url: str = request.getfixturevalue("postgres_url")
    migrate.upgrade_postgres(url)
    return url


def quarterdeck(home: Path, url: str, *arguments: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", "quarterdeck", *arguments],
        env={**os.environ, **settings_of(home, url)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=END_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


class Client:
    """A client that stays connected."""

    def __init__(self, server: RawStdio) -> None:
        self._server = server
        self._number = 0

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        self._number += 1
        self._server.send(tool_call(self._number, tool, arguments))
        while "id" not in (answer := self._server.answer()):
            pass  # a notification: after a restart, a client is told to look again
        assert answer["id"] == self._number
        assert not answer["result"].get("isError"), answer
        return answer["result"]["structuredContent"]

    def keys(self) -> list[str]:
        return [row["key"] for row in self.call("memory_list")["keys"]]


def test_a_connected_server_goes_on_over_a_restore_and_sees_what_was_restored(
    tmp_path: Path, url: str
) -> None:
    with raw_stdio(tmp_path, settings_of(tmp_path, url)) as server:
        client = Client(server)
        client.call("memory_store", key="first", value={"text": "the anchor"})
        archive = quarterdeck(tmp_path, url, "backup")
        client.call("memory_store", key="second", value={"text": "the mast"})
        quarterdeck(tmp_path, url, "restore", archive, "--yes")
        assert client.keys() == ["first"]
        assert client.call("memory_search", query="mast")["results"] == []
        client.call("memory_store", key="third", value={"text": "the sail"})
        assert client.keys() == ["first", "third"]
        [hit] = client.call("memory_search", query="sail")["results"]
        assert hit["key"] == "third"
        traced = [row["workflowId"] for row in client.call("trace_list", limit=50)["traces"]]
        assert "cli.restore" in traced
    assert json.loads(quarterdeck(tmp_path, url, "doctor", "--json"))["ok"] is True


def test_a_client_of_the_daemon_goes_on_over_a_restore(tmp_path: Path) -> None:
    home = tmp_path / "quarterdeck"
    try:
        with raw_stdio(home, settings_of(home, ""), standalone=False) as server:
            client = Client(server)
            client.call("memory_store", key="first", value={"text": "the anchor"})
            archive = quarterdeck(home, "", "backup")
            client.call("memory_store", key="second", value={"text": "the mast"})
            before = find(home)
            quarterdeck(home, "", "restore", archive, "--yes")
            after = find(home)
            assert before is not None
            assert after is not None
            assert before.instance != after.instance, "it was stopped while its state was replaced"
            assert client.keys() == ["first"]
            client.call("memory_store", key="third", value={"text": "the sail"})
            assert client.keys() == ["first", "third"]
    finally:
        kill_daemon(tmp_path)


@asynccontextmanager
async def opened(home: Path, url: str) -> AsyncGenerator[Quarterdeck]:
    flags = {"home": home, "database.url": url or None}
    async with open_quarterdeck(load_settings(flags=flags, environ={})) as deck:
        yield deck


async def prepared(home: Path, url: str) -> Path:
    """Return an archive of the new state; the old one is in place."""
    async with opened(home, url) as deck:
        for key in NEW:
            await store(deck, key, "fresh " + "x" * 1000)
        (home / "policies").mkdir()
        (home / "policies" / "new.yaml").write_text("new", encoding="utf-8")
        archive = home / "new.zip"
        await back_up(deck, archive)
    async with opened(home / "other", "") as empty:
        nothing = await back_up(empty, home / "empty.zip")
    async with opened(home, url) as deck:
        await restore(deck, nothing.path, database_only=True)
        for key in OLD:
            await store(deck, key, "stale " + "y" * 1000)
    return archive


async def state(home: Path, url: str) -> list[str]:
    """Return what is kept, after looking at it from all sides."""
    async with opened(home, url) as deck:
        kept = await keys(deck)
        assert len(await found(deck, "fresh")) == (10 if kept[:1] == NEW[:1] else 0)
        assert len(await found(deck, "stale")) == (10 if kept[:1] == OLD[:1] else 0)
        return kept


@pytest.mark.timeout(300)
async def test_a_restore_that_is_killed_leaves_the_old_state_or_the_new_one(
    tmp_path: Path, url: str
) -> None:
    archive = await prepared(tmp_path, url)
    steps = 1
    while await killed_after(steps, tmp_path, url, archive):
        assert await state(tmp_path, url) == OLD
        steps += 1
    assert steps > 5
    assert await state(tmp_path, url) == NEW


async def killed_after(steps: int, home: Path, url: str, archive: Path) -> bool:
    """Kill a restore at its n-th step; return whether it came so far without being done."""
    with child(str(RESTORER), str(home), url, str(archive)) as process:
        line = next_line(process)
        for _ in range(steps - 1):
            if "Replacing" in line and line.endswith(done(line)):
                break
            line = go_on(process)
        is_last = "Replacing" in line and line.endswith(done(line))
        if not is_last:
            process.kill()
            process.wait()
            return True
        while line and line != "restored":
            line = go_on(process)
        assert line == "restored"
        return False


def done(line: str) -> str:
    """Return how a line ends when all of it is done."""
    total = line.rpartition("/")[2]
    return f" {total}/{total}"


def go_on(process: Child) -> str:
    assert process.stdin is not None
    process.stdin.write(b"\n")
    process.stdin.flush()
    return next_line(process)


async def test_a_full_disk_is_reported_and_leaves_nothing_behind(tmp_path: Path) -> None:
    async with opened(tmp_path, "") as deck:
        for number in range(50):
            await store(deck, f"k{number}", os.urandom(20_000).hex())
    code, log = backed_up_with_little_room(tmp_path)
    assert code == 6
    assert f"Cannot write to '{tmp_path / 'backups'}'" in log
    assert list((tmp_path / "backups").iterdir()) == []


def backed_up_with_little_room(home: Path) -> tuple[int, str]:
    # No file may grow beyond 400 KiB: an error where a full disk gives one.
    limited = f"ulimit -f 800; exec {sys.executable} -m quarterdeck backup"
    ran = subprocess.run(
        ["/bin/sh", "-c", limited],
        env={**os.environ, **settings_of(home, "")},
        capture_output=True,
        text=True,
        timeout=END_SECONDS,
        check=False,
    )
    return ran.returncode, ran.stderr


async def test_what_a_killed_backup_left_is_cleaned_up_by_the_next(tmp_path: Path) -> None:
    async with opened(tmp_path, "") as deck:
        await store(deck, "k")
        left = tmp_path / "backups" / ".abcdef.partial"
        left.mkdir(parents=True)
        (left / "database.sqlite").touch()
        os.utime(left, (0, 0))
        saved = await back_up(deck)
    assert [str(path) for path in (tmp_path / "backups").iterdir()] == [saved.path]
