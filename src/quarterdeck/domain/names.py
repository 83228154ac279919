"""Text that names things: what both databases can store and every client can read back."""

from quarterdeck.domain.json import has_lone_surrogate
from quarterdeck.errors import InvalidInput


def checked_name(field: str, text: str, *, longest: int, shortest: int = 1) -> str:
    """Return `text` if both databases can store it and clients can read it back."""
    if not shortest <= len(text) <= longest:
        raise InvalidInput.field(field, f"must have {shortest} to {longest} characters")
    if "\x00" in text:
        raise InvalidInput.field(field, "must not contain a NUL character")
    if has_lone_surrogate(text):
        raise InvalidInput.field(field, "must be valid Unicode text (it has a lone surrogate)")
    return text
