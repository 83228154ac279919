"""`/control`: what the commands of this machine ask of the daemon."""

import os
from collections.abc import Awaitable, Callable, Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from quarterdeck.daemon.address import Address
from quarterdeck.errors import Conflict

Warned = Sequence[object]
HEADERS = {"Cache-Control": "no-store"}


class Control:
    """What the daemon is doing, how to make it stop for the next one, or read its words again."""

    def __init__(self, address: Address, running: Callable[[], int]) -> None:
        """`running` tells how many calls are being served."""
        self.address = address
        self._running = running
        self.stop: Callable[[], None] = lambda: None
        self.reload: Callable[[], Awaitable[Warned]] = _nothing_to_reload
        self.is_to_restart = False

    def routes(self) -> Sequence[Route]:
        return [
            Route("/control", self._show),
            Route("/control/stop-if-idle", self._stop_if_idle, methods=["POST"]),
            Route("/control/restart", self._restart, methods=["POST"]),
            Route("/control/reload", self._reload, methods=["POST"]),
        ]

    async def _show(self, _request: Request) -> Response:
        path = os.environ.get("PATH", os.defpath)
        found = {**self.address._asdict(), "running": self._running(), "path": path}
        return JSONResponse(found, headers=HEADERS)

    async def _stop_if_idle(self, _request: Request) -> Response:
        # Decided here and not by the asker, between whose look and word a call could begin.
        if running := self._running():
            raise Conflict(
                f"{running} calls are running",
                details={"running": running},
                hint="'quarterdeck upgrade' waits for them and restarts the daemon",
            )
        return self._stopping()

    async def _restart(self, _request: Request) -> Response:
        return self._stopping()

    async def _reload(self, _request: Request) -> Response:
        warnings = [str(warning) for warning in await self.reload()]
        return JSONResponse({"warnings": warnings}, headers=HEADERS)

    def _stopping(self) -> Response:
        self.is_to_restart = True
        self.stop()
        return JSONResponse({"stopping": True}, status_code=202, headers=HEADERS)


async def _nothing_to_reload() -> Warned:
    return ()
