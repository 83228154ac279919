"""What the daemon takes over from the environment of whoever starts it."""

import stat
from collections.abc import Mapping
from pathlib import Path

from quarterdeck.errors import InvalidSettings

# And nothing else: it outlives the chat that started it, and must not carry that chat's keys.
INHERITED = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "SSH_AUTH_SOCK"}
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "CODER_URL", "CODER_SESSION_TOKEN"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}
)
INHERITED_PREFIXES = ("LC_", "OTEL_", "QUARTERDECK_", "XDG_")
# What one client asked to be offered is not for all clients, and what a service manager told its
# own daemon does not hold for one that somebody else starts. An agent's mark would have a daemon
# that the agent started ended with it.
NOT_INHERITED = frozenset(
    {
        "QUARTERDECK_AGENT_MARK",
        "QUARTERDECK_SERVER_MANAGED",
        "QUARTERDECK_SERVER_READ_ONLY",
        "QUARTERDECK_SERVER_TOOLSETS",
    }
)
FILE = "env"


def inherited(ours: Mapping[str, str]) -> dict[str, str]:
    """Return what the daemon inherits of our environment."""
    return {
        name: value
        for name, value in ours.items()
        if (name in INHERITED or name.startswith(INHERITED_PREFIXES)) and name not in NOT_INHERITED
    }


def read_environment_file(home: Path) -> dict[str, str]:
    """Return the variables of `$QUARTERDECK_HOME/env`, which may hold keys that agents need.

    One `NAME=value` a line; blank lines and lines that start with `#` are left out, `export`
    before a name and quotes around a value too.
    """
    path = home / FILE
    try:
        text, mode = path.read_text(encoding="utf-8"), path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSettings(
            f"{path} cannot be read: {error}", hint="make it a text file"
        ) from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InvalidSettings(
            f"{path} may hold keys and is open to other users (mode {stat.S_IMODE(mode):04o})",
            hint=f"run 'chmod 600 {path}'",
        )
    return dict(_variable(path, number, line) for number, line in _lines(text))


def _lines(text: str) -> list[tuple[int, str]]:
    stripped = ((number, line.strip()) for number, line in enumerate(text.splitlines(), start=1))
    return [(number, line) for number, line in stripped if line and not line.startswith("#")]


def _variable(path: Path, number: int, line: str) -> tuple[str, str]:
    name, separator, value = line.removeprefix("export ").partition("=")
    name, value = name.strip(), value.strip()
    # Without the line itself: it may be half of a key.
    if not separator or not name.isidentifier() or not name.isascii() or "\0" in value:
        raise InvalidSettings(
            f"{path} has no variable on line {number}", hint="write each line as NAME=value"
        )
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return name, value[1:-1] if is_quoted else value
