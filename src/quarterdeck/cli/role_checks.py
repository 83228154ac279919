"""What the doctor says of the projects and roles that the config file defines.

Those that commands added are in the database, which the doctor does not open.
"""

import os
from typing import TYPE_CHECKING

from quarterdeck.cli.checks import Check
from quarterdeck.cli.definitions import is_repository

if TYPE_CHECKING:
    from quarterdeck.domain.roles import RoleDefinition
    from quarterdeck.ports.agent_programs import AgentPrograms
    from quarterdeck.settings import Settings


def projects(settings: "Settings") -> Check:
    """See that each project is where the file says."""
    found = _counted("project", list(settings.projects))
    wrong = [
        f"{name!r} is not at {definition.place}"
        for name, definition in settings.projects.items()
        if not definition.place.is_dir()
    ]
    wrong += [
        f"{name!r} is no git repository"
        for name, definition in settings.projects.items()
        if definition.repository
        and definition.place.is_dir()
        and not is_repository(definition.place)
    ]
    if wrong:
        hint = f"change it in {settings.config_path}"
        return Check("projects", "fail", f"{found}; {'; '.join(wrong)}", hint)
    return Check("projects", "ok", found)


def roles(settings: "Settings", programs: "AgentPrograms") -> Check:
    """See that each role's program is there, and a key for it."""
    from quarterdeck.daemon.environment import read_environment_file
    from quarterdeck.errors import AgentNotInstalled

    found = _counted("role", list(settings.roles))
    for name, role in settings.roles.items():
        try:
            programs.resolve(role)
        except AgentNotInstalled as error:
            return Check("roles", "fail", f"{found}; {name!r}: {error.message}", error.hint)
    kept = {**os.environ, **read_environment_file(settings.home)}
    without = [name for name, role in settings.roles.items() if not _has_key(role, kept)]
    if without:
        problem = f"no key for {', '.join(map(repr, without))}"
        hint = f"unless the agent has logged in by itself, put its key into {settings.home / 'env'}"
        return Check("roles", "warn", f"{found}; {problem}", hint)
    return Check("roles", "ok", found)


def _has_key(role: "RoleDefinition", available: dict[str, str]) -> bool:
    from quarterdeck.domain.roles import environment_of

    keys = role.known.credentials if role.known else ()
    return not keys or any(name in environment_of(role, available) for name in keys)


def _counted(noun: str, names: list[str]) -> str:
    if not names:
        return f"config.toml defines no {noun}"
    return f"config.toml defines {', '.join(map(repr, names))}"
