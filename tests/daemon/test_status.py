"""What the daemon says of itself: to everybody, to the commands of its owner, and to a person."""

import json
from pathlib import Path

import httpx2
import pytest
from dirty_equals import IsPositiveFloat, IsStr

from quarterdeck import __version__
from tests.support.daemons import address_of, bridge, deck_home, http, quarterdeck
from tests.support.servers import END_SECONDS
from tests.support.slow_calls import slow_call, slow_daemon

pytestmark = [
    pytest.mark.timeout(120),  # a busy machine takes its time to start so many processes
    pytest.mark.xdist_group("daemon"),
]


def test_a_daemon_says_what_it_is_and_does_and_stops_only_when_idle(home: Path) -> None:
    with slow_daemon("--toolsets", "memory", home=home) as daemon:
        address = address_of(home)
        known = {
            "url": address.url,
            "pid": daemon.pid,
            "started_at": IsPositiveFloat,
            "instance": address.instance,
            "version": __version__,
            "flags": ["--port=0", "--toolsets=memory"],
            "managed": False,
        }
        health = httpx2.get(f"{address.url}/healthz", trust_env=False)
        assert health.json() == {"ok": True, "instance": address.instance}

        with bridge(home=home) as client, slow_call() as call:
            number = client.ask("wait", port=call.port)
            call.await_start()
            assert http(home, "GET", "/control").json() == {
                **known,
                "running": 1,
                "path": IsStr,
            }
            assert status(home) == {
                "running": True,
                "home": str(deck_home(home)),
                **known,
                "calls": 1,
                "log": str(deck_home(home) / "logs" / "daemon.log"),
                "program": __version__,
            }
            refused = http(home, "POST", "/control/stop-if-idle")
            assert refused.status_code == 409
            assert refused.json()["error"]["details"]["running"] == 1
            call.let_go("ahoy")
            client.answer_to(number)

        told = quarterdeck("status", home=home)
        assert (told.returncode, told.stderr) == (0, "")
        assert told.stdout.splitlines()[0] == (
            f"running    {address.url}, process {daemon.pid}, 0 calls running"
        )
        accepted = http(home, "POST", "/control/stop-if-idle")
        assert (accepted.status_code, accepted.json()) == (202, {"stopping": True})
        assert daemon.wait(END_SECONDS) == 0


def status(home: Path) -> dict[str, object]:
    done = quarterdeck("status", "--json", home=home)
    assert done.returncode == 0
    return json.loads(done.stdout)


def test_the_status_of_what_does_not_run_has_an_exit_code_of_its_own(home: Path) -> None:
    told = quarterdeck("status", home=home)
    assert (told.returncode, told.stdout, told.stderr) == (3, "not running\n", "")
    asked = quarterdeck("status", "--json", home=home)
    assert asked.returncode == 3
    assert json.loads(asked.stdout) == {"running": False, "home": str(deck_home(home))}
