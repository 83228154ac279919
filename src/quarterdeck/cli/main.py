"""The entry of the command line: finds the command, runs it, and words every error."""

import json
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from quarterdeck import __version__
from quarterdeck.cli.help import overview
from quarterdeck.cli.program import Invocation, Program
from quarterdeck.errors import InternalError, InvalidInput, QuarterdeckError

if TYPE_CHECKING:
    from cyclopts import App, CycloptsError

logger = logging.getLogger(__name__)

ABOUT = "One MCP server from which to command a fleet of coding agents."
INTERRUPTED = 130  # what shells report for Ctrl-C
BROKEN_PIPE = 141  # what shells report for a reader that went away


class Command(NamedTuple):
    """`place` is imported only when the command is used."""

    name: str
    summary: str
    place: str


COMMANDS = (
    Command("up", "Start the daemon: MCP and a status page over HTTP.", "quarterdeck.cli.up:up"),
    Command("down", "Stop the daemon.", "quarterdeck.cli.daemon:down"),
    Command("status", "Say whether the daemon runs, and where.", "quarterdeck.cli.daemon:status"),
    Command("logs", "Show the daemon's log.", "quarterdeck.cli.daemon_log:logs"),
    Command(
        "upgrade",
        "Restart the daemon as the version that is installed now.",
        "quarterdeck.cli.daemon:upgrade",
    ),
    Command(
        "reload",
        "Let the daemon read metadata.yaml again, and tell its clients.",
        "quarterdeck.cli.reload:reload",
    ),
    Command("mcp", "Serve MCP over stdio, for clients that launch it.", "quarterdeck.cli.mcp:mcp"),
    Command("install", "Let an MCP client start Quarterdeck.", "quarterdeck.cli.install:install"),
    Command(
        "uninstall",
        "Take out of an MCP client what install put in.",
        "quarterdeck.cli.install:uninstall",
    ),
    Command(
        "service",
        "Keep Quarterdeck running, also after a restart of the machine.",
        "quarterdeck.cli.service:app",
    ),
    Command(
        "agents",
        "Create agents, give them work, watch them, take what they made.",
        "quarterdeck.cli.agents.app:app",
    ),
    Command("questions", "See and answer what agents ask.", "quarterdeck.cli.questions:app"),
    Command("projects", "See and change what agents work on.", "quarterdeck.cli.projects:app"),
    Command(
        "roles",
        "See and change which agents do the work, and what they may do.",
        "quarterdeck.cli.roles:app",
    ),
    Command("memory", "Store, find and delete shared memory.", "quarterdeck.cli.memory:app"),
    Command("traces", "Read the record of every call.", "quarterdeck.cli.traces:app"),
    Command("token", "Let clients in by a token, and take it back.", "quarterdeck.cli.tokens:app"),
    Command(
        "config", "Show what is configured, and where it was set.", "quarterdeck.cli.config:app"
    ),
    Command(
        "metadata",
        "See and change the words that a model reads.",
        "quarterdeck.cli.metadata.app:app",
    ),
    Command("db", "Show and upgrade the database.", "quarterdeck.cli.db:app"),
    Command(
        "backup", "Write everything that is kept into one file.", "quarterdeck.cli.backup:backup"
    ),
    Command(
        "restore", "Replace everything that is kept by a backup.", "quarterdeck.cli.restore:restore"
    ),
    Command(
        "clean",
        "Remove what is left of agents that were deleted long ago.",
        "quarterdeck.cli.clean:clean",
    ),
    Command(
        "doctor",
        "Say what is there, what is wrong and what to do.",
        "quarterdeck.cli.doctor:doctor",
    ),
)


