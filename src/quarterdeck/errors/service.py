"""Errors about the daemon, its database, and who calls."""

from collections.abc import Sequence

from quarterdeck.errors.base import Conflict, Denied, NotFound, Unavailable, closest_name


class TraceNotFound(NotFound):
    """No stored trace has this id; it may have been pruned."""

    code = "TRACE_NOT_FOUND"

    def __init__(self, trace_id: str) -> None:
        super().__init__(
            f"Trace {trace_id!r} not found",
            details={"traceId": trace_id},
            hint="trace_list shows the traces that are kept; older ones are pruned",
        )


class ToolNotFound(NotFound):
    """The client called a tool that this server does not offer."""

    def __init__(self, name: str, offered: Sequence[str]) -> None:
        closest = closest_name(name, offered)
        super().__init__(
            f"Tool {name!r} not found",
            details={"tool": name, **({"closest": closest} if closest else {})},
            hint=f"did you mean {closest!r}?" if closest else "tools/list shows what is offered",
        )


class DatabaseBehind(Conflict):
    """A shared database is not upgraded behind its users' backs; someone has to decide it."""

    def __init__(self, found: str | None, needed: str) -> None:
        super().__init__(
            "The database has not been prepared for this version of Quarterdeck",
            details={"found": found, "needed": needed},
            hint="run 'quarterdeck db upgrade'",
        )


class DatabaseAhead(Conflict):
    """Writing with an older program could lose what the newer one has stored."""

    def __init__(self, found: str, needed: str) -> None:
        super().__init__(
            "The database was written by a newer version of Quarterdeck",
            details={"found": found, "needed": needed},
            hint="install that version or a newer one, or choose another QUARTERDECK_HOME",
        )


class StorageUnavailable(Unavailable):
    """The database is locked, full or away."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            "The database could not be used",
            details={"reason": reason},
            hint="run 'quarterdeck doctor' to see what is wrong",
        )


class DaemonRunning(Conflict):
    """A second daemon would answer for the same state."""

    def __init__(self, home: str, url: str | None) -> None:
        where = f" at {url}" if url else ""
        super().__init__(
            f"A daemon is running already{where}",
            details={"home": home, **({"url": url} if url else {})},
            hint="'quarterdeck status' shows it, 'quarterdeck down' stops it",
        )


class DaemonMismatch(Conflict):
    """Versions that differ in their first number need not understand each other."""

    def __init__(self, daemon: str, program: str) -> None:
        super().__init__(
            f"The daemon is version {daemon}, and this program is {program}",
            details={"daemon": daemon, "program": program},
            hint="run 'quarterdeck upgrade' with the newer of both",
        )


class DaemonFailed(Unavailable):
    """The daemon ended while it started."""

    def __init__(self, exit_code: int, complaint: str, log: str) -> None:
        super().__init__(
            f"The daemon did not start: {complaint}",
            details={"exitCode": exit_code, "log": log},
            hint="mend that and try again; 'quarterdeck doctor' looks at everything",
        )


class DaemonLost(Unavailable):
    """The daemon was gone before it had answered; what it was asked for may have happened."""

    def __init__(self) -> None:
        super().__init__(
            "The Quarterdeck daemon ended before it had answered",
            details={"outcome": "unknown"},
            hint="see whether it was done before you ask for it again",
        )


class Unauthenticated(Denied):
    """Nobody is let in without an access token; what is wrong with one is told to its holder only.

    `reason` is missing, unknown, expired or revoked; a token that is known has a name.
    """

    http_status = 401

    def __init__(self, reason: str, name: str | None = None) -> None:
        about = {
            "missing": "The request carries no access token",
            "unknown": "The access token is not valid",
            "expired": f"The access token {name!r} has expired",
            "revoked": f"The access token {name!r} has been revoked",
        }
        super().__init__(
            about[reason],
            details={"rule": "token", "problem": reason},
            hint="run 'quarterdeck token create' on the machine of the server, and send what it"
            " prints as the bearer token of the Authorization header",
        )
