"""Programs of the operating system, and what they said."""

import shutil
import subprocess
from collections.abc import Mapping
from typing import NamedTuple

PATIENCE_SECONDS = 90


class Said(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def problem(self) -> str:
        """Return the last thing it said, on one line."""
        lines = (self.err.strip() or self.out.strip()).splitlines()
        return lines[-1] if lines else f"exit code {self.code}"


def run(program: str, *arguments: str, environ: Mapping[str, str]) -> Said | None:
    """Run a program of the user's PATH to its end; None when there is none."""
    found = shutil.which(program, path=environ.get("PATH"))
    if found is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603 - a program of the system, with words of ours
            [found, *arguments],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Said(-1, "", f"{program} did not answer within {PATIENCE_SECONDS} seconds")
    return Said(done.returncode, done.stdout, done.stderr)
