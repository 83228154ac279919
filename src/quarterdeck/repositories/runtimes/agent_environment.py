"""The environment of a local agent: what it needs, by name, and nothing of Quarterdeck's own."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from quarterdeck.daemon.environment import INHERITED, read_environment_file
from quarterdeck.domain.roles import Role

# The daemon may speak to Coder for its user; its agents may not.
_OURS_ALONE = frozenset({"CODER_URL", "CODER_SESSION_TOKEN"})
_OUR_PREFIX = "QUARTERDECK_"
_PREFIXES = ("LC_", "XDG_")


class AgentEnvironment:
    """Makes environments from the daemon's, the home's `env` file, and roles."""

    def __init__(self, home: Path, ours: Mapping[str, str]) -> None:
        self._home = home
        self._ours = ours
        names = INHERITED - _OURS_ALONE
        self._inherited = {
            name: value
            for name, value in ours.items()
            if name in names or name.startswith(_PREFIXES)
        }

    def of(self, role: Role, agent_id: str) -> dict[str, str]:
        """Return what an agent of this role starts with; the home's file is read anew."""
        known = role.known
        own = dict(known.environment) if known else {}
        if known and known.state_variable:
            own[known.state_variable] = str(self.state_folder(agent_id))
        wanted = (*(known.credentials if known else ()), *role.pass_env)
        return {**self._inherited, **own, **self._named(wanted), **role.env}

    def of_commands(self) -> Mapping[str, str]:
        """Return what a workspace's own commands start with: no keys."""
        return self._inherited

    def state_folder(self, agent_id: str) -> Path:
        """Return where an agent may keep what it has to remember."""
        return self._home / "conversations" / agent_id

    def _named(self, names: Iterable[str]) -> dict[str, str]:
        offered = {**self._ours, **read_environment_file(self._home)}
        return {
            name: offered[name]
            for name in names
            if name in offered and name not in _OURS_ALONE and not name.startswith(_OUR_PREFIX)
        }
