"""Asking the person at a client, by its protocol's own means.

In the older protocols the server asks while the call runs, by `elicitation/create`. In protocol
2026-07-28 the call ends with what there is to ask, and the client calls again with the answer.
"""

import logging
import math
import re
import time
from collections.abc import Mapping
from typing import Any

from fastmcp.server.middleware import MiddlewareContext
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp.types import (
    ClientCapabilities,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from quarterdeck.domain.questions import Question
from quarterdeck.services.asking import Chosen

logger = logging.getLogger(__name__)

FIELD = "answer"
MOST_PATHS = 10
# Clients give up on a call that asks more often; ten times is usual.
MOST_ROUNDS = 9
_KEY = re.compile(r"(?P<round>\d{1,3})\.(?P<waited>\d{1,9})\.(?P<question>.+)", re.ASCII)


class AskingDuringCall:
    """Asks by a request of the server's."""

    def __init__(self, session: ServerSession, request_id: str | None) -> None:
        """`request_id` is the call's, on whose stream the question goes out."""
        self.brought: Chosen | None = None
        self.waited = 0.0
        self.required: InputRequiredResult | None = None
        self._session = session
        self._request_id = request_id

    async def ask(self, question: Question) -> str | None:
        """Wait for the person; a client that fails at it is one that has not answered."""
        form = form_of(question)
        try:
            result = await self._session.elicit_form(
                form.message, form.requested_schema, related_request_id=self._request_id
            )
        except (MCPError, ValidationError):
            logger.debug("The client could not be asked", exc_info=True)
            return None
        return _option(result)


class AskingBetweenCalls:
    """Asks by the reply, `required`; the next call brings the answer under the key in the reply.

    The key alone says what was asked. Nothing has to be kept or sealed for that, so an answer may
    come at any time and to any daemon, and is refused only if the question is closed. Who can make
    a key up could as well use the tool that answers.
    """

    def __init__(self, responses: Mapping[str, object]) -> None:
        """`responses` came with the call."""
        self.brought: Chosen | None = None
        self.waited = 0.0
        self.required: InputRequiredResult | None = None
        self._began_at = time.monotonic()
        self._round, self._left_open = 0, ""
        for key, response in responses.items():
            found = _KEY.fullmatch(key)
            if found is not None and isinstance(response, ElicitResult):
                self._round, self.waited = int(found["round"]), int(found["waited"]) / 1000
                self._take(found["question"], _option(response))

    def _take(self, question_id: str, option_id: str | None) -> None:
        if option_id is None:
            self._left_open = question_id
        else:
            self.brought = Chosen(question_id, option_id)

    async def ask(self, question: Question) -> str | None:
        """Leave it to the reply, unless the person has declined, or was asked often enough."""
        if question.id != self._left_open and self._round < MOST_ROUNDS:
            waited = self.waited + time.monotonic() - self._began_at
            key = f"{self._round + 1}.{math.ceil(waited * 1000)}.{question.id}"
            asked = ElicitRequest(params=form_of(question))
            self.required = InputRequiredResult(input_requests={key: asked})
        return None


ClientAsking = AskingDuringCall | AskingBetweenCalls


def asking_at(context: MiddlewareContext[Any]) -> ClientAsking | None:
    """Return how the person at the caller is asked; `None` when its client cannot."""
    fastmcp_context = context.fastmcp_context
    request = fastmcp_context.request_context if fastmcp_context else None
    if fastmcp_context is None or request is None:
        return None
    if not _shows_forms(request.session.client_capabilities):
        return None
    if request.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return AskingBetweenCalls(fastmcp_context.input_responses or {})
    return AskingDuringCall(request.session, request.request_id)


def form_of(question: Question) -> ElicitRequestFormParams:
    """Return a question as a form of one field, the agent's answers in its own order."""
    choice = {
        "type": "string",
        "title": "Answer",
        "enum": [option.id for option in question.options],
        "enumNames": [_plain(option.name) for option in question.options],
    }
    return ElicitRequestFormParams(
        message=_message(question),
        requested_schema={"type": "object", "properties": {FIELD: choice}, "required": [FIELD]},
    )


def _message(question: Question) -> str:
    lines = [f"Agent {question.agent_name!r} asks: {_plain(question.title)}"]
    lines += [f"- {_plain(path)}" for path in question.paths[:MOST_PATHS]]
    if (more := len(question.paths) - MOST_PATHS) > 0:
        lines.append(f"- and {more} more")
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Return an agent's words as one line: it must not write into what a person trusts."""
    return "".join(character if character.isprintable() else " " for character in text)


def _option(result: ElicitResult) -> str | None:
    """Return the chosen option; a form that was sent without one has chosen none there is."""
    return str((result.content or {}).get(FIELD, "")) if result.action == "accept" else None


def _shows_forms(capabilities: ClientCapabilities | None) -> bool:
    able = capabilities.elicitation if capabilities else None
    # Before there were two modes, a client that named none meant forms.
    return able is not None and (able.form is not None or able.url is None)
