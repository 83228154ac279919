"""Programs and daemons of different versions, each from a wheel of its own."""

from pathlib import Path

import psutil
import pytest

from quarterdeck.daemon.versions import is_compatible, is_newer
from tests.support.daemons import (
    address_of,
    await_end_of_offer,
    bridge,
    http,
    quarterdeck,
    running,
    start,
)
from tests.support.releases import NEWER, NEXT_MAJOR, OLDER, Release, install
from tests.support.servers import END_SECONDS
from tests.support.slow_calls import slow_call, slow_daemon

pytestmark = [
    pytest.mark.timeout(180),
    pytest.mark.xdist_group("versions"),  # one build of each
]

REPLACING = f"Replacing the daemon of version {OLDER} by {NEWER}"
BUSY = f"The daemon is version {OLDER} and busy; this program is {NEWER}."
MISMATCH_HINT = "hint: run 'quarterdeck upgrade' with the newer of both"


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return install(OLDER, tmp_path_factory.mktemp("older"))


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return install(NEWER, tmp_path_factory.mktemp("newer"))


@pytest.fixture(scope="module")
def next_major(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return install(NEXT_MAJOR, tmp_path_factory.mktemp("next"))


@pytest.mark.parametrize(
    ("version", "than", "expected"),
    [
        ("0.2.0", "0.1.0", True),
        ("0.10.0", "0.9.9", True),
        ("1.0.0", "0.9.0", True),
        ("0.1.0", "0.1.0", False),
        ("0.1.0", "0.2.0", False),
        ("0.2.0rc1", "0.2.0", False),
        ("0.2.0.dev3+local", "0.1.9", True),
        ("0.1.0", "unheard of", True),
    ],
)
def test_numbers_are_compared_as_numbers(*, version: str, than: str, expected: bool) -> None:
    assert is_newer(version, than) is expected


def test_those_of_one_major_version_fit_together() -> None:
    assert is_compatible("1.2.0", "1.10.3rc1")
    assert not is_compatible("1.2.0", "2.0.0")


def test_an_older_program_works_with_a_newer_daemon_in_silence(
    older: Release, newer: Release, home: Path
) -> None:
    daemon = start(home=home, program=newer.program)
    assert daemon.version == NEWER
    with bridge(home=home, program=older.program) as client:
        client.call("memory_store", key="greeting", value={"text": "ahoy"})
        assert client.end() == (0, "")
    assert address_of(home) == daemon


def test_an_older_program_does_not_restart_a_newer_daemon(
    older: Release, newer: Release, home: Path
) -> None:
    daemon = start(home=home, program=newer.program)
    refused = quarterdeck("upgrade", home=home, program=older.program)
    assert refused.returncode == 4
    assert f"The daemon is version {NEWER}, and this program is {OLDER}" in refused.stderr
    assert address_of(home) == daemon


def test_a_newer_program_replaces_an_idle_daemon_and_says_so(
    older: Release, newer: Release, home: Path
) -> None:
    replaced = start("--toolsets", "memory", home=home, program=older.program)
    assert replaced.version == OLDER
    with bridge(home=home, program=older.program) as connected:
        connected.call("memory_store", key="greeting", value={"text": "ahoy"})
        with bridge(home=home, program=newer.program) as client:
            assert client.call("memory_retrieve", key="greeting")["value"] == {"text": "ahoy"}
            now = address_of(home)
            assert (now.version, now.flags) == (NEWER, replaced.flags)
            assert client.end() == (0, f"{REPLACING}\nStarting the Quarterdeck daemon\n")
        assert connected.call("memory_retrieve", key="greeting")["value"] == {"text": "ahoy"}
        assert connected.end() == (0, "")


def test_a_newer_program_uses_a_busy_daemon_as_it_is_until_an_upgrade(
    older: Release, newer: Release, home: Path
) -> None:
    with (
        slow_daemon(home=home, python=older.python) as daemon,
        bridge(home=home, program=older.program) as before,
        slow_call() as call,
    ):
        number = before.ask("wait", port=call.port)
        call.await_start()
        with bridge(home=home, program=newer.program) as client:
            client.call("memory_store", key="greeting", value={"text": "ahoy"})
            assert address_of(home).pid == daemon.pid
            with running("upgrade", home=home, program=newer.program) as upgrade:
                await_end_of_offer(home)
                assert upgrade.poll() is None, "it waits for the call"
                call.let_go("finished")
                assert before.answer_to(number)["structuredContent"] == {"result": "finished"}
                assert upgrade.wait(END_SECONDS) == 0
                (_, told) = upgrade.communicate()
            now = address_of(home)
            assert now.version == NEWER
            assert told.endswith(f"Version {NEWER} is running at {now.url} (it was {OLDER})\n")
            for connected in (before, client):
                assert connected.call("memory_retrieve", key="greeting")["value"]
            assert client.end() == (0, f"{BUSY} 'quarterdeck upgrade' restarts it\n")
        assert before.end() == (0, "")


def test_a_program_of_an_older_major_version_refuses_and_changes_nothing(
    older: Release, next_major: Release, home: Path
) -> None:
    daemon = start(home=home, program=next_major.program)
    refused = quarterdeck("mcp", home=home, program=older.program)
    assert (refused.returncode, refused.stdout) == (4, "")
    assert refused.stderr.startswith(
        f"error: The daemon is version {NEXT_MAJOR}, and this program is {OLDER}\n"
    )
    assert MISMATCH_HINT in refused.stderr
    assert address_of(home) == daemon
    assert http(home, "GET", "/healthz").json()["instance"] == daemon.instance


def test_a_program_of_a_newer_major_version_replaces_an_idle_daemon_but_not_a_busy_one(
    older: Release, next_major: Release, home: Path
) -> None:
    with (
        slow_daemon(home=home, python=older.python) as daemon,
        bridge(home=home, program=older.program) as before,
        slow_call() as call,
    ):
        number = before.ask("wait", port=call.port)
        call.await_start()
        refused = quarterdeck("mcp", home=home, program=next_major.program)
        assert (refused.returncode, refused.stdout) == (4, "")
        assert f"The daemon is version {OLDER}, and this program is {NEXT_MAJOR}" in refused.stderr
        assert MISMATCH_HINT in refused.stderr
        assert address_of(home).pid == daemon.pid
        call.let_go("finished")
        before.answer_to(number)

        with bridge(home=home, program=next_major.program) as client:
            client.call("memory_list")
            assert address_of(home).version == NEXT_MAJOR
            assert "Replacing the daemon" in client.end()[1]
        assert not psutil.pid_exists(daemon.pid) or daemon.wait(END_SECONDS) == 0
