"""Errors about projects, roles and the programs that agents are."""

from collections.abc import Sequence

from quarterdeck.errors.base import Conflict, NotFound, Unavailable, closest_name


class ProjectNotFound(NotFound):
    """No project has this name, in whatever spelling."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        closest = closest_name(name.lower(), [each.lower() for each in known])
        super().__init__(
            f"Project {name!r} not found; there is {_listed(known)}",
            details={"project": name, "projects": list(known)},
            hint=_meant(closest, known) or "'quarterdeck projects add' makes a new one",
        )


class RoleNotFound(NotFound):
    """No role has this name, or the project does not offer it."""

    def __init__(self, name: str, project: str | None, known: Sequence[str]) -> None:
        closest = closest_name(name.lower(), [each.lower() for each in known])
        where = f" in project {project!r}" if project else ""
        super().__init__(
            f"Role {name!r} not found{where}; there is {_listed(known)}",
            details={
                "role": name,
                **({"project": project} if project else {}),
                "roles": list(known),
            },
            hint=_meant(closest, known) or "'quarterdeck roles add' makes a new one",
        )


class AlreadyDefined(Conflict):
    """Names of projects, and those of roles, are unique without regard to case."""

    def __init__(self, noun: str, name: str) -> None:
        super().__init__(
            f"There is a {noun} {name!r} already",
            details={noun: name},
            hint=f"choose another name, or run 'quarterdeck {noun}s remove {name!r}' first",
        )


class DefinedElsewhere(Conflict):
    """What a file defines would be back with the next start."""

    def __init__(self, noun: str, name: str, *, is_built_in: bool) -> None:
        where = "part of Quarterdeck" if is_built_in else "defined in a config file"
        super().__init__(
            f"The {noun} {name!r} is {where} and cannot be removed by a command",
            details={noun: name},
            hint=f"it disappears once there is a {noun} of your own"
            if is_built_in
            else "remove it from config.toml; 'quarterdeck config path' says where that is",
        )


class DefinitionInUse(Conflict):
    """An agent that exists could not be started again without it."""

    def __init__(self, kind: str, name: str, agents: Sequence[str]) -> None:
        super().__init__(
            f"The {kind} {name!r} is used by {_listed(agents)}",
            details={kind: name, "agents": list(agents)},
            hint="delete these agents first",
        )


class AgentNotInstalled(Unavailable):
    """Creating an agent downloads nothing, so its program has to be there before."""

    def __init__(self, agent: str, program: str, *, can_be_fetched: bool) -> None:
        super().__init__(
            f"The program {program!r} of agent {agent!r} is not on this machine",
            details={"agent": agent, "program": program},
            hint=f"run 'quarterdeck roles install {agent}'"
            if can_be_fetched
            else f"install {program!r} and see that it is on the PATH of the daemon",
        )


class InstallFailed(Unavailable):
    """A program could not be fetched; nothing of it is left behind."""

    def __init__(self, what: str, problem: str, *, hint: str) -> None:
        super().__init__(
            f"Could not install {what!r}: {problem}",
            details={"what": what, "problem": problem},
            hint=hint,
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names) or "none"


def _meant(folded: str | None, known: Sequence[str]) -> str | None:
    meant = next((name for name in known if name.lower() == folded), None)
    return f"did you mean {meant!r}?" if meant else None
