"""What commands ask the daemon over HTTP."""

from pathlib import Path
from typing import Any

import httpx2

from quarterdeck.daemon.address import Address
from quarterdeck.daemon.key import read_key
from quarterdeck.errors import InvalidMetadata, Unavailable

ANSWER_SECONDS = 3
# The daemon reads and checks a whole file before it answers.
RELOAD_SECONDS = 30
ACCEPTED = 202


def ask(home: Path, address: Address) -> dict[str, Any] | None:
    """Return what the daemon says of itself; `None` when it does not answer."""
    try:
        with _client(home, address) as client:
            return client.get("/control").raise_for_status().json()
    except (httpx2.HTTPError, ValueError):
        return None


def stop_if_idle(home: Path, address: Address) -> bool:
    """Ask the daemon to stop unless a call is running; return whether it does."""
    try:
        with _client(home, address) as client:
            return client.post("/control/stop-if-idle").status_code == ACCEPTED
    except httpx2.HTTPError:
        return False


def restart(home: Path, address: Address) -> bool:
    """Ask a managed daemon to end so that it is started again; return whether it does."""
    try:
        return _client(home, address).post("/control/restart").status_code == ACCEPTED
    except httpx2.HTTPError:
        return False


def reload(home: Path, address: Address) -> list[str]:
    """Have the daemon read the user's words again; return what it warns about.

    Raises:
        InvalidMetadata: the file cannot be used, and the words from before stay.
    """
    try:
        with _client(home, address) as client:
            answer = client.post("/control/reload", timeout=RELOAD_SECONDS)
            body = answer.json()
    except (httpx2.HTTPError, ValueError) as error:
        raise _not_reloaded("it did not answer") from error
    if answer.is_success:
        return body["warnings"]
    raise _refusal(body["error"])


def _refusal(error: dict[str, Any]) -> InvalidMetadata | Unavailable:
    details = error["details"]
    if "problems" not in details:
        return _not_reloaded(error["message"])
    problems = [(item["line"], item["where"], item["problem"]) for item in details["problems"]]
    return InvalidMetadata(details["path"], problems)


def _not_reloaded(reason: str) -> Unavailable:
    return Unavailable(
        "The daemon did not reload",
        details={"reason": reason},
        hint="'quarterdeck upgrade' restarts it, which reads the file too",
    )


def _client(home: Path, address: Address) -> httpx2.Client:
    headers = {"Authorization": f"Bearer {read_key(home)}"}
    # Without the environment's proxies: the daemon is on this machine.
    return httpx2.Client(
        base_url=address.url, headers=headers, timeout=ANSWER_SECONDS, trust_env=False
    )
