"""Errors as HTTP clients see them: the status of the error's kind, and the one JSON body."""

import json
import logging
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from quarterdeck.domain.redaction import Redactor
from quarterdeck.errors import InternalError, InvalidInput, NotFound, QuarterdeckError

logger = logging.getLogger(__name__)

NOT_FOUND = 404


def error_response(
    error: QuarterdeckError, redactor: Redactor, *, status: int | None = None
) -> Response:
    """Return the wire form of an error; what the caller sent may be quoted in it."""
    body = redactor.json(json.dumps(error.body(), ensure_ascii=False, default=str))
    return Response(
        body,
        status or error.http_status,
        headers={"X-Content-Type-Options": "nosniff"},
        media_type="application/json",
    )


def error_handlers(redactor: Redactor) -> Mapping[Any, Any]:
    """Return what Starlette calls for each kind of exception."""

    async def known(_request: Request, error: QuarterdeckError) -> Response:
        return error_response(error, redactor)

    async def refused(request: Request, error: HTTPException) -> Response:
        response = error_response(_refusal(request, error), redactor, status=error.status_code)
        response.headers.update(error.headers or {})
        return response

    async def unexpected(_request: Request, error: Exception) -> Response:
        reference = str(uuid4())
        logger.error("Request %s failed", reference, exc_info=error)
        return error_response(InternalError(reference), redactor)

    return {QuarterdeckError: known, HTTPException: refused, Exception: unexpected}


def _refusal(request: Request, error: HTTPException) -> QuarterdeckError:
    path = request.url.path
    if error.status_code == NOT_FOUND:
        return NotFound(
            f"There is no page {path!r}", details={"path": path}, hint="the start page is /"
        )
    return InvalidInput(f"{error.detail}: {request.method} {path!r}", details={"path": path})
