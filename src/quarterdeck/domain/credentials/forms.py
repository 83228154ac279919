"""Credentials that are recognised by their own form, wherever in a text they stand."""

import base64
import re

from quarterdeck.domain.credentials.form import (
    REDACTED,
    WIDE,
    Form,
    begins_word,
    is_ordinary_word,
)
from quarterdeck.domain.credentials.tokens import TOKENS

# In text that is itself escaped, a blank has several spellings.
_BLANK = r"(?:\s|\\++[nrt]|%20)"

_PRIVATE_KEY = re.compile(
    # A block without its end was cut off; all that follows may belong to it.
    r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY"
    r".*?(?:-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|\Z)",
    re.DOTALL,
)
_USERINFO = re.compile(
    # A password may hold an "@" or a "/" that ought to have been encoded; digits up to a "/"
    # are a port. The next "://" ends every scan.
    r"(:\\?/\\?/[^\s/?#@:\"'<>\\\[]*:)(?![0-9]{1,5}(?:[/?#\\\s\"']|\Z))"
    r"(?:[^\s/:\"'<>]|/(?!/)|:(?!\\?/)){1,1024}@"
)
# An encoded JSON object, then two more parts (JWT) or four (JWE).
_WEB_TOKEN = re.compile(rf"eyJ{begins_word('eyJ', WIDE)}{WIDE}{{8,}}+(?:\.{WIDE}*+){{2,4}}")
_CLOUD_KEY = re.compile(
    rf"A(?:[KS]IA{begins_word('A[KS]IA')}[A-Z0-9]{{16,}}|Iza{begins_word('AIza')}{WIDE}{{30,}})"
)
_BEARER = re.compile(rf"((?:[Bb]earer|BEARER){_BLANK}+)([A-Za-z0-9._~+/=-]{{6,}})")
_BASIC = re.compile(rf"((?:[Bb]asic|BASIC){_BLANK}+)([A-Za-z0-9+/_-]{{6,}}={{0,2}})")
_SLACK_HOOK = re.compile(r"(hooks\.slack\.com/services/)[A-Za-z0-9/]{20,}")
# The signature in a signed URL opens what the URL names.
_SIGNED_URL = r"([?&](?:[Xx]-[A-Za-z]{3,4}-)?[Ss]ig(?:nature)?=)[A-Za-z0-9%+/=_-]{10,}"


def _hide_bearer(match: re.Match[str]) -> str:
    return match[0] if is_ordinary_word(match[2]) else match[1] + REDACTED


def _hide_basic(match: re.Match[str]) -> str:
    return match[1] + REDACTED if _is_user_and_password(match[2]) else match[0]


def _is_user_and_password(encoded: str) -> bool:
    bare = encoded.rstrip("=")
    try:
        decoded = base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4)).decode()
    except ValueError:
        return False
    return ":" in decoded and decoded.isprintable()


FORMS = (
    Form("private key", _PRIVATE_KEY),
    Form("@", _USERINFO, rf"\1{REDACTED}@"),
    *TOKENS,
    Form("eyj", _WEB_TOKEN),
    Form("a", _CLOUD_KEY),
    Form("bearer", _BEARER, _hide_bearer),
    Form("basic", _BASIC, _hide_basic),
    Form("hooks.slack", _SLACK_HOOK, rf"\1{REDACTED}"),
    Form("sig=", re.compile(_SIGNED_URL), rf"\1{REDACTED}"),
    Form("signature=", re.compile(_SIGNED_URL), rf"\1{REDACTED}"),
)
