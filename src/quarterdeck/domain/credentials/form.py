"""What the parts of this package share: how one kind of credential is described and replaced."""

import re
from collections.abc import Callable
from dataclasses import dataclass

REDACTED = "[redacted]"

ALNUM = "[A-Za-z0-9]"
WIDE = "[A-Za-z0-9_-]"

_ORDINARY_WORD = re.compile(r"[A-Za-z]?[a-z]{0,14}[.,:;!?]?")


@dataclass(frozen=True, slots=True)
class Form:
    """What one kind of credential looks like; `hint` is lower-case text in every match.

    Every text of every call is searched for all forms. So a pattern begins with a literal,
    to which a search can leap, and looks back from it at what has to stand before; and it
    never fails after a scan that its next attempt repeats, so that no text takes long.
    """

    hint: str
    pattern: re.Pattern[str]
    replacement: str | Callable[[re.Match[str]], str] = REDACTED

    def occurs_in(self, text: str, lower: str) -> bool:
        """Say whether `text`, in lower case `lower`, may hold such a credential."""
        return self.hint in lower and self.pattern.search(text) is not None

    def hide(self, text: str) -> str:
        """Replace every such credential in `text`."""
        return self.pattern.sub(self.replacement, text)


def begins_word(matched: str, not_after: str = ALNUM) -> str:
    r"""Return a check, to stand right behind `matched`, that a word begins with it.

    A letter in front may be the end of an escape: `\n`, `\u001b`, `%3D`, a terminal's colour.
    """
    escapes = (r"\\[bfnrt]", r"\\u[0-9A-Fa-f]{4}", "%[0-9A-Fa-f]{2}", r"[\[;]\dm", r"[\[;]\d\dm")
    after_escape = "|".join(f"(?<={escape}{matched})" for escape in escapes)
    return f"(?:(?<!{not_after}{matched})|{after_escape})"


def is_ordinary_word(text: str) -> bool:
    """Say whether `text` reads like a word of prose rather than like something generated."""
    return _ORDINARY_WORD.fullmatch(text) is not None
