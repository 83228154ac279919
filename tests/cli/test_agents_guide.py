"""`docs/agents.md` shows what really happens."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemons import ANSWER_SECONDS
from tests.support.repository import ROOT
from tests.support.servers import QUARTERDECK, environment, kill_daemon

GUIDE = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ")
WENT_AS_SHOWN = {0, 4}


@pytest.fixture
def user(tmp_path: Path) -> Iterator[Path]:
    try:
        yield tmp_path
    finally:
        kill_daemon(tmp_path)


def transcript() -> Iterator[tuple[str, str]]:
    """Yield the commands of the guide, with what they print."""
    for block in re.findall(r"```console\n(.+?)```", GUIDE, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            yield command, printed.strip()


def typed(command: str, environ: dict[str, str]) -> str:
    done = subprocess.run(  # noqa: S602 - a line of the guide, as its reader would type it
        command,
        shell=True,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=ANSWER_SECONDS,
        check=False,
    )
    assert done.returncode in WENT_AS_SHOWN, done.stdout
    return done.stdout.strip()


def test_the_transcript_of_the_guide_is_what_its_commands_print(user: Path) -> None:
    environ = environment(user)
    environ["PATH"] = f"{QUARTERDECK.parent}:{environ['PATH']}"
    typed("quarterdeck up --detach --port 0", environ)
    question = ""
    for command, printed in transcript():
        shown = typed(ID.sub(question, command), environ)
        if found := ID.search(shown):
            question = found[0]
        assert MOMENT.sub("-", ID.sub("-", shown)) == MOMENT.sub("-", ID.sub("-", printed))
