"""Errors about workspaces and the work in them."""

from collections.abc import Sequence

from quarterdeck.errors.base import Conflict, Unavailable

# As many as read well in one sentence; the details have all.
_MOST_SHOWN = 5


class WorkNotSaved(Unavailable):
    """A workspace is only removed once what it holds is kept elsewhere."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(
            f"The work in {path!r} could not be saved: {problem}",
            details={"path": path, "problem": problem},
            hint="nothing was removed; mend that and delete the agent again",
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


class GitMissing(Unavailable):
    """Workspaces of repositories are made by the git program."""

    def __init__(self, problem: str, needed: str) -> None:
        super().__init__(
            f"The program git cannot be used: {problem}",
            details={"problem": problem, "needed": needed},
            hint=f"install git {needed} or newer and see that it is on the PATH",
        )
