"""The git program: lists of arguments, a deadline, and a bound on what it may say."""

import asyncio
import os
import re
import signal
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

import anyio

from quarterdeck.clients.git.environment import OPTIONS, surroundings
from quarterdeck.errors import GitFailed, GitMissing, TimedOut

OLDEST = (2, 38)  # the first whose `merge-tree` merges without a work tree
_CHUNK = 1 << 16
_MOST_ANSWER = 1 << 28
_MOST_COMPLAINT = 1 << 16
_GRACE_SECONDS = 2.0
_LOOK_SECONDS = 0.05
_CREDENTIALS = re.compile(r"(://)[^/@\s]+@")


@dataclass(frozen=True)
class Answer:
    """What a command said; `is_cut` if it had more to say than was asked for."""

    code: int
    stdout: bytes
    stderr: str = ""
    is_cut: bool = False

    @property
    def text(self) -> str:
        return self.stdout.decode("utf-8", "surrogateescape").strip()

    @property
    def fields(self) -> list[str]:
        """The parts of an answer to `-z`; names keep bytes that are no UTF-8."""
        return self.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]


@dataclass(frozen=True)
class Git:
    """git at one place.

    Args:
        place: The folder it runs in.
        variables: More environment, such as which index to use.
        held: Open files that live as long as the command, such as a lock.
        deadline_seconds: How long one command may take.
    """

    place: Path
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    held: tuple[int, ...] = ()
    deadline_seconds: float = 600

    def at(self, place: Path) -> "Git":
        return replace(self, place=place)

    def having(self, **variables: str) -> "Git":
        return replace(self, variables={**self.variables, **variables})

    async def read(self, *arguments: str, stdin: bytes = b"", most: int | None = None) -> Answer:
        """Run a command that changes nothing; after `most` bytes it is stopped, and cut short."""
        answer = await self.ask(*arguments, stdin=stdin, most=most)
        return self._sound(arguments, answer)

    async def change(self, *arguments: str, stdin: bytes = b"") -> Answer:
        """Run a command that may change the repository."""
        return self._sound(arguments, await self._run(arguments, stdin, None, locks=True))

    async def ask(self, *arguments: str, stdin: bytes = b"", most: int | None = None) -> Answer:
        """Run a command whose exit code is its answer."""
        return await self._run(arguments, stdin, most, locks=False)

    def _sound(self, arguments: Sequence[str], answer: Answer) -> Answer:
        if answer.code and not answer.is_cut:
            raise GitFailed(arguments, answer.code, answer.stderr)
        return answer

    async def _run(
        self, arguments: Sequence[str], stdin: bytes, most: int | None, *, locks: bool
    ) -> Answer:
        # A file, since a connection that ssh keeps open for the next time holds on to it.
        with tempfile.TemporaryFile() as complaint:
            answer = await self._complete(arguments, stdin, most, locks, complaint)
            complaint.seek(0)
            said = complaint.read(_MOST_COMPLAINT).decode("utf-8", "replace")
        if answer.is_cut and most is None:
            raise GitFailed(arguments, 0, f"it said more than {_MOST_ANSWER} bytes")
        return replace(answer, stderr=_CREDENTIALS.sub(r"\1***@", said))

    async def _complete(
        self,
        arguments: Sequence[str],
        stdin: bytes,
        most: int | None,
        locks: bool,
        complaint: IO[bytes],
    ) -> Answer:
        process = await self._start(arguments, complaint, locks=locks)
        try:
            async with asyncio.timeout(self.deadline_seconds):
                return await _converse(process, stdin, most or _MOST_ANSWER)
        except TimeoutError as error:
            raise TimedOut(
                f"The command 'git {arguments[0]}' took over {self.deadline_seconds:g} seconds",
                details={"arguments": list(arguments)},
                hint="see what keeps git from working in that repository, and try again",
            ) from error
        finally:
            await end_group(process)

    async def _start(
        self, arguments: Sequence[str], complaint: IO[bytes], *, locks: bool
    ) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                "git",
                *OPTIONS,
                *arguments,
                cwd=self.place,
                env=surroundings(self.variables, locks=locks),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=complaint,
                start_new_session=True,  # no terminal to ask at, and a group to end
                pass_fds=self.held,
            )
        except FileNotFoundError as error:
            if self.place.is_dir():
                raise _missing("it is not installed") from error
            raise GitFailed(arguments, 128, f"there is no folder {self.place}") from error


async def check_version(place: Path) -> None:
    """See that git is there and new enough.

    Raises:
        GitMissing: It is not.
    """
    said = (await Git(place).read("version")).text
    found = re.search(r"(\d+)\.(\d+)", said)
    if not found or (int(found[1]), int(found[2])) < OLDEST:
        raise _missing(f"{said!r} is too old")


def _missing(problem: str) -> GitMissing:
    return GitMissing(problem, ".".join(map(str, OLDEST)))


async def end_group(process: asyncio.subprocess.Process) -> None:
    """End a process and all of its group; git gets a moment to take its lock files away."""
    if process.returncode is not None:
        return
    with anyio.CancelScope(shield=True):
        signal_group(process.pid, signal.SIGTERM)
        with anyio.move_on_after(_GRACE_SECONDS):
            await ended(process)
        signal_group(process.pid, signal.SIGKILL)
        await ended(process)


async def ended(process: asyncio.subprocess.Process) -> int:
    """Wait for a process alone; `wait` may wait for all that have its output open."""
    while process.returncode is None:
        with anyio.move_on_after(_LOOK_SECONDS):
            await process.wait()
    return process.returncode


def signal_group(leader: int, number: signal.Signals) -> None:
    """Signal a group of which nobody may be left."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


async def _converse(process: asyncio.subprocess.Process, stdin: bytes, most: int) -> Answer:
    assert process.stdout
    writing = asyncio.ensure_future(_write(process, stdin))
    try:
        stdout, is_cut = await _up_to(process.stdout, most)
        if is_cut:
            await end_group(process)
        code = await ended(process)
        await writing
    finally:
        writing.cancel()
    return Answer(code, stdout, is_cut=is_cut)


async def _write(process: asyncio.subprocess.Process, stdin: bytes) -> None:
    assert process.stdin
    with suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(stdin)
        await process.stdin.drain()
    process.stdin.close()


async def _up_to(stream: asyncio.StreamReader, most: int) -> tuple[bytes, bool]:
    said = bytearray()
    while chunk := await stream.read(_CHUNK):
        said += chunk
        if len(said) > most:
            return bytes(said[:most]), True
    return bytes(said), False
