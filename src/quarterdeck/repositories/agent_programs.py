"""temporary"""

import sys
from pathlib import Path

from quarterdeck.domain.roles import RoleDefinition


def resolve_command(role: RoleDefinition, home: Path) -> tuple[str, ...]:
    known = role.known
    return (sys.executable, "-P", *known.command[1:]) if known else role.command
