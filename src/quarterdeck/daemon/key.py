"""Stand-in."""

from pathlib import Path


def read_key(home: Path) -> str | None:
    try:
        return (home / "token").read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
