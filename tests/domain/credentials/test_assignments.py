import pytest

from quarterdeck.domain.redaction import REDACTED, Redactor

redact = Redactor().text

# *** stands for the replacement.
HIDDEN = [
    ("password=hunter22", "password=***"),
    ("password=abc", "password=***"),
    ("password = hunter22", "password = ***"),
    ("PASSWORD=swordfish", "PASSWORD=***"),
    ("password: swordfish", "password: ***"),
    ("user: ada\npassword: swordfish\nhost: db", "user: ada\npassword: ***\nhost: db"),
    ("token: abc123def", "token: ***"),
    ("token: abc123def, next", "token: ***, next"),
    ('"token": 12345, "x": 1', '"token": ***, "x": 1'),
    ("api_key => 'abc'", "api_key => '***'"),
    ("secret := abcdef", "secret := ***"),
    ("--token abc", "--token ***"),
    ("run --api-key=abc --verbose", "run --api-key=*** --verbose"),
    ("run --token 'a b c' now", "run --token '***' now"),
    ("['--token', 'abc']", "['--token', '***']"),
    ('export API_KEY="a b c"', 'export API_KEY="***"'),
    ("GITHUB_TOKEN=abc GITHUB_USER=ada", "GITHUB_TOKEN=*** GITHUB_USER=ada"),
    ("/login?user=ada&access_token=abc&x=1", "/login?user=ada&access_token=***&x=1"),
    ("Server=db;Password=a;b&c,d;Database=x", "Server=db;Password=***;Database=x"),
    ("connect(user='ada', password='abc')", "connect(user='ada', password='***')"),
    ("connect(password=abc)", "connect(password=***)"),
    ("secret=b'abc'", "secret=b'***'"),
    ('os.environ["API_KEY"] = "abc"', 'os.environ["API_KEY"] = "***"'),
    ("{'password': 'abc', 'user': 'ada'}", "{'password': '***', 'user': 'ada'}"),
    ('{"a": {"token": "abc"}} trailing', '{"a": {"token": "***"}} trailing'),
    ('\\"password\\": \\"a\\\\\\"b\\", \\"x\\": 1', '\\"password\\": \\"***\\", \\"x\\": 1'),
    ("line\\ntoken=abc\\nline", "line\\ntoken=***\\nline"),
    ("credentials: {a: {b: 1}, c: [2]} end", "credentials: *** end"),
    ("secrets=[abc, def", "secrets=***"),
    ('password="never closed', 'password="***'),
    ("my API key: 12345678", "my API key: ***"),
    ("connection string: Server=db", "connection string: ***"),
    ("aws_secret_access_key   " + "a/B+" * 10, "aws_secret_access_key   ***"),
    ("CREATE USER ada WITH PASSWORD 'a b'", "CREATE USER ada WITH PASSWORD '***'"),
    ("<password>a b</password>", "<password>***</password>"),
    ("Authorization: Bearer abc def\nHost: x", "Authorization: ***\nHost: x"),
    ("Authorization: abc\\nHost: x", "Authorization: ***\\nHost: x"),
    ("Cookie: a=b; c=d\r\nHost: x", "Cookie: ***\r\nHost: x"),
    ('Cookie: "a"; c=d', "Cookie: ***"),
    ('{"Cookie": "a; b", "x": 1} end', '{"Cookie": "***", "x": 1} end'),
    ("Set-Cookie: sid=abc; Path=/", "Set-Cookie: ***"),
    ("curl -H 'Cookie: a=b' -H 'Host: x'", "curl -H 'Cookie: ***' -H 'Host: x'"),
    ('curl -H "X-Api-Key: abc123def" url', 'curl -H "X-Api-Key: ***" url'),
    ("passphrase: correct horse battery", "passphrase: ***"),
    ("auth_token: Bearer abc", "auth_token: ***"),
    ("the page. Token: abc123def", "the page. Token: ***"),
    ("\u0130\u0130 password=hunter22 \u0130", "\u0130\u0130 password=*** \u0130"),
]

UNCHANGED = [
    "the token is invalid",
    "the password you gave is wrong",
    "Invalid token: malformed",
    "password: required",
    "password=required",
    "token: null, secret: None",
    '"has_token": true',
    "token: expected a string",
    "the token: please ask for one",
    "error in token: something",
    "argument 'token': allowed are letters",
    "Password: must have 8 characters",
    "use the --token flag or --password",
    "max_tokens=4096 total_tokens: 123456",
    "token_count: 1234567",
    "public_key: abcdef123456",
    "key=abcdef123456 keyboard=qwertz123",
    "author: Ada Lovelace, authority=example.com:8443",
    "Token::Kind and secret::Value123",
    "secrets: []",
    "password: ''",
    "a tokenizer: sentencepiece-v2",
    "next_page_token=abcdef123456",
    "the secret 'github' was not found",
    "nothing here",
    "",
]


@pytest.mark.parametrize(("text", "expected"), HIDDEN)
def test_only_the_value_given_to_a_credential_is_hidden(text: str, expected: str) -> None:
    assert redact(text) == expected.replace("***", REDACTED)


@pytest.mark.parametrize("text", UNCHANGED)
def test_prose_and_innocent_assignments_stay(text: str) -> None:
    assert redact(text) == text
