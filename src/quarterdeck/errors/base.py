"""The roots of the tree, and what their words have in common."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import ClassVar, cast

SHORTEST_BEGINNING = 3


class QuarterdeckError(Exception):
    """Base of the tree; never raised itself."""

    code: ClassVar[str] = "INTERNAL_ERROR"
    category: ClassVar[str] = "INTERNAL_ERROR"
    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500

    def __init__(
        self,
        message: str,
        *,
        details: Mapping[str, object] | None = None,
        hint: str | None = None,
    ) -> None:
        """Keep the one-sentence message, the facts, and what to do next."""
        super().__init__(message)
        self.message = message
        self.details: dict[str, object] = dict(details or {})
        self.hint = hint

    def body(self) -> dict[str, object]:
        """Return the wire form shared by every surface that speaks JSON."""
        details = dict(self.details)
        if self.code != self.category:
            details["category"] = self.category
        if self.hint:
            details["hint"] = self.hint
        error = {"code": self.code, "message": self.message, "details": details}
        return {"success": False, "error": error}


class InvalidInput(QuarterdeckError):
    """The request cannot be carried out as written; sending it again will not help."""

    code = category = "INVALID_INPUT"
    exit_code = 2
    http_status = 400

    @classmethod
    def field(cls, name: str, problem: str, *, hint: str | None = None) -> "InvalidInput":
        """Refuse one argument, naming it."""
        return cls.fields([(name, problem)], hint=hint)

    @classmethod
    def fields(
        cls, problems: Sequence[tuple[str, str]], *, hint: str | None = None
    ) -> "InvalidInput":
        """Refuse several arguments at once, so that one round trip shows all of them."""
        first_name, first_problem = problems[0]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        return cls(
            f"{first_name!r} {first_problem}{more}",
            details={"fields": [{"field": name, "problem": text} for name, text in problems]},
            hint=hint,
        )


class NotFound(QuarterdeckError):
    """A named thing is not there."""

    code = category = "NOT_FOUND"
    exit_code = 3
    http_status = 404


class Conflict(QuarterdeckError):
    """The request is sound but does not fit the present state."""

    code = category = "CONFLICT"
    exit_code = 4
    http_status = 409


class Denied(QuarterdeckError):
    """A rule refused the request; `details["rule"]` names it."""

    code = category = "DENIED"
    exit_code = 5
    http_status = 403


class Unavailable(QuarterdeckError):
    """A part we depend on does not answer; trying again later may help."""

    code = category = "SERVICE_UNAVAILABLE"
    exit_code = 6
    http_status = 503


class TimedOut(QuarterdeckError):
    """The deadline passed before the work was done."""

    code = category = "TIMEOUT"
    exit_code = 7
    http_status = 504


class InternalError(QuarterdeckError):
    """A bug of ours or a broken answer from a backend; the log has the traceback."""

    code = category = "INTERNAL_ERROR"

    def __init__(self, reference: str | None = None) -> None:
        super().__init__(
            "Quarterdeck failed to carry out the request",
            details={"reference": reference} if reference else {},
            hint="the server's log has the details under this reference" if reference else None,
        )


def closest_name(name: str, known: Sequence[str]) -> str | None:
    """Return the known name that `name` was probably meant to be."""
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    # A beginning is far from the whole by its letters, and still what was meant.
    longer = [word for word in known if len(name) >= SHORTEST_BEGINNING and word.startswith(name)]
    return next(iter([*close, *longer]), None)


def error_from(body: Mapping[str, object]) -> QuarterdeckError:
    """Return an error that another process of ours put on the wire, as a surface shows it."""
    details = cast("Mapping[str, object]", body.get("details") or {})
    facts = dict(details)
    hint = facts.pop("hint", None)
    category = facts.pop("category", body.get("code"))
    kinds = (InvalidInput, NotFound, Conflict, Denied, Unavailable, TimedOut)
    kind = next((kind for kind in kinds if kind.code == category), QuarterdeckError)
    return kind(
        str(body.get("message")), details=facts, hint=hint if isinstance(hint, str) else None
    )
