"""Every error this product raises on purpose.

* QuarterdeckError          code                 exit  http  raised when
  x InvalidInput            INVALID_INPUT           2   400  the caller must change the request
    + InvalidSettings       INVALID_INPUT           2   400  configuration that cannot be used
      + InvalidMetadata     INVALID_INPUT           2   400  other words that do not fit the tools
    + InvalidArchive        INVALID_INPUT           2   400  a backup that cannot be restored
  x NotFound                NOT_FOUND               3   404  a named thing is not there
    + TraceNotFound         TRACE_NOT_FOUND         3   404
    + ToolNotFound          NOT_FOUND               3   404
  x Conflict                CONFLICT                4   409  the request does not fit the state
    + DatabaseBehind        CONFLICT                4   409  it waits for `db upgrade`
    + DatabaseAhead         CONFLICT                4   409  a newer program was here
    + DaemonRunning         CONFLICT                4   409  a home has one daemon
    + DaemonMismatch        CONFLICT                4   409  program and daemon do not fit
    + UnusableFile          CONFLICT                4   409  a file of another program is in the way
    + ArchiveAhead          CONFLICT                4   409  a newer program made the backup
    + GitFailed             CONFLICT                4   409  git refused what it was asked
    + MergeConflict         CONFLICT                4   409  two branches changed the same lines
    + SetupFailed           CONFLICT                4   409  a project's setup command failed
    + WorkNotSaved          CONFLICT                4   409  removing would lose an agent's work
  x Denied                  DENIED                  5   403  a rule or the read-only mode refused
    + Unauthenticated       DENIED                  5   401  no access token that is valid
  x Unavailable             SERVICE_UNAVAILABLE     6   503  a part we depend on does not answer
    + StorageUnavailable    SERVICE_UNAVAILABLE     6   503  the database is locked, full or away
    + DaemonFailed          SERVICE_UNAVAILABLE     6   503  the daemon ended while it started
    + DaemonLost            SERVICE_UNAVAILABLE     6   503  it was gone before it had answered
    + CannotWrite           SERVICE_UNAVAILABLE     6   503  a place is full or may not be written
    + GitMissing            SERVICE_UNAVAILABLE     6   503  git is not installed, or too old
  x TimedOut                TIMEOUT                 7   504  the deadline passed
  x InternalError           INTERNAL_ERROR          1   500  a bug, or a backend's broken answer

Constructors take facts; the class words the message, the details and the hint.
Surfaces map this tree once each: `tools/errors.py`, `cli/main.py`, `web/errors.py`.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import ClassVar

# More than anybody mends in one go; a file that is no metadata at all can have any number.
_MOST_PROBLEMS = 200
# As many as read well in one sentence; the details have all.
_MOST_SHOWN = 5


SHORTEST_BEGINNING = 3


class QuarterdeckError(Exception):
    """Base of the tree; never raised itself."""

    code: ClassVar[str] = "INTERNAL_ERROR"
    category: ClassVar[str] = "INTERNAL_ERROR"
    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500

    def __init__(
        self,
        message: str,
        *,
        details: Mapping[str, object] | None = None,
        hint: str | None = None,
    ) -> None:
        """Keep the one-sentence message, the facts, and what to do next."""
        super().__init__(message)
        self.message = message
        self.details: dict[str, object] = dict(details or {})
        self.hint = hint

    def body(self) -> dict[str, object]:
        """Return the wire form shared by every surface that speaks JSON."""
        details = dict(self.details)
        if self.code != self.category:
            details["category"] = self.category
        if self.hint:
            details["hint"] = self.hint
        error = {"code": self.code, "message": self.message, "details": details}
        return {"success": False, "error": error}


class InvalidInput(QuarterdeckError):
    """The request cannot be carried out as written; sending it again will not help."""

    code = category = "INVALID_INPUT"
    exit_code = 2
    http_status = 400

    @classmethod
    def field(cls, name: str, problem: str, *, hint: str | None = None) -> "InvalidInput":
        """Refuse one argument, naming it."""
        return cls.fields([(name, problem)], hint=hint)

    @classmethod
    def fields(
        cls, problems: Sequence[tuple[str, str]], *, hint: str | None = None
    ) -> "InvalidInput":
        """Refuse several arguments at once, so that one round trip shows all of them."""
        first_name, first_problem = problems[0]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        return cls(
            f"{first_name!r} {first_problem}{more}",
            details={"fields": [{"field": name, "problem": text} for name, text in problems]},
            hint=hint,
        )


class InvalidSettings(InvalidInput):
    """The configuration cannot be used; the program refuses to start."""


class InvalidMetadata(InvalidSettings):
    """The file of other words cannot be used; it says everything that is wrong with it.

    Each problem is a line, if there is one, a place in the file, and what is wrong there.
    """

    def __init__(self, path: str, problems: Sequence[tuple[int | None, str, str]]) -> None:
        lead = "cannot be used" if len(problems) == 1 else f"has {len(problems)} problems"
        listed = problems[:_MOST_PROBLEMS]
        rest = "; and so on" if len(problems) > len(listed) else ""
        super().__init__(
            f"The metadata file {path!r} {lead}: {'; '.join(map(located, listed))}{rest}",
            details={
                "path": path,
                "problems": [
                    {"line": line, "where": where, "problem": problem}
                    for line, where, problem in listed
                ],
            },
            hint="change each at the place it names; 'strict: false' in the file turns unknown"
            " names into warnings",
        )
        self.problems = list(problems)


def located(problem: tuple[int | None, str, str]) -> str:
    """Return a problem of a file in one sentence, which begins with its place."""
    line, where, text = problem
    lead = [f"line {line}"] if line else []
    return ": ".join([*lead, *([where] if where else []), text])


class InvalidArchive(InvalidInput):
    """A file that is no sound backup; nothing of it is used."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(
            f"The archive {path!r} cannot be restored: it {problem}",
            details={"path": path, "problem": problem},
            hint="nothing was changed; use another backup, made by 'quarterdeck backup'",
        )


