"""Every error this product raises on purpose.

* QuarterdeckError          code                 exit  http  raised when
  x InvalidInput            INVALID_INPUT           2   400  the caller must change the request
    + InvalidSettings       INVALID_INPUT           2   400  configuration that cannot be used
      + InvalidMetadata     INVALID_INPUT           2   400  other words that do not fit the tools
    + InvalidArchive        INVALID_INPUT           2   400  a backup that cannot be restored
    + AgentNotOnline        INVALID_INPUT           2   400  it can be given no task now
    + NoTaskRunning         INVALID_INPUT           2   400  there is nothing to cancel
  x NotFound                NOT_FOUND               3   404  a named thing is not there
    + TraceNotFound         TRACE_NOT_FOUND         3   404
    + ToolNotFound          NOT_FOUND               3   404
    + AgentNotFound         NOT_FOUND               3   404
    + QuestionNotFound      NOT_FOUND               3   404
    + ProjectNotFound       NOT_FOUND               3   404
    + RoleNotFound          NOT_FOUND               3   404
  x Conflict                CONFLICT                4   409  the request does not fit the state
    + DatabaseBehind        CONFLICT                4   409  it waits for `db upgrade`
    + DatabaseAhead         CONFLICT                4   409  a newer program was here
    + DaemonRunning         CONFLICT                4   409  a home has one daemon
    + DaemonMismatch        CONFLICT                4   409  program and daemon do not fit
    + UnusableFile          CONFLICT                4   409  a file of another program is in the way
    + ArchiveAhead          CONFLICT                4   409  a newer program made the backup
    + AgentExists           CONFLICT                4   409  its name is taken
    + AgentBusy             CONFLICT                4   409  it works on another task
    + QuestionClosed        CONFLICT                4   409  it was answered, or came to its end
    + AlreadyDefined        CONFLICT                4   409  a project or role has the name
    + DefinedElsewhere      CONFLICT                4   409  a file has it, or the program itself
    + DefinitionInUse       CONFLICT                4   409  agents need the project or role
    + GitFailed             CONFLICT                4   409  git refused what it was asked
    + MergeConflict         CONFLICT                4   409  two branches changed the same lines
    + SetupFailed           CONFLICT                4   409  a project's setup command failed
  x Denied                  DENIED                  5   403  a rule or the read-only mode refused
    + Unauthenticated       DENIED                  5   401  no access token that is valid
  x Unavailable             SERVICE_UNAVAILABLE     6   503  a part we depend on does not answer
    + StorageUnavailable    SERVICE_UNAVAILABLE     6   503  the database is locked, full or away
    + DaemonFailed          SERVICE_UNAVAILABLE     6   503  the daemon ended while it started
    + DaemonLost            SERVICE_UNAVAILABLE     6   503  it was gone before it had answered
    + CannotWrite           SERVICE_UNAVAILABLE     6   503  a place is full or may not be written
    + AgentElsewhere        SERVICE_UNAVAILABLE     6   503  the daemon that runs it is away
    + WorkNotSaved          SERVICE_UNAVAILABLE     6   503  so its workspace was not removed
    + AgentNotInstalled     SERVICE_UNAVAILABLE     6   503  its program is not on this machine
    + InstallFailed         SERVICE_UNAVAILABLE     6   503  its program could not be fetched
    + GitMissing            SERVICE_UNAVAILABLE     6   503  git is not installed, or too old
  x TimedOut                TIMEOUT                 7   504  the deadline passed
  x InternalError           INTERNAL_ERROR          1   500  a bug, or a backend's broken answer
  x AgentFailed             INTERNAL_ERROR          1   500  an agent did not start, or broke off

Constructors take facts; the class words the message, the details and the hint.
Surfaces map this tree once each: `tools/errors.py`, `cli/main.py`, `web/errors.py`.
"""

from quarterdeck.errors.agents import (
    AgentBusy,
    AgentElsewhere,
    AgentExists,
    AgentFailed,
    AgentNotFound,
    AgentNotOnline,
    NoTaskRunning,
    QuestionClosed,
    QuestionNotFound,
)
from quarterdeck.errors.base import (
    Conflict,
    Denied,
    InternalError,
    InvalidInput,
    NotFound,
    QuarterdeckError,
    TimedOut,
    Unavailable,
    closest_name,
    error_from,
)
from quarterdeck.errors.definitions import (
    AgentNotInstalled,
    AlreadyDefined,
    DefinedElsewhere,
    DefinitionInUse,
    InstallFailed,
    ProjectNotFound,
    RoleNotFound,
)
from quarterdeck.errors.files import (
    ArchiveAhead,
    CannotWrite,
    InvalidArchive,
    InvalidMetadata,
    InvalidSettings,
    UnusableFile,
    located,
)
from quarterdeck.errors.service import (
    DaemonFailed,
    DaemonLost,
    DaemonMismatch,
    DaemonRunning,
    DatabaseAhead,
    DatabaseBehind,
    StorageUnavailable,
    ToolNotFound,
    TraceNotFound,
    Unauthenticated,
)
from quarterdeck.errors.workspaces import (
    GitFailed,
    GitMissing,
    MergeConflict,
    SetupFailed,
    WorkNotSaved,
)

__all__ = [
    "AgentBusy",
    "AgentElsewhere",
    "AgentExists",
    "AgentFailed",
    "AgentNotFound",
    "AgentNotInstalled",
    "AgentNotOnline",
    "AlreadyDefined",
    "ArchiveAhead",
    "CannotWrite",
    "Conflict",
    "DaemonFailed",
    "DaemonLost",
    "DaemonMismatch",
    "DaemonRunning",
    "DatabaseAhead",
    "DatabaseBehind",
    "DefinedElsewhere",
    "DefinitionInUse",
    "Denied",
    "GitFailed",
    "GitMissing",
    "InstallFailed",
    "InternalError",
    "InvalidArchive",
    "InvalidInput",
    "InvalidMetadata",
    "InvalidSettings",
    "MergeConflict",
    "NoTaskRunning",
    "NotFound",
    "ProjectNotFound",
    "QuarterdeckError",
    "QuestionClosed",
    "QuestionNotFound",
    "RoleNotFound",
    "SetupFailed",
    "StorageUnavailable",
    "TimedOut",
    "ToolNotFound",
    "TraceNotFound",
    "Unauthenticated",
    "Unavailable",
    "UnusableFile",
    "WorkNotSaved",
    "closest_name",
    "error_from",
    "located",
]
