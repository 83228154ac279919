import pytest

from quarterdeck.daemon.key import new_secret
from quarterdeck.domain.redaction import REDACTED, Redactor
from tests.domain.credentials.fakes import (
    BASIC,
    BY_FORM,
    CODER_SESSION,
    KEY_LINES,
    PASSWORD,
    WEB_TOKEN,
)

redact = Redactor().text

SURROUNDINGS = [
    "{}",
    "see {} there",
    "({})",
    '"{}"',
    "line\n{}\nline",
    "a,{},b",
    "x={}&y=1",
    # Text that was escaped or coloured before it was logged.
    "line\\n{}\\nline",
    "q%3D{}%26",
    "\x1b[31m{}\x1b[0m",
    "\x1b[1;32m{}\x1b[0m",
]

# Each would be hidden by a pattern that looks less closely.
INNOCENT = {
    "git commit": "9fceb02d0ae598e95dc970b74767f19372d61af8",
    "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "UUID": "550e8400-e29b-41d4-a716-446655440000",
    "trace parent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "image": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    "time": "2026-11-15T08:32:11.123456Z",
    "task name": "task-abcdefghijklmnopqrstuvwxyz0123456789",
    "style class": "sk-toggleable__label-arrow",
    "short sk": "sk-learn",
    "npm variable": "npm_config_registry",
    "snake": "abqd_" + "long_identifier_" * 3,
    "near Coder": "abcdefghij-" + "b" * 23,
    "public key": "-----BEGIN PUBLIC KEY-----" + KEY_LINES + "-----END PUBLIC KEY-----",
    "bearer prose": "the bearer token is invalid; Bearer authentication is required",
    "basic prose": "Basic functionality, basic JavaScript, Basic authentication",
    "port": "http://localhost:8080/@vite/client and https://example.com:443/a@b",
    "user only": "ssh://git@example.com:2222/repo.git, mail ada@example.com",
    "scoped package": "https://example.com/@scope/package@1.2.3",
    "IPv6": "http://[::1]:8080/users/@me",
    "file name": "eyJ.txt is not a token.at.all",
    "signature": "the sig= of a call; def f(signature=None)",
    "region": "ASIA and AKIA are words",
}


@pytest.mark.parametrize("surrounding", SURROUNDINGS)
@pytest.mark.parametrize("credential", BY_FORM.values(), ids=BY_FORM.keys())
def test_a_credential_is_hidden_by_its_form(credential: str, surrounding: str) -> None:
    assert redact(surrounding.format(credential)) == surrounding.format(REDACTED)


@pytest.mark.parametrize("text", INNOCENT.values(), ids=INNOCENT.keys())
def test_what_only_resembles_a_credential_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    "prefix", ["ghp_", "github_pat_", "glpat-", "xoxb-", "sk_live_", "dckr_pat_"]
)
def test_an_unmistakable_prefix_needs_no_beginning_of_a_word(prefix: str) -> None:
    assert redact("glued" + prefix + "a" * 40) == "glued" + REDACTED


def test_a_token_of_ours_is_hidden_wherever_it_stands() -> None:
    for _ in range(100):
        secret = new_secret()
        for before, after in (("", ""), ("glued", ""), ("Bearer ", " x"), ("/control/", "?a=1")):
            assert secret not in redact(before + secret + after)
            assert secret.removeprefix("qd_") not in redact(before + secret + after)


def test_two_tokens_in_a_row_are_both_hidden() -> None:
    tokens = ["ghp_" + "a" * 36, "npm_" + "b" * 36, "qd_" + "c" * 32, CODER_SESSION]
    assert redact(" ".join(tokens)) == " ".join([REDACTED] * 4)


@pytest.mark.parametrize("cut", [30, 60, 200])
def test_a_private_key_that_was_cut_off_is_hidden_to_the_end(cut: int) -> None:
    text = "log: " + BY_FORM["RSA key"][: len("-----BEGIN RSA PRIVATE KEY-----") + cut]
    assert redact(text) == "log: " + REDACTED


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"postgresql://ada:{PASSWORD}@db/x", "postgresql://ada:[redacted]@db/x"),
        (f"redis://:{PASSWORD}@cache:6379/0", "redis://:[redacted]@cache:6379/0"),
        (f"https://ada:{WEB_TOKEN}@host/x", "https://ada:[redacted]@host/x"),
        ("amqp://ada:p@ss/w:rd@host", "amqp://ada:[redacted]@host"),
        ("https:\\/\\/ada:pass@host", "https:\\/\\/ada:[redacted]@host"),
        ("a://b:c@d then e://f:g@h", "a://b:[redacted]@d then e://f:[redacted]@h"),
        ("https://token:pass@host/x", "https://token:[redacted]@host/x"),
    ],
)
def test_a_url_keeps_all_but_its_password(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sent Bearer abc123def456 to", "sent Bearer [redacted] to"),
        ("bearer " + "x" * 20, "bearer [redacted]"),
        (f"sent Basic {BASIC} to", "sent Basic [redacted] to"),
        ("https://host/x?sig=" + "a%2B" * 8, "https://host/x?sig=[redacted]"),
        ("/x?a=1&X-Amz-Signature=" + "0f" * 32, "/x?a=1&X-Amz-Signature=[redacted]"),
        (
            "https://hooks.slack.com/services/" + "T0/B0/" + "a" * 24,
            "https://hooks.slack.com/services/[redacted]",
        ),
    ],
)
def test_what_introduces_a_credential_stays(text: str, expected: str) -> None:
    assert redact(text) == expected
