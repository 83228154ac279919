"""One error of every class of the tree, for tests that walk a surface."""

from collections.abc import Callable, Iterator

from quarterdeck.errors import (
    AgentBusy,
    AgentElsewhere,
    AgentExists,
    AgentFailed,
    AgentNotFound,
    AgentNotInstalled,
    AgentNotOnline,
    AlreadyDefined,
    ArchiveAhead,
    CannotWrite,
    DaemonFailed,
    DaemonLost,
    DaemonMismatch,
    DaemonRunning,
    DatabaseAhead,
    DatabaseBehind,
    DefinedElsewhere,
    DefinitionInUse,
    GitFailed,
    GitMissing,
    InstallFailed,
    InternalError,
    InvalidArchive,
    InvalidMetadata,
    MergeConflict,
    NoTaskRunning,
    ProjectNotFound,
    QuarterdeckError,
    QuestionClosed,
    QuestionNotFound,
    RoleNotFound,
    SetupFailed,
    StorageUnavailable,
    ToolNotFound,
    TraceNotFound,
    Unauthenticated,
    UnusableFile,
    WorkNotSaved,
)

# Those that are made from facts; all others take a message.
FROM_FACTS: dict[type[QuarterdeckError], Callable[[], QuarterdeckError]] = {
    TraceNotFound: lambda: TraceNotFound("t1"),
    ToolNotFound: lambda: ToolNotFound("memory_stor", ["memory_store"]),
    DatabaseBehind: lambda: DatabaseBehind(None, "0001"),
    DatabaseAhead: lambda: DatabaseAhead("9999", "0001"),
    Unauthenticated: lambda: Unauthenticated("expired", "ci"),
    DaemonRunning: lambda: DaemonRunning("/srv/quarterdeck", "http://127.0.0.1:7420"),
    DaemonMismatch: lambda: DaemonMismatch("2.0.0", "1.9.0"),
    DaemonFailed: lambda: DaemonFailed(2, "the configuration cannot be used", "daemon.log"),
    DaemonLost: DaemonLost,
    UnusableFile: lambda: UnusableFile("settings.json", "is read-only", hint="make it writable"),
    InvalidArchive: lambda: InvalidArchive("/srv/a.zip", "is cut short"),
    InvalidMetadata: lambda: InvalidMetadata("metadata.yaml", [(3, "tools.x", "is unknown")]),
    ArchiveAhead: lambda: ArchiveAhead("/srv/a.zip", "9.0", "9999", "0001"),
    CannotWrite: lambda: CannotWrite("/srv", "No space left on device"),
    GitFailed: lambda: GitFailed(["push"], 128, "fatal: no such remote"),
    GitMissing: lambda: GitMissing("it is not installed", "2.38"),
    MergeConflict: lambda: MergeConflict("quarterdeck/sony", "main", ["a.py"]),
    SetupFailed: lambda: SetupFailed("npm ci", "ended with code 1", ["npm: not found"]),
    StorageUnavailable: lambda: StorageUnavailable("the disk is full"),
    InternalError: lambda: InternalError("r1"),
    AgentNotFound: lambda: AgentNotFound("soni", ["sony"]),
    AgentNotOnline: lambda: AgentNotOnline("sony", "stopped", "the machine went down"),
    NoTaskRunning: lambda: NoTaskRunning("sony", "idle"),
    AgentExists: lambda: AgentExists("sony"),
    AgentBusy: lambda: AgentBusy("sony", "fix the login test"),
    AgentElsewhere: lambda: AgentElsewhere("sony", "build-3", "2026-01-01T00:00:00Z"),
    AgentFailed: lambda: AgentFailed("sony", "it ended with code 1"),
    WorkNotSaved: lambda: WorkNotSaved("/srv/w", "the disk is full"),
    QuestionNotFound: lambda: QuestionNotFound("q1"),
    ProjectNotFound: lambda: ProjectNotFound("seetup", ["Setup"]),
    RoleNotFound: lambda: RoleNotFound("codr", "Setup", ["coder"]),
    AlreadyDefined: lambda: AlreadyDefined("project", "Setup"),
    DefinitionInUse: lambda: DefinitionInUse("project", "Setup", ["sony"]),
    DefinedElsewhere: lambda: DefinedElsewhere("role", "coder", is_built_in=False),
    AgentNotInstalled: lambda: AgentNotInstalled("claude", "claude-agent-acp", can_be_fetched=True),
    InstallFailed: lambda: InstallFailed("claude", "npm ended with code 1", hint="look at it"),
    QuestionClosed: lambda: QuestionClosed("q1", "expired"),
}


def one_of_each() -> list[QuarterdeckError]:
    return [made(kind) for kind in sorted(kinds(), key=lambda kind: kind.__name__)]


def kinds(base: type[QuarterdeckError] = QuarterdeckError) -> Iterator[type[QuarterdeckError]]:
    for kind in base.__subclasses__():
        yield kind
        yield from kinds(kind)


def made(kind: type[QuarterdeckError]) -> QuarterdeckError:
    if kind in FROM_FACTS:
        return FROM_FACTS[kind]()
    return kind("It did not work", details={"fact": 1}, hint="try this")
