"""A fleet of scripted agents, commanded from the terminal."""

import itertools
import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.daemons import ANSWER_SECONDS, deck_home
from tests.support.servers import QUARTERDECK, environment


@dataclass(frozen=True)
class CommandedFleet:
    """The home of a user whose daemon runs agents."""

    home: Path

    @property
    def environ(self) -> Mapping[str, str]:
        return environment(self.home)

    @property
    def deck_home(self) -> Path:
        return deck_home(self.home)

    def run(self, *arguments: str, typed: str = "") -> "subprocess.CompletedProcess[str]":
        """Run one command to its end, with stdin from a pipe."""
        return subprocess.run(
            [QUARTERDECK, *arguments],
            env=self.environ,
            input=typed,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=ANSWER_SECONDS,
            check=False,
        )

    def ok(self, *arguments: str, typed: str = "") -> str:
        """Run a command that succeeds, and return what it printed."""
        done = self.run(*arguments, typed=typed)
        assert done.returncode == 0, f"{done.stdout}{done.stderr}"
        return done.stdout

    def answer(self, *arguments: str) -> Any:  # noqa: ANN401 - whatever the command answers
        """Run a command that succeeds, and return its JSON."""
        return json.loads(self.ok(*arguments, "--json"))

    def create(self, name: str, task: str = "/say ready", *, until: str = "idle") -> str:
        """Create an agent on the demo project, wait for it, and return its name."""
        self.ok("agents", "create", name, "--project", "Demo", task)
        self.ok("agents", "wait", name, "--until", until, "--timeout", "40")
        return name

    def await_status(self, name: str, status: str) -> None:
        """Wait until an agent stands so; pytest-timeout is the limit."""
        while self.answer("agents", "show", name)["agent"]["status"] != status:
            self.run("agents", "wait", name, "--until", "changed", "--timeout", "1")

    def workspace(self, name: str) -> Path:
        return Path(self.answer("agents", "show", name)["agent"]["workspace"])

    def open_question(self, name: str) -> Any:  # noqa: ANN401 - as it is listed
        (question,) = self.answer("questions", "list", "--agent", name)["questions"]
        return question

    def newest_call(self) -> str:
        """Return the id of the call that was recorded last."""
        return self.answer("traces", "list")["traces"][0]["traceId"]

    def calls_since(self, trace_id: str) -> list[str]:
        """Return the names of the calls that were recorded after one, newest first."""
        traces = self.answer("traces", "list", "--limit", "100")["traces"]
        later = itertools.takewhile(lambda trace: trace["traceId"] != trace_id, traces)
        return [trace["workflowId"] for trace in later]
