"""Errors about files of the user and of other programs."""

from collections.abc import Sequence

from quarterdeck.errors.base import Conflict, InvalidInput, Unavailable

# More than anybody mends in one go; a file that is no metadata at all can have any number.
_MOST_PROBLEMS = 200


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


class ArchiveAhead(Conflict):
    """A newer program may have stored what this one does not know how to keep."""

    def __init__(self, path: str, version: str, found: str, needed: str) -> None:
        super().__init__(
            f"The archive {path!r} was made by a newer version of Quarterdeck ({version})",
            details={"path": path, "version": version, "found": found, "needed": needed},
            hint="install that version or a newer one",
        )


class UnusableFile(Conflict):
    """A file of another program cannot be edited as it is; nothing was touched."""

    def __init__(self, path: str, problem: str, *, hint: str) -> None:
        super().__init__(
            f"The file {path!r} {problem}", details={"path": path, "problem": problem}, hint=hint
        )


class CannotWrite(Unavailable):
    """A place is full, away, or may not be written to."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(
            f"Cannot write to {place!r}: {reason}",
            details={"place": place, "problem": reason},
            hint="make room there or choose another place; nothing was changed",
        )
