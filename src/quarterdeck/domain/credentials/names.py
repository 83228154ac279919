"""Which names say that what they name is a credential."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product


def word_set(text: str) -> frozenset[str]:
    """Return the words of `text`; a long list of words reads better without its quotes."""
    return frozenset(text.split())


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LONGEST_NAME = 100

_CREDENTIAL_WORDS = word_set("bearer cookie cookies creds dsn jwt pwd secret secrets")

# Such tokens are handed out freely: places in a listing, pieces of a model's text.
_INNOCENT_TOKENS = word_set(
    "audio bos cancel cancellation cls continuation cursor design each end eos every first image"
    " last mask next pad page per prev previous progress sep special start stop unk"
)
_TOKEN_KINDS = word_set("access api auth bearer bot coder github gitlab id oauth refresh session")
_KEY_KINDS = word_set(
    "access account admin api auth decryption deploy encryption hmac license master private"
    " secret shared signing ssh subscription webhook"
)
_PASS_OWNERS = word_set(
    "admin auth database db email ftp http login mail mongo mysql pg postgres proxy redis root"
    " smtp ssh user"
)

# Written as one word or as several: apikey, api_key, x-api-key, ApiKey.
_COMPOUNDS = (
    *("password", "passwords", "passwd", "passphrase", "passcode", "credential", "credentials"),
    *("authorization", "connectionstring", "connectionstr", "connstring", "connstr"),
    *(kind + token for kind, token in product(_TOKEN_KINDS, ("token", "tokens"))),
    *(kind + key for kind, key in product(_KEY_KINDS, ("key", "keys"))),
    *(owner + "pass" for owner in _PASS_OWNERS),
)

# Words that may follow without changing what is named: password_hash, GITHUB_TOKEN_PROD.
_TRAILING = word_set(
    "b backup base current data dev encrypted hash hashed header hex new old plain plaintext"
    " previous prod production raw staging string text value"
)


def names_credential(name: str) -> bool:
    """Say whether `name` names a credential, in snake, kebab, camel, Pascal or upper case.

    The last words decide, as English builds compounds: a session token is a token, a token
    count is a count.
    """
    return _names_credential(name[-_LONGEST_NAME:])


@lru_cache(maxsize=4096)  # the same few member names come with every call
def _names_credential(name: str) -> bool:
    words = [word.lower() for word in _WORD.findall(name)]
    while words:
        if _say_credential(words):
            return True
        if words[-1] not in _TRAILING and not words[-1].isdigit():
            return False
        words.pop()
    return False


def _say_credential(words: list[str]) -> bool:
    last = words[-1]
    if last == "token":
        return _INNOCENT_TOKENS.isdisjoint(words[-2:-1])
    return last in _CREDENTIAL_WORDS or "".join(words[-3:]).endswith(_COMPOUNDS)


def lowered(text: str) -> str:
    """Return `text` in lower case, every character in its old place."""
    # The one character whose lower case is two characters.
    return text.replace("\u0130", "i").lower()


@dataclass(frozen=True, slots=True)
class Hint:
    """A piece of lower-case text without which no text names a credential.

    `literal` is looked for first because that costs least; `pattern` begins with it and says
    more. A name of several words may begin `reach` characters before the pattern.
    """

    literal: str
    pattern: str
    reach: int = 0


def _behind(words: Iterable[str], literal: str) -> str:
    """Return a check, right behind `literal`, that one of `words` stands before it."""
    gaps = ("", "[ _.-]")
    return "|".join(f"(?<={word}{gap}{literal})" for word, gap in product(sorted(words), gaps))


_SIMPLE_HINTS = word_set("authoriz bearer cookie credential creds dsn jwt pwd secret")
HINTS = (
    Hint("pass", f"pass(?:[ _.-]?(?:w|phrase|code)|{_behind(_PASS_OWNERS, 'pass')})", reach=9),
    # Not "tokens" and "tokenizer", which every report of a model's usage has.
    Hint("token", f"token(?:(?!i|s(?!ta|tr))|s(?:{_behind(_TOKEN_KINDS, 'tokens')}))"),
    Hint("key", f"key(?:{_behind(_KEY_KINDS, 'key')})", reach=13),
    Hint("conn", "conn(?:ection)?[ _.-]?str"),
    *(Hint(word, word) for word in sorted(_SIMPLE_HINTS)),
)
