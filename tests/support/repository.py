"""The repository as the tests see it."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def committable_files() -> list[Path]:
    """Return every file that is, or could be, committed."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    paths = [ROOT / name for name in listing.split("\0") if name]
    return [path for path in paths if path.is_file()]