def run(program: Program, arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code; errors are printed, never raised."""
    tokens = tuple(sys.argv[1:] if arguments is None else arguments)
    invocation = Invocation(program)
    try:
        code = dispatch(invocation, tokens)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the boundary of this surface
        return _failed(_unwrapped(error), invocation, as_json="--json" in tokens)
    return code


def dispatch(invocation: Invocation, tokens: Sequence[str]) -> int:
    """Run one command and return the exit code; errors are raised."""
    tokens = tuple(tokens)
    if _is_about_program(tokens):
        return 0
    from cyclopts import CycloptsError

    launcher = _launcher(invocation)
    try:
        result = launcher(
            tokens, exit_on_error=False, print_error=False, result_action="return_value"
        )
    except CycloptsError as error:
        raise _usage_error(error) from error
    return result or 0


def _is_about_program(tokens: tuple[str, ...]) -> bool:
    if tokens in ((), ("--help",), ("-h",)):
        print(overview(ABOUT, [(command.name, command.summary) for command in COMMANDS]))
    elif tokens == ("--version",):
        print(f"quarterdeck {__version__}")
    else:
        return False
    return True


def _launcher(invocation: Invocation) -> "App":
    """Return what takes the global options, wherever they stand, and runs the rest."""
    import asyncio
    import inspect

    from cyclopts import Parameter

    app = command_tree()

    @app.meta.default
    def launch(
        *tokens: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
        home: Annotated[
            Path | None, Parameter(help="Use this home instead of the configured one.")
        ] = None,
    ) -> int | None:
        if _is_about_program(tokens):
            return None
        invocation.home = home
        command, bound, injected = app.parse_args(tokens, exit_on_error=False, print_error=False)
        result = command(*bound.args, **bound.kwargs, **dict.fromkeys(injected, invocation))
        return asyncio.run(result) if inspect.iscoroutine(result) else result

    return app.meta


def command_tree() -> "App":
    """Return all commands, none of them imported yet."""
    from cyclopts import App

    from quarterdeck.cli.help import ColumnFormatter

    app = App(
        name="quarterdeck",
        help_flags=(),
        version_flags=(),
        help_format="plaintext",
        help_formatter=ColumnFormatter(),
    )
    app.meta.help_flags = app.meta.version_flags = ()
    app.meta.suppress_keyboard_interrupt = False
    for command in COMMANDS:
        # Commands that are functions would inherit that nothing is a help flag.
        is_group = command.place.endswith(":app")
        flags = {} if is_group else {"help_flags": ("--help", "-h")}
        app.command(command.place, name=command.name, **flags)
    return app


def _usage_error(error: "CycloptsError") -> InvalidInput:
    command = " ".join(("quarterdeck", *(error.command_chain or ())))
    return InvalidInput(str(error).strip().removesuffix("."), hint=f"run '{command} --help'")


def _failed(error: BaseException, invocation: Invocation, *, as_json: bool) -> int:
    if isinstance(error, BrokenPipeError):
        # Python flushes stdout once more on its way out, and would complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return _report(_known(error), invocation, as_json=as_json)


def _known(error: BaseException) -> QuarterdeckError:
    if isinstance(error, QuarterdeckError):
        return error
    logger.debug("The command failed", exc_info=error)
    failure = InternalError()
    failure.details["type"] = type(error).__name__
    failure.hint = "run it again with QUARTERDECK_LOG_LEVEL=debug to see where it failed"
    return failure


def _unwrapped(error: BaseException) -> BaseException:
    """Return the one error inside of what a task group put around it."""
    match error:
        case BaseExceptionGroup(exceptions=(BaseException() as inner,)):
            return _unwrapped(inner)
        case _:
            return error


def _report(error: QuarterdeckError, invocation: Invocation, *, as_json: bool) -> int:
    redactor = invocation.redactor()
    if as_json:
        print(redactor.json(json.dumps(error.body(), ensure_ascii=False, default=str)))
    reason = f" ({error.details['reason']})" if "reason" in error.details else ""
    print(f"error: {redactor.text(error.message + reason)}", file=sys.stderr)
    if error.hint:
        print(f"\nhint: {redactor.text(error.hint)}", file=sys.stderr)
    return error.exit_code
