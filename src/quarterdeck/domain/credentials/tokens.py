"""Tokens that say by their prefix who issued them."""

import re
from dataclasses import dataclass

from quarterdeck.domain.credentials.form import ALNUM, REDACTED, WIDE, Form, begins_word


@dataclass(frozen=True, slots=True)
class _Issuer:
    """Prefixes of one length, and what follows them.

    A body has no upper limit: the rest of a token is as secret as its beginning. A prefix
    that also ends ordinary words (`task-...`) has to begin one.
    """

    prefixes: str
    body: str
    begins_word: bool = False

    @property
    def width(self) -> int:
        return len(self.prefixes.split()[0])

    @property
    def after_prefix(self) -> str:
        prefixes = "|".join(map(re.escape, self.prefixes.split()))
        check = begins_word(f"(?:{prefixes})") if self.begins_word else ""
        return f"(?<={prefixes}){check}({self.body})"


_ISSUERS = (
    _Issuer("gho_ ghp_ ghr_ ghs_ ghu_", f"{ALNUM}{{20,}}"),
    _Issuer("github_pat_", "[A-Za-z0-9_]{20,}"),
    _Issuer("glpat-", f"{WIDE}{{18,}}"),
    _Issuer("gldt- glrt-", f"{WIDE}{{18,}}"),
    _Issuer("xapp- xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs-", f"{WIDE}{{10,}}"),
    _Issuer("rk_live_ rk_test_ sk_live_ sk_test_", f"{ALNUM}{{10,}}"),
    _Issuer("whsec_", "[A-Za-z0-9+/=]{20,}"),
    _Issuer("pypi-", f"AgEI{WIDE}{{16,}}"),
    _Issuer("doo_v1_ dop_v1_ dor_v1_", "[a-f0-9]{32,}"),
    _Issuer("dckr_pat_", f"{WIDE}{{20,}}"),
    _Issuer("AGE-SECRET-KEY-", "1[A-Z0-9]{40,}"),
    # Hyphenated words look alike (`sk-toggleable__label-arrow`), but have neither a digit nor
    # a long unbroken part.
    _Issuer(
        "sk-",
        rf"(?={WIDE}{{0,64}}[0-9]|(?:[a-z]{{2,8}}-){{0,2}}{ALNUM}{{20}}){WIDE}{{16,}}",
        begins_word=True,
    ),
    _Issuer("npm_", f"{ALNUM}{{30,}}", begins_word=True),
    _Issuer("hf_", f"{ALNUM}{{30,}}", begins_word=True),
    _Issuer("qd_", f"{WIDE}{{32,}}", begins_word=True),
    # Ours, so also where a word runs into one; a long identifier has no capitals.
    _Issuer("qd_", rf"(?=[a-z0-9_-]{{0,42}}[A-Z]){WIDE}{{43,}}"),
    _Issuer("SG.", rf"{WIDE}{{16,}}\.{WIDE}{{16,}}", begins_word=True),
    _Issuer("hvs.", f"{WIDE}{{20,}}", begins_word=True),
    _Issuer("ya29.", f"{WIDE}{{20,}}", begins_word=True),
)


@dataclass(frozen=True, slots=True)
class _Tokens(Form):
    """The tokens whose prefix ends in one sign, found by that sign.

    A sign is rarer than a letter, and one search for it serves all issuers. Each of them has
    a group in the pattern; `widths` says how far before the sign's end its prefix begins.
    """

    widths: tuple[int, ...] = ()

    def hide(self, text: str) -> str:
        pieces: list[str] = []
        done = 0
        for match in self.pattern.finditer(text):
            width = self.widths[(match.lastindex or 1) - 1]
            pieces += (text[done : match.start() + len(self.hint) - width], REDACTED)
            done = match.end()
        return "".join((*pieces, text[done:]))


def _ending_in(sign: str) -> _Tokens:
    issuers = [issuer for issuer in _ISSUERS if issuer.prefixes.endswith(sign)]
    choices = "|".join(issuer.after_prefix for issuer in issuers)
    pattern = re.compile(f"{re.escape(sign)}(?:{choices})")
    return _Tokens(sign, pattern, widths=tuple(issuer.width for issuer in issuers))


def _coder_sessions() -> _Tokens:
    # Ten characters of id take the place of a prefix.
    before = f"{ALNUM}{{10}}-"
    check = f"(?<={before}){begins_word(before)}"
    return _Tokens("-", re.compile(f"-{check}({ALNUM}{{22}})(?!{ALNUM})"), widths=(11,))


TOKENS = (*map(_ending_in, "_-."), _coder_sessions())
