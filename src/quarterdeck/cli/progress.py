"""A bar for work that takes a while, where somebody can see it."""

import sys
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Protocol

from quarterdeck.cli.render import printable

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from rich.progress import Progress

LONGEST = 60  # what leaves room for the bar


class Shown(Protocol):
    """Is told how far the work is."""

    def tell(self, what: str, done: int, total: int) -> None: ...

    def say(self, what: str) -> None:
        """Show what is being done, when nobody knows how far it is."""
        ...

    def hidden(self) -> "AbstractContextManager[object]":
        """Make room for a question."""
        ...


@contextmanager
def shown_progress() -> Generator[Shown]:
    """Show a bar on stderr while inside; on a terminal alone."""
    if not sys.stderr.isatty():
        yield Silent()
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        yield Bar(progress)


class Silent:
    """Implements `Shown` for a log or a pipe."""

    def tell(self, what: str, done: int, total: int) -> None:
        pass

    def say(self, what: str) -> None:
        pass

    def hidden(self) -> "AbstractContextManager[object]":
        return nullcontext()


class Bar:
    """Implements `Shown` with one bar, whatever is being done."""

    def __init__(self, progress: "Progress") -> None:
        self._progress = progress
        self._task = progress.add_task("", total=None)

    def tell(self, what: str, done: int, total: int) -> None:
        self._progress.update(self._task, description=what, completed=done, total=total)

    def say(self, what: str) -> None:
        from rich.markup import escape

        self._progress.update(self._task, description=escape(printable(what)[:LONGEST]), total=None)

    @contextmanager
    def hidden(self) -> Generator[None]:
        self._progress.stop()
        try:
            yield
        finally:
            self._progress.start()
