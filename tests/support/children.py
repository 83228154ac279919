"""Child processes of the tests: started together, and never left behind."""

import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager

Child = subprocess.Popen[bytes]


@contextmanager
def child(*arguments: str) -> Generator[Child]:
    """Run Python with `arguments`; the process is gone afterwards, whatever happens."""
    command = [sys.executable, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def next_line(process: Child) -> str:
    """Return the next line a child prints; empty when it has ended."""
    assert process.stdout is not None
    return process.stdout.readline().decode().strip()


def run_at_once(code: str, *arguments: str, count: int) -> Sequence[str]:
    """Run `code` in several processes that are let go together; return what each printed.

    The code prints a line when it is ready and then reads one, which ends when it may go.
    """
    with ExitStack() as stack:
        children = [stack.enter_context(child("-c", code, *arguments)) for _ in range(count)]
        for process in children:
            assert next_line(process) == "ready"
        for process in children:
            assert process.stdin is not None
            process.stdin.close()
        lines = [next_line(process) for process in children]
        assert [process.wait(30) for process in children] == [0] * count
        return lines
