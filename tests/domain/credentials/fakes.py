"""Credentials that open nothing, put together so that no scanner takes them for real ones."""

import base64


def _encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _block(kind: str, body: str) -> str:
    return f"-----BEGIN {kind}-----{body}-----END {kind}-----"


KEY_LINES = "\n" + "\n".join("Q" * 64 for _ in range(4)) + "\n"
WEB_TOKEN = ".".join((_encoded('{"alg":"none"}'), _encoded('{"sub":"nobody"}'), "s" * 43))
CODER_SESSION = "a1" * 5 + "-" + "B2" * 11

# Recognised by their own form.
BY_FORM = {
    "OpenAI": "sk-" + "a1B2" * 12,
    "OpenAI project": "sk-proj-" + "a1_-" * 12,
    "Anthropic": "sk-ant-api03-" + "x" * 40,
    "letters only": "sk-" + "a" * 48,
    **{f"GitHub {kind}": f"gh{kind}_" + "a" * 36 for kind in "pousr"},
    "GitHub fine-grained": "github_pat_" + "a" * 22 + "_" + "b" * 59,
    "GitLab": "glpat-" + "a" * 20,
    "GitLab runner": "glrt-" + "a" * 20,
    "Slack bot": "xoxb-" + "1" * 12 + "-" + "a" * 24,
    "Slack user": "xoxp-" + "1" * 12,
    "Slack app": "xapp-" + "1-A-" + "a" * 32,
    "AWS key id": "AKIA" + "A1" * 8,
    "AWS temporary key id": "ASIA" + "A1" * 8,
    "Google": "AIza" + "a_-B2" * 7,
    "Google OAuth": "ya29." + "a" * 40,
    "Stripe": "sk_live_" + "a" * 24,
    "Stripe restricted": "rk_live_" + "a" * 24,
    "npm": "npm_" + "a" * 36,
    "PyPI": "pypi-" + "AgEI" + "a" * 60,
    "Hugging Face": "hf_" + "a" * 34,
    "SendGrid": "SG." + "a" * 22 + "." + "b" * 43,
    "DigitalOcean": "dop_v1_" + "a0" * 32,
    "Docker": "dckr_pat_" + "a" * 27,
    "Vault": "hvs." + "a" * 24,
    "age": "AGE-SECRET-KEY-1" + "Q" * 58,
    "Coder": CODER_SESSION,
    "JWT": WEB_TOKEN,
    "JWE": ".".join((_encoded('{"alg":"dir"}'), "", "i" * 16, "c" * 32, "t" * 22)),
    "Quarterdeck": "qd_" + "a-_Z" * 8,
    "private key": _block("PRIVATE KEY", KEY_LINES),
    "RSA key": _block("RSA PRIVATE KEY", KEY_LINES),
    "PGP key": _block("PGP PRIVATE KEY BLOCK", KEY_LINES),
    "escaped key": _block("EC PRIVATE KEY", KEY_LINES.replace("\n", "\\n")),
}

BASIC = base64.b64encode(b"nobody:nothing").decode()
PASSWORD = "correct-Horse7"  # a password without any form of its own
