"""Starting a daemon that does not come up."""

import os
import sys
from pathlib import Path

import pytest

from quarterdeck.daemon import launch
from quarterdeck.daemon.address import Address, announce, held_for_life, is_alive
from quarterdeck.daemon.launch import ensure_daemon
from quarterdeck.daemon.log import log_path, open_log
from quarterdeck.errors import DaemonFailed, TimedOut
from tests.support.daemons import deck_home, living_daemons
from tests.support.servers import environment

# Stands where Python would, and ends without a word.
SILENT = "#!/bin/sh\nexit 9\n"


def test_a_daemon_that_ends_without_a_word_is_not_blamed_for_an_older_error(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = home / "python"
    program.write_text(SILENT, encoding="utf-8")
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", os.fspath(program))
    with open_log(deck_home(home)) as log:
        log.write("error: of last week\n\nhint: wait\n")
    with pytest.raises(DaemonFailed) as failed:
        ensure_daemon(deck_home(home), environment(home), say=lambda _: None)
    assert failed.value.message == ("The daemon did not start: its process ended with exit code 9")
    assert failed.value.details == {"exitCode": 9, "log": str(log_path(deck_home(home)))}


def test_a_daemon_that_takes_too_long_is_ended_and_reported(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "START_SECONDS", 0)
    with pytest.raises(TimedOut) as late:
        ensure_daemon(deck_home(home), environment(home), say=lambda _: None)
    assert late.value.details == {"log": str(log_path(deck_home(home)))}
    assert not is_alive(deck_home(home))
    assert living_daemons(home) == []


def test_a_daemon_that_somebody_else_is_starting_is_waited_for_and_used(home: Path) -> None:
    deck = deck_home(home)
    coming = Address("http://127.0.0.1:1", os.getpid(), 1.0, "theirs", "0.1.0", flags=[])

    with held_for_life(deck):
        # It answers only after somebody has begun to wait for it.
        found = ensure_daemon(deck, environment(home), say=lambda _: announce(deck, coming))

    assert found == coming
    assert living_daemons(home) == []