class NotFound(QuarterdeckError):
    """A named thing is not there."""

    code = category = "NOT_FOUND"
    exit_code = 3
    http_status = 404


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


class Conflict(QuarterdeckError):
    """The request is sound but does not fit the present state."""

    code = category = "CONFLICT"
    exit_code = 4
    http_status = 409


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


class UnusableFile(Conflict):
    """A file of another program cannot be edited as it is; nothing was touched."""

    def __init__(self, path: str, problem: str, *, hint: str) -> None:
        super().__init__(
            f"The file {path!r} {problem}", details={"path": path, "problem": problem}, hint=hint
        )


class ArchiveAhead(Conflict):
    """A newer program may have stored what this one does not know how to keep."""

    def __init__(self, path: str, version: str, found: str, needed: str) -> None:
        super().__init__(
            f"The archive {path!r} was made by a newer version of Quarterdeck ({version})",
            details={"path": path, "version": version, "found": found, "needed": needed},
            hint="install that version or a newer one",
        )


class GitFailed(Conflict):
    """git ended with a complaint; `stderr` has it whole, the message its last line."""

    def __init__(self, arguments: Sequence[str], code: int, stderr: str) -> None:
        lines = stderr.strip().splitlines()
        complaint = lines[-1] if lines else f"exit code {code}"
        super().__init__(
            f"The command 'git {arguments[0]}' failed: {complaint.rstrip('.')}",
            details={"arguments": list(arguments), "exitCode": code, "stderr": stderr},
            hint="mend what git complains about, and try again",
        )
        self.arguments = tuple(arguments)
        self.exit_status = code
        self.stderr = stderr


class MergeConflict(Conflict):
    """Both branches changed the same places; neither was touched."""

    def __init__(self, branch: str, into: str, files: Sequence[str]) -> None:
        shown = ", ".join(repr(name) for name in files[:_MOST_SHOWN])
        more = f" and {len(files) - _MOST_SHOWN} more" if len(files) > _MOST_SHOWN else ""
        super().__init__(
            f"{branch!r} cannot be merged into {into!r}: both changed {shown}{more}",
            details={"branch": branch, "into": into, "files": list(files)},
            hint=f"nothing was changed; merge {into!r} into {branch!r} first, for example by"
            " giving the agent that task, and try again",
        )
        self.files = tuple(files)


class SetupFailed(Conflict):
    """The setup command of a project did not end well; the agent was not started."""

    def __init__(self, command: str, problem: str, output: Sequence[str]) -> None:
        super().__init__(
            f"The setup command {command!r} {problem}",
            details={"command": command, "problem": problem, "output": list(output)},
            hint="the output has its last lines; mend the project's setup command, and try again",
        )


class WorkNotSaved(Conflict):
    """An agent's work could not be saved, so its workspace was not removed."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"The work in {path!r} could not be saved, so nothing was removed: {reason}",
            details={"path": path, "reason": reason},
            hint="mend that and delete again, or save the work by hand",
        )


class Denied(QuarterdeckError):
    """A rule refused the request; `details["rule"]` names it."""

    code = category = "DENIED"
    exit_code = 5
    http_status = 403


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


class Unavailable(QuarterdeckError):
    """A part we depend on does not answer; trying again later may help."""

    code = category = "SERVICE_UNAVAILABLE"
    exit_code = 6
    http_status = 503


class StorageUnavailable(Unavailable):
    """The database is locked, full or away."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            "The database could not be used",
            details={"reason": reason},
            hint="run 'quarterdeck doctor' to see what is wrong",
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


class CannotWrite(Unavailable):
    """A place is full, away, or may not be written to."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(
            f"Cannot write to {place!r}: {reason}",
            details={"place": place, "problem": reason},
            hint="make room there or choose another place; nothing was changed",
        )


class GitMissing(Unavailable):
    """Workspaces of repositories are made by the git program."""

    def __init__(self, problem: str, needed: str) -> None:
        super().__init__(
            f"The program git cannot be used: {problem}",
            details={"problem": problem, "needed": needed},
            hint=f"install git {needed} or newer and see that it is on the PATH",
        )


class TimedOut(QuarterdeckError):
    """The deadline passed before the work was done."""

    code = category = "TIMEOUT"
    exit_code = 7
    http_status = 504


class InternalError(QuarterdeckError):
    """A bug of ours or a broken answer from a backend; the log has the traceback."""

    code = category = "INTERNAL_ERROR"

    def __init__(self, reference: str | None = None) -> None:
        super().__init__(
            "Quarterdeck failed to carry out the request",
            details={"reference": reference} if reference else {},
            hint="the server's log has the details under this reference" if reference else None,
        )


def closest_name(name: str, known: Sequence[str]) -> str | None:
    """Return the known name that `name` was probably meant to be."""
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    # A beginning is far from the whole by its letters, and still what was meant.
    longer = [word for word in known if len(name) >= SHORTEST_BEGINNING and word.startswith(name)]
    return next(iter([*close, *longer]), None)
