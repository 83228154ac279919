"""Keeps credentials out of everything that is written down: traces, logs, error texts."""

import json
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

from quarterdeck.domain.credentials.form import REDACTED
from quarterdeck.domain.credentials.forms import FORMS
from quarterdeck.domain.credentials.names import HINTS, lowered
from quarterdeck.domain.credentials.sweep import Sweep
from quarterdeck.domain.json import JsonValue, dump, has_lone_surrogate

__all__ = ["REDACTED", "Redactor"]

_SHORTEST_SECRET = 6
_HINTS = tuple((hint.literal, re.compile(hint.pattern)) for hint in HINTS)
# Escapes that JSON allows and `dump` never writes; letters may hide in them.
_HIDING_ESCAPE = re.compile(r"\\(?:u00[2-7]|/)")
_URL_ESCAPE = re.compile("%[0-9A-F]{2}")
_ANY_ESCAPE = re.compile(r"\\[u/]")


class Redactor:
    """Replaces what is a credential, or looks like one, by `[redacted]`.

    `secrets` are this installation's own. They are hidden wherever they stand, also in longer
    strings and in their JSON and URL spellings; those under six characters are left alone,
    because hiding them would take ordinary text away.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """Take the literal secrets; the rest is recognised by name or form."""
        spellings = {form for secret in secrets for form in _spellings(secret.strip())}
        # The longest first, so that no secret is cut apart by one that it contains.
        literals = tuple(sorted(spellings, key=lambda form: (-len(form), form)))
        self._everything = Sweep(literals, FORMS, tuple(literal for literal, _ in _HINTS))
        is_ascii = all(literal.isascii() for literal in literals)
        self._hiding_escape = _HIDING_ESCAPE if is_ascii else _ANY_ESCAPE

    def text(self, text: str) -> str:
        """Return a log line or an error message without its credentials."""
        return self._everything.text(text)

    def tree(self, value: JsonValue) -> JsonValue:
        """Return `value` without its credentials: a copy, or `value` itself if it has none."""
        return self._everything.tree(value)

    def json(self, document: str) -> str:
        """Return a JSON document without its credentials.

        Most documents have none, and are only searched for what could be part of one. One
        that cannot be parsed, or is nested too deeply to be, is replaced as a whole.
        """
        sweep = self._needed_for(document)
        if sweep is None:
            return document
        try:
            # Written anew even if nothing changed: the text could hold what parsing drops,
            # such as the first of two members of one name.
            return _writable(sweep.tree(json.loads(document)))
        except (ValueError, RecursionError):
            return dump(REDACTED)

    def _needed_for(self, document: str) -> Sweep | None:
        """Return a sweep for what `document` could hold, judged by its raw text."""
        everything = self._everything
        has_literal = any(literal in document for literal in everything.literals)
        if has_literal or self._hiding_escape.search(document):
            return everything
        lower = lowered(document)
        forms = tuple(form for form in FORMS if form.occurs_in(document, lower))
        hints = tuple(hint for hint, pattern in _HINTS if hint in lower and pattern.search(lower))
        return Sweep((), forms, hints) if forms or hints else None


def _spellings(secret: str) -> set[str]:
    # A secret inside the replacement would be hidden again and again.
    if len(secret) < _SHORTEST_SECRET or secret in REDACTED:
        return set()
    in_json = {dump(secret)[1:-1], json.dumps(secret)[1:-1]}
    encodable = secret.encode(errors="replace").decode()
    in_url = {quote(encodable), quote(encodable, safe=""), quote_plus(encodable)}
    with_small_digits = {_URL_ESCAPE.sub(lambda escape: escape[0].lower(), form) for form in in_url}
    return {secret} | in_json | in_url | with_small_digits


def _writable(value: JsonValue) -> str:
    document = dump(value)
    return json.dumps(value, separators=(",", ":")) if has_lone_surrogate(document) else document
