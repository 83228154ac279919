"""How a turn ended, as an agent's answer to a prompt says it."""

from quarterdeck.domain.tasks import StopReason, Usage
from quarterdeck.repositories.runtimes.wire_values import Wire, number_at, object_at, text_at

_REASONS = {reason.value: reason for reason in StopReason}


def stop_reason(answer: Wire, *, was_interrupted: bool, was_refused: bool) -> StopReason:
    """Return why the turn ended; only what we interrupted counts as cancelled."""
    reason = _REASONS.get(text_at(answer, "stopReason"), StopReason.OTHER)
    if reason is not StopReason.CANCELLED or was_interrupted:
        return reason
    # Codex says so too when it was refused a permission.
    return StopReason.PERMISSION_REFUSED if was_refused else StopReason.OTHER


def usage(answer: Wire) -> Usage:
    """Return what the turn used, as far as the agent says."""
    told = object_at(answer, "usage")
    if not told:
        return _quota(object_at(object_at(answer, "_meta"), "quota"))
    incoming, outgoing = number_at(told, "inputTokens") or 0, number_at(told, "outputTokens") or 0
    total = number_at(told, "totalTokens")
    return Usage(
        input_tokens=incoming,
        output_tokens=outgoing,
        total_tokens=incoming + outgoing if total is None else total,
    )


def _quota(told: Wire) -> Usage:
    # Gemini CLI says it only here.
    tokens = object_at(told, "token_count")
    incoming = number_at(tokens, "input_tokens") or 0
    outgoing = number_at(tokens, "output_tokens") or 0
    return Usage(input_tokens=incoming, output_tokens=outgoing, total_tokens=incoming + outgoing)
