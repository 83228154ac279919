"""The keeper: a process beside the daemon that starts agents, and ends them when it is gone.

Run as `python -m quarterdeck.clients.processes.program FD`, where FD is the socket to the daemon.
The socket is the lifeline too: when it closes, however the daemon ended, the keeper ends all that
it ever started, and then itself. It loads the standard library alone and stays small.

On Linux the keeper is a subreaper, so that whatever an agent leaves behind becomes the keeper's
child, and an agent dies with the keeper. Elsewhere neither is so: there, what left its parent is
known by the mark in its environment only.

From the daemon come lines of JSON, a spawn's three files before its line:
    {"do": "spawn", "id", "command", "cwd", "env"}    {"do": "end", "id", "grace"}
To the daemon go:
    {"event": "started", "id", "pid", "started"}      {"event": "failed", "id", "reason"}
    {"event": "exited", "id", "code"}                 {"event": "gone", "id"}
"""

import json
import os
import selectors
import signal
import socket
import sys
import time
from collections import deque
from contextlib import suppress

from quarterdeck.clients.processes.ending import LOOK_SECONDS, Ending
from quarterdeck.clients.processes.kin import Kin
from quarterdeck.clients.processes.spawning import Agent, CannotSpawn, become_subreaper, spawn
from quarterdeck.clients.processes.table import Table, all_processes, own_children

FILES_OF_A_SPAWN = 3
LAST_GRACE_SECONDS = 1.5
# A look at a busy machine costs; it may take this part of the time at most.
LOOKING_SHARE = 0.2
# Some milliseconds of nothing else, in which whoever lives for one is met.
QUICK_ROUNDS = 50


class KeeperProgram:
    def __init__(self, daemon: socket.socket, *, is_subreaper: bool) -> None:
        self._daemon = daemon
        self._is_subreaper = is_subreaper
        self._agents: dict[str, Agent] = {}
        self._endings: dict[str, Ending] = {}
        self._files: deque[int] = deque()
        self._unread = b""
        self._earliest_look = self._next_look = 0.0
        self._is_asked_to_end = False
        self._is_childless = True
        self._selector = selectors.DefaultSelector()
        self._selector.register(daemon, selectors.EVENT_READ, self._read_requests)
        self._selector.register(self._signals(), selectors.EVENT_READ, self._drain_signals)

    def run(self) -> None:
        while not self._is_asked_to_end:
            self._work_once()
        self._selector.unregister(self._daemon)
        self._end_everything()

    def _end_everything(self) -> None:
        ending, is_over = Ending(grace=LAST_GRACE_SECONDS), False
        while not is_over:
            table = all_processes()
            is_over = ending.step(table, self._everything(table))
            self._wait(LOOK_SECONDS)
            self._reap()
            if ending.is_killing:
                self._kill_children()
            # Nobody leaves a subreaper: with no children, it has no descendants either.
            if self._is_subreaper and not ending.is_refused:
                is_over = self._is_childless

    def _kill_children(self) -> None:
        """Kill without a look at the whole machine, which some fork faster than."""
        for _ in range(QUICK_ROUNDS):
            for pid in own_children():
                with suppress(PermissionError):
                    os.kill(pid, signal.SIGKILL)  # not waited for yet, so it is the one we mean
            self._reap()

    def _work_once(self) -> None:
        until_look = max(0.0, self._next_look - time.monotonic()) if self._endings else None
        self._wait(until_look)
        self._reap()
        if self._endings and time.monotonic() >= self._next_look:
            self._look()

    def _wait(self, seconds: float | None) -> None:
        for key, _ in self._selector.select(seconds):
            key.data()

    def _signals(self) -> int:
        """Return a pipe that wakes us for signals.

        They are handled, not ignored: what is ignored would stay so in the agents.
        """
        wakes, self._waker = os.pipe()
        os.set_blocking(wakes, False)
        os.set_blocking(self._waker, False)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, _wake)
        signal.signal(signal.SIGTERM, self._end)
        self._wakes = wakes
        return wakes

    def _drain_signals(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._wakes, 4096)

    def _end(self, *_: object) -> None:
        self._is_asked_to_end = True

    def _read_requests(self) -> None:
        try:
            received, files, _, _ = socket.recv_fds(self._daemon, 1 << 16, FILES_OF_A_SPAWN)
        except ConnectionError:
            received, files = b"", []
        self._files.extend(files)
        if not received:
            self._end()
            return
        *lines, self._unread = (self._unread + received).split(b"\n")
        for line in filter(None, lines):
            request = json.loads(line)
            if request["do"] == "spawn":
                self._spawn(request)
            else:
                self._begin_ending(request["id"], request["grace"])

    def _spawn(self, request: dict[str, object]) -> None:
        files = [self._files.popleft() for _ in range(FILES_OF_A_SPAWN)]
        try:
            agent = spawn(request, files)
        except CannotSpawn as error:
            self._tell("failed", str(request["id"]), reason=str(error))
        else:
            self._agents[agent.id] = agent
            self._tell("started", agent.id, pid=agent.pid, started=agent.started)
        finally:
            for file in files:
                os.close(file)

    def _reap(self) -> None:
        self._is_childless = False
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                self._note_exit(ended[0], os.waitstatus_to_exitcode(ended[1]))
                self._next_look = self._earliest_look
        except ChildProcessError:
            self._is_childless = True

    def _note_exit(self, pid: int, code: int) -> None:
        for agent in self._agents.values():
            if agent.pid == pid and not agent.has_exited:
                agent.note_exit(code)
                self._tell("exited", agent.id, code=code)

    def _begin_ending(self, agent_id: str, grace: float) -> None:
        if agent_id not in self._agents:
            self._tell("gone", agent_id)
        elif agent_id in self._endings:
            self._endings[agent_id].hurry(grace)
        else:
            self._endings[agent_id] = Ending(grace=grace)
        self._next_look = self._earliest_look

    def _look(self) -> None:
        """Take one look at the machine for all agents that are ending."""
        began = time.monotonic()
        table = all_processes()
        kin = self._kin(table)
        # Before anybody counts as gone, so that its exit is told first.
        self._reap()
        for agent_id, ending in list(self._endings.items()):
            if ending.step(table, kin.of(self._agents[agent_id])):
                del self._endings[agent_id], self._agents[agent_id]
                self._tell("gone", agent_id)
        now = time.monotonic()
        self._earliest_look = now + (now - began) / LOOKING_SHARE
        is_soon = any(ending.seems_over for ending in self._endings.values())
        self._next_look = max(now + LOOK_SECONDS * (not is_soon), self._earliest_look)

    def _everything(self, table: Table) -> set[int]:
        if self._is_subreaper:
            return set(table.children(os.getpid()))
        kin = self._kin(table)
        return {pid for agent in self._agents.values() for pid in kin.of(agent)}

    def _kin(self, table: Table) -> Kin:
        return Kin(table, self._agents.values(), is_subreaper=self._is_subreaper)

    def _tell(self, event: str, agent_id: str, **facts: object) -> None:
        line = json.dumps({"event": event, "id": agent_id, **facts})
        with suppress(ConnectionError):  # nobody is left to be told
            self._daemon.sendall(line.encode() + b"\n")


def _wake(*_: object) -> None:
    """Do nothing: the pipe has been written to."""


def main() -> None:
    KeeperProgram(socket.socket(fileno=int(sys.argv[1])), is_subreaper=become_subreaper()).run()


if __name__ == "__main__":
    main()
