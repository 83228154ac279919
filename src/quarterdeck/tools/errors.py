"""Errors as MCP clients see them: a failed tool call with the same body on every transport."""

import json
import logging
from collections.abc import Generator
from contextlib import contextmanager

from fastmcp.exceptions import FastMCPError, NotFoundError
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, CallToolResult, TextContent
from pydantic import ValidationError

from quarterdeck.domain.redaction import Redactor
from quarterdeck.errors import InternalError, InvalidInput, NotFound, QuarterdeckError

logger = logging.getLogger(__name__)

# FastMCP turns these into protocol errors by itself.
_PROTOCOL_ERRORS = (FastMCPError, MCPError, NotFoundError, ValidationError)


def known_error(error: Exception, reference: str) -> QuarterdeckError:
    """Return what the caller is told; a bug is logged here and named by its reference."""
    if isinstance(error, QuarterdeckError):
        return error
    logger.error("Call %s failed", reference, exc_info=error)
    return InternalError(reference)


def error_result(error: QuarterdeckError, redactor: Redactor) -> CallToolResult:
    """Return the wire form of an error; what the caller sent may be quoted in it."""
    return result(_spelled(error, redactor), is_error=True)


@contextmanager
def in_our_words() -> Generator[None]:
    """Name the protocol's refusals by our codes, for the trace."""
    try:
        yield
    except NotFoundError as error:
        raise NotFound("Nothing of this name is offered") from error
    except (MCPError, ValidationError) as error:
        raise InvalidInput("The request does not have the form its method asks for") from error


def protocol_error(error: Exception, reference: str, redactor: Redactor) -> Exception:
    """Return what FastMCP is to answer where there is no result that could carry an error."""
    for origin in (error, error.__cause__):
        if isinstance(origin, _PROTOCOL_ERRORS):
            return origin
    known = known_error(error, reference)
    body = json.loads(_spelled(known, redactor))
    return MCPError(code=INTERNAL_ERROR, message=body["error"]["message"], data=body["error"])


def _spelled(error: QuarterdeckError, redactor: Redactor) -> str:
    text = json.dumps(error.body(), ensure_ascii=False, default=str)
    # What the caller sent may be half a character, which no transport can send back.
    return redactor.json(text.encode(errors="replace").decode())


def result(text: str, *, is_error: bool = False) -> CallToolResult:
    """Return a reply whose text block and structured content are the same JSON."""
    # The protocol's own result, which FastMCP passes on as it is: from one of its `ToolResult`s
    # it would make this one, after looking through the whole document.
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=json.loads(text),
        is_error=is_error,
    )
